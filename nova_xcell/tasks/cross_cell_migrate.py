# SPDX-License-Identifier: Apache-2.0
"""The move to another cell, with the next host if one cannot take the server.

The host's MigrationTask and ComputeTaskManager find this module where they
look for the host's of that name, see :mod:`nova_xcell.seams`.
"""

from __future__ import annotations

import copy

from oslo_log import log as logging

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
from nova.conductor.tasks import cross_cell_migrate
from nova.i18n import _

from nova_xcell import exception
from nova_xcell.compute import work
from nova_xcell.tasks import attempts
from nova_xcell.tasks import decisions
from nova_xcell.tasks import dest_allocation
from nova_xcell.tasks import dest_bindings
from nova_xcell.tasks import dest_devices
from nova_xcell.tasks import dest_host
from nova_xcell.tasks import goal
from nova_xcell.tasks import history
from nova_xcell.tasks import instance_copy
from nova_xcell.tasks import left_images
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import reconcile
from nova_xcell.tasks import refusal
from nova_xcell.tasks import remote
from nova_xcell.tasks import services
from nova_xcell.tasks import swap

LOG = logging.getLogger(__name__)

ConfirmResizeTask = decisions.ConfirmResizeTask
RevertResizeTask = decisions.RevertResizeTask


class CrossCellMigrationTask(cross_cell_migrate.CrossCellMigrationTask):
    """Tries the alternates of the selected host, and carries everything over.

    See spec cross-cell-resize, "(Super)Conductor".
    """

    def __init__(self, *args, **kwargs):
        """See the host's class; it gets a client of Neutron of ours."""
        super().__init__(*args, **kwargs)
        self.network_api = dest_bindings.BindingAPI(self.request_spec)
        self.compute_rpcapi = remote.ComputeAPI()

    def _execute(self):
        # Of an earlier move, if nobody has come to it.
        self.instance.system_metadata.pop(work.UNDOING, None)
        with decisions.driving(self.context, self.source_migration):
            try:
                super()._execute()
            except Exception as exc:
                if not self._finish_after(exc):
                    raise

    def _finish_after(self, failure: Exception) -> bool:
        """Bring the server to where it was, or on if its guest has moved.

        :param failure: what went wrong
        :returns: whether the server has moved
        """
        try:
            move = xcell_move.Move(
                self.context, self.instance.uuid, self.source_migration.uuid
            )
            wanted = move.goal()
            LOG.warning(
                'The move has failed (%s): %s.',
                attempts.reason_of(failure),
                wanted.value,
                instance=self.instance,
            )
            reconcile.carry_out(
                move,
                services.Services.connect(),
                wanted,
                # An error of a host says that it does not work on it any more.
                settled=not isinstance(failure, exception.OutcomeUnknown),
            )
        except Exception as exc:
            LOG.error(
                'The move could not be brought to an end yet: %s',
                attempts.reason_of(exc),
                instance=self.instance,
                exc_info=not isinstance(exc, exception.MoveWaits),
            )
            self._show_waiting()
            return False
        return wanted is goal.Goal.VERIFY

    def _show_waiting(self) -> None:
        """Do not show a server as it was whose guest may be anywhere.

        It keeps a task, so that a user who hard reboots it does not start a
        second guest; see :mod:`nova_xcell.tasks.task_manager`.
        """
        instance = objects.Instance.get_by_uuid(
            self.context,
            self.instance.uuid,
            expected_attrs=['system_metadata'],
        )
        if 'old_vm_state' in instance.system_metadata:
            instance.system_metadata[work.WAITS] = instance.vm_state
            instance.vm_state = vm_states.ERROR
            instance.task_state = task_states.RESIZE_MIGRATED
            instance.save()

    def rollback(self, ex):
        """Do nothing: all is undone by now (XC-11).

        The host's undoes what its sub-tasks have created, but not what the
        hosts have done, and deletes the records that are needed for that.
        """

    def _perform_external_api_checks(self):
        """Refuse what cannot be moved, before there are records (XC-26).

        :raises: nova.exception.MigrationPreCheckError
        """
        super()._perform_external_api_checks()
        self._facts = refusal.check(
            self.context,
            self.instance,
            self.flavor,
            self.host_selection,
            self.network_api,
        )

    def _setup_target_cell_db(self):
        """Create the server's records in the target cell (XC-06).

        The host's method makes its own task, and that class cannot be
        exchanged where it is looked up, see :mod:`nova_xcell.seams`. So this
        one does not call it.

        :returns: nova.objects.Migration and CellMapping of the target cell
        """
        mapping = self._get_target_cell_mapping()
        self._target_cell_context = copy.copy(self.context)
        nova_context.set_target_cell(self._target_cell_context, mapping)
        task = instance_copy.TargetDBSetupTask(
            self.context,
            self.instance,
            self.source_migration,
            self._target_cell_context,
        )
        self._target_cell_instance, migration = task.execute()
        self._completed_tasks['TargetDBSetupTask'] = task
        return migration, mapping

    def _prep_resize_at_dest(self, target_cell_migration):
        """Prepare the selected host or, if it fails, an alternate (XC-09).

        :param target_cell_migration: nova.objects.Migration of the target
            cell
        :returns: that migration, with the host that took the server
        :raises: nova.exception.MigrationPreCheckError with the reason of
            every host that was tried
        """
        tried = attempts.Attempts()
        swap.follow_flavor(
            self._target_cell_context,
            self._target_cell_instance,
            self.instance.flavor.swap,
            self.flavor.swap,
        )
        while True:
            dest = dest_host.DestHost(
                self._target_cell_context,
                self._target_cell_instance,
                self.flavor,
                target_cell_migration,
                self.host_selection,
                self.compute_rpcapi,
            )
            try:
                dest.choose(needs_plugin=self._facts.port_requests)
                dest_devices.follow_placement(
                    self._target_cell_context,
                    self._target_cell_instance,
                    self.request_spec,
                )
                migration = super()._prep_resize_at_dest(target_cell_migration)
                dest_devices.complete_contexts(
                    self.instance, self._target_cell_instance
                )
                return migration
            except Exception as exc:
                if 'PrepResizeAtDestTask' in self._completed_tasks:
                    # The host was fine; what failed came after.
                    raise
                failure = exc
            LOG.warning(
                'Host %s cannot take the server: %s',
                dest.host,
                attempts.reason_of(failure),
                instance=self.instance,
            )
            tried.failed(dest.host, failure)
            self._drop_claim(dest, failure, tried)
            if not self._still_wanted():
                raise failure
            self.host_selection = self._next_host(failure, tried)
            LOG.info(
                'Trying alternate host %s.',
                self.host_selection.service_host,
                instance=self.instance,
            )

    def _finish_resize_at_dest(
        self, target_cell_migration, target_cell_mapping, snapshot_id
    ):
        """Finish the move; the server has all of its history then (XC-17).

        The host stores the flavor of the request spec when its task has ended.
        By then the user has seen the server and may have reverted it, which
        has stored the old flavor; the new one would stay for good.

        :param target_cell_migration: nova.objects.Migration of the target
            cell
        :param target_cell_mapping: nova.objects.CellMapping of that cell
        :param snapshot_id: image that the server is spawned from, or None
        """
        self.request_spec.save()
        # So that there is nothing left to store.
        self.request_spec.obj_reset_changes(recursive=True)
        super()._finish_resize_at_dest(
            target_cell_migration, target_cell_mapping, snapshot_id
        )
        try:
            history.complete(
                self.context,
                self._target_cell_context,
                self.instance.uuid,
            )
        except Exception:
            # The server runs in its new cell. This is no reason to undo it.
            LOG.exception(
                'The history of the server in its new cell lacks the last '
                'part of the move.',
                instance=self.instance,
            )
        if snapshot_id:
            self._delete_left_image()

    def _delete_left_image(self) -> None:
        """Delete the image if the host has only logged that it could not."""
        try:
            self._target_cell_instance.refresh()
        except nova_exception.InstanceNotFound:
            # Its user has been faster.
            return
        left_images.delete(
            services.Services.connect(), self._target_cell_instance
        )

    def _still_wanted(self) -> bool:
        """Tell whether the server still waits for its move."""
        try:
            instance = objects.Instance.get_by_uuid(
                self.context, self.instance.uuid, expected_attrs=[]
            )
        except nova_exception.InstanceNotFound:
            return False
        return instance.task_state == task_states.RESIZE_PREP

    def _drop_claim(
        self,
        dest: dest_host.DestHost,
        failure: Exception,
        tried: attempts.Attempts,
    ) -> None:
        """Drop the claim that a failed host may hold.

        Its bindings and attachments are gone: the task that made them has
        rolled back.
        """
        if not dest.drop_claim(attempts.outcome_unknown(failure)):
            raise self._give_up(
                failure,
                tried,
                _(
                    'Host %s did not answer in time and may still claim '
                    'resources for the server; no further host was tried'
                )
                % dest.host,
            )

    def _next_host(
        self,
        failure: Exception,
        tried: attempts.Attempts,
    ) -> objects.Selection:
        """Claim the resources of the next alternate that has them.

        :param failure: why another host is needed
        :param tried: gets the alternates that are passed over
        :returns: its Selection
        :raises: nova.exception.MigrationPreCheckError if there is none left
        """
        selection = self.host_selection
        while True:
            self._release(selection, tried)
            if not self.alternate_hosts:
                raise self._give_up(
                    failure,
                    tried,
                    _('No host can take the server'),
                )
            selection = self.alternate_hosts.pop(0)
            reason = self._claim(selection)
            if reason is None:
                return selection
            tried.failed(selection.service_host, reason)

    def _release(
        self, selection: objects.Selection, tried: attempts.Attempts
    ) -> None:
        try:
            dest_allocation.release(
                self.context, self.instance, self.source_migration, selection
            )
        except Exception as exc:
            conclusion = _(
                'The resources of host %(host)s could not be released '
                'in placement (%(reason)s); no further host was tried'
            ) % {
                'host': selection.service_host,
                'reason': exception.shown(exc),
            }
            raise self._give_up(exc, tried, conclusion)

    def _claim(self, selection: objects.Selection) -> object | None:
        """Claim an alternate; return why that is not possible."""
        if selection.cell_uuid != self.host_selection.cell_uuid:
            return _('it is not in the cell of the selected host')
        try:
            if dest_allocation.claim(
                self.context, self.instance, self.request_spec, selection
            ):
                return None
        except Exception as exc:
            LOG.warning(
                'The resources of alternate host %s could not be claimed.',
                selection.service_host,
                instance=self.instance,
                exc_info=True,
            )
            return exc
        return _('its resources could not be claimed in placement')

    @staticmethod
    def _give_up(
        cause: Exception,
        tried: attempts.Attempts,
        conclusion: str,
    ) -> nova_exception.MigrationPreCheckError:
        error = nova_exception.MigrationPreCheckError(
            reason=tried.summary(conclusion)
        )
        error.__cause__ = cause
        return error

# SPDX-License-Identifier: Apache-2.0
"""The steps of a move on a host: tracked, and refused when they come too late.

A message can wait in its queue while the move it belongs to is given up or
finished another way. So each step is compared with the records before it
begins, and is known to :mod:`nova_xcell.compute.work` while it runs.
"""

from __future__ import annotations

import contextlib
import typing as ty

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import manager
from nova.compute import task_states
from nova.compute import vm_states

from nova_xcell import exception
from nova_xcell.compute import work

LOG = logging.getLogger(__name__)


class ComputeManager(manager.ComputeManager):
    """The host's manager, with tracked steps."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.xcell_work = work.Work()
        #: UUIDs of servers that keep their task when their step fails.
        self._xcell_keeping: set[str] = set()

    def prep_snapshot_based_resize_at_source(
        self, ctxt, instance, migration, snapshot_id=None
    ):
        """See the host's method; refused if the move has gone on without it.

        If it fails, the server has a task until the conductor has undone the
        move. A server without one can be used again, and the sync of power
        states takes a guest that is off for shut down by its user.

        :raises: :class:`~nova_xcell.exception.WorkRefused`
        """
        with (
            self._xcell_step(
                ctxt,
                migration,
                'prep_snapshot_based_resize_at_source',
                lambda: self._xcell_waits_for_source(
                    ctxt, instance, migration
                ),
            ),
            self._xcell_keeping_task(instance),
        ):
            return super().prep_snapshot_based_resize_at_source(
                ctxt, instance, migration, snapshot_id
            )

    def finish_snapshot_based_resize_at_dest(
        self, ctxt, instance, migration, snapshot_id
    ):
        """See the host's method, which checks the server's task itself."""
        with self._xcell_step(
            ctxt, migration, 'finish_snapshot_based_resize_at_dest'
        ):
            return super().finish_snapshot_based_resize_at_dest(
                ctxt, instance, migration, snapshot_id
            )

    def confirm_snapshot_based_resize_at_source(
        self, ctxt, instance, migration
    ):
        """See the host's method; refused if the server is here again.

        :raises: :class:`~nova_xcell.exception.WorkRefused`
        """
        with self._xcell_step(
            ctxt,
            migration,
            'confirm_snapshot_based_resize_at_source',
            lambda: self._xcell_is_hidden(ctxt, instance),
        ):
            return super().confirm_snapshot_based_resize_at_source(
                ctxt, instance, migration
            )

    def revert_snapshot_based_resize_at_dest(self, ctxt, instance, migration):
        """See the host's method; refused if the server lives here.

        :raises: :class:`~nova_xcell.exception.WorkRefused`
        """
        with self._xcell_step(
            ctxt,
            migration,
            'revert_snapshot_based_resize_at_dest',
            lambda: self._xcell_is_hidden(ctxt, instance),
        ):
            return super().revert_snapshot_based_resize_at_dest(
                ctxt, instance, migration
            )

    def finish_revert_snapshot_based_resize_at_source(
        self, ctxt, instance, migration
    ):
        """See the host's method, which checks the server's task itself."""
        with self._xcell_step(
            ctxt, migration, 'finish_revert_snapshot_based_resize_at_source'
        ):
            return super().finish_revert_snapshot_based_resize_at_source(
                ctxt, instance, migration
            )

    @contextlib.contextmanager
    def _xcell_keeping_task(self, instance: objects.Instance):
        if work.DRIVEN not in instance.system_metadata:
            # A conductor without the plug-ins would leave the task there if
            # it does not wait for this any more.
            yield
            return
        self._xcell_keeping.add(instance.uuid)
        try:
            yield
        finally:
            self._xcell_keeping.remove(instance.uuid)

    def _instance_update(self, context, instance, **kwargs):
        """See the host's method, which takes the task off when a step fails.

        :param context: request context
        :param instance: the server
        :param kwargs: new values by field
        """
        if (
            instance.uuid in self._xcell_keeping
            and 'task_state' in kwargs
            and kwargs['task_state'] is None
        ):
            del kwargs['task_state']
        super()._instance_update(context, instance, **kwargs)

    def _update_instance_after_spawn(
        self, instance, vm_state=vm_states.ACTIVE
    ):
        """Leave a server in ERROR whose move has failed.

        Its guest is there again, but only the user can know that all is well.
        See the host's method.

        :param instance: the server's record in this cell
        :param vm_state: what it would be otherwise
        """
        if work.KEEP_ERROR in instance.system_metadata:
            vm_state = vm_states.ERROR
        super()._update_instance_after_spawn(instance, vm_state=vm_state)

    @contextlib.contextmanager
    def _xcell_step(
        self,
        ctxt,
        migration: objects.Migration,
        operation: str,
        is_wanted: ty.Callable[[], bool] = lambda: True,
    ) -> ty.Iterator[None]:
        with self.xcell_work.doing(migration.uuid, ctxt.request_id, operation):
            if not is_wanted():
                raise exception.WorkRefused(
                    operation=operation, migration=migration.uuid
                )
            yield

    @staticmethod
    def _xcell_waits_for_source(
        ctxt, instance: objects.Instance, migration: objects.Migration
    ) -> bool:
        try:
            instance = objects.Instance.get_by_uuid(
                ctxt, instance.uuid, expected_attrs=[]
            )
            migration = objects.Migration.get_by_uuid(ctxt, migration.uuid)
        except nova_exception.NotFound:
            return False
        return (
            instance.task_state == task_states.RESIZE_MIGRATING
            and migration.status == 'pre-migrating'
        )

    @staticmethod
    def _xcell_is_hidden(ctxt, instance: objects.Instance) -> bool:
        try:
            return objects.Instance.get_by_uuid(
                ctxt, instance.uuid, expected_attrs=[]
            ).hidden
        except nova_exception.InstanceNotFound:
            return False

    def xcell_power_state(self, instance: objects.Instance) -> int | None:
        """Tell whether the hypervisor has a guest.

        :param instance: the server's record in this cell
        :returns: its power state, None if there is no guest
        """
        try:
            return self.driver.get_info(instance, use_cache=False).state
        except nova_exception.InstanceNotFound:
            return None

    def xcell_power_on(self, ctxt, instance: objects.Instance) -> None:
        """Power the guest on that a move has powered off.

        Only when the destination's port bindings are gone: the agent of
        Neutron 29 does not wire the ports otherwise, see
        :mod:`nova_xcell.tasks.dest_bindings`.

        :param ctxt: user auth request context
        :param instance: the server's record in this cell
        """
        LOG.info('Not moved; powering the guest on again.', instance=instance)
        self._power_on(ctxt, instance)
        instance.power_state = self._get_power_state(instance)
        instance.save()

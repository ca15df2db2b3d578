# SPDX-License-Identifier: Apache-2.0
"""The way on: a server whose move ends in the other cell.

Each step looks first at what there is, so all of it can be run again from
anywhere.
"""

from __future__ import annotations

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import objects
from nova.compute import instance_actions
from nova.compute import power_state
from nova.compute import task_states
from nova.compute import vm_states

from nova_xcell import exception
from nova_xcell.tasks import leftovers
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import services

LOG = logging.getLogger(__name__)


class WayOn:
    """Brings one server to the cell that it moves to.

    :param move: its move
    :param clients: of the services
    """

    def __init__(
        self, move: xcell_move.Move, clients: services.Services
    ) -> None:
        self.move = move
        self.clients = clients

    def verify(self) -> None:
        """Show a server where its guest is, so that the user can decide.

        In the order of the host's FinishResizeAtDestTask: at no time is there
        no record that is visible.
        """
        source, target = self.move.source, self.move.target
        # A user who sees the server may revert it, which stores the old one.
        self.move.renew_spec(target.instance)
        if target.instance.hidden:
            target.instance.hidden = False
            target.instance.save()
        self.move.map_to(self.move.target)
        if source.instance is not None and not source.instance.hidden:
            source.instance.hidden = True
            source.instance.save()
        LOG.info(
            'The move to host %s is finished.',
            target.instance.host,
            instance=target.instance,
        )

    def confirm(self) -> None:
        """Finish a confirm.

        A source host that is down does not hold it up: what it keeps of the
        server is deleted by its own periodic work when it is back.
        """
        self.move.map_to(self.move.target)
        if self.move.source.instance is not None:
            self._clean_source()
        if self.move.target.instance is not None:
            self._finish_at_target()

    # The source

    def _clean_source(self) -> None:
        source = self.move.source
        if not source.instance.hidden:
            source.instance.hidden = True
            source.instance.save()
        cleaned = self._clean_source_host()
        # What the host has failed to do, or could not be asked for.
        for vif in source.instance.get_network_info():
            self.clients.network.delete_port_binding(
                source.context, vif['id'], self.move.source_host
            )
        for attachment in leftovers.attachments_of(source.instance):
            leftovers.delete_attachment(
                source.context, self.clients, attachment
            )
        leftovers.delete_allocations(
            source.context, self.clients, source.migration
        )
        LOG.info(
            'Deleting the record in cell %s; the server has left it.',
            source.cell.identity,
            instance=source.instance,
        )
        # A deleted record is what a host finds the files by that it has to
        # delete when it is back.
        source.instance.destroy(hard_delete=cleaned)
        source.refresh()

    def _clean_source_host(self) -> bool:
        source, host = self.move.source, self.move.source_host
        self._begin_action()
        try:
            self.clients.compute.confirm_snapshot_based_resize_at_source(
                source.context, source.instance, source.migration
            )
        except (messaging.MessagingException, exception.XcellError) as exc:
            LOG.warning(
                'Host %s has not cleaned up after the server (%s); it does '
                'so later.',
                host,
                exc,
                instance=source.instance,
            )
            return False
        return True

    def _begin_action(self) -> None:
        """Make sure that the host's event finds its action."""
        source = self.move.source
        if not objects.InstanceAction.get_by_request_id(
            source.context, source.instance.uuid, source.context.request_id
        ):
            objects.InstanceAction.action_start(
                source.context,
                source.instance.uuid,
                instance_actions.CONFIRM_RESIZE,
                want_result=False,
            )

    # The target

    def _finish_at_target(self) -> None:
        """Do what the host's ConfirmResizeTask does at its end."""
        target = self.move.target
        instance = target.instance
        if target.migration.status != 'confirmed':
            target.migration.status = 'confirmed'
            target.migration.save()
        instance.hidden = False
        instance.old_flavor = None
        instance.new_flavor = None
        instance.system_metadata.pop('old_vm_state', None)
        if instance.vm_state in (vm_states.RESIZED, vm_states.ERROR):
            instance.vm_state = (
                vm_states.STOPPED
                if instance.power_state == power_state.SHUTDOWN
                else vm_states.ACTIVE
            )
        if instance.task_state not in (
            task_states.DELETING,
            task_states.SOFT_DELETING,
        ):
            instance.task_state = None
        instance.drop_migration_context()
        instance.save()

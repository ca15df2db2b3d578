# SPDX-License-Identifier: Apache-2.0
"""The way back: a server whose move ends where it began.

Used when a move fails and when a user reverts it; each step looks first at
what there is, so all of it can be run again from anywhere. The hosts' parts
are those of the host's own revert.
"""

from __future__ import annotations

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import exception as nova_exception
from nova import objects
from nova import utils
from nova.compute import task_states
from nova.compute import vm_states
from nova.i18n import _

from nova_xcell import exception
from nova_xcell.compute import work
from nova_xcell.tasks import goal
from nova_xcell.tasks import left_images
from nova_xcell.tasks import leftovers
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import services
from nova_xcell.tasks import source_guest

LOG = logging.getLogger(__name__)

#: Task states of the target's record from when its host may have a guest. The
#: host sets the first before it does anything.
_FINISHING = (task_states.RESIZE_FINISH, task_states.RESIZE_REVERTING)


class WayBack:
    """Brings one server back to the cell it came from.

    :param move: its move
    :param clients: of the services
    """

    def __init__(
        self, move: xcell_move.Move, clients: services.Services
    ) -> None:
        self.move = move
        self.clients = clients
        self.guest = source_guest.SourceGuest(move, clients)

    def roll_back(self, settled: bool = False) -> None:
        """Undo a move that has not got to its end.

        :param settled: whether it is known that no host works on it
        :raises: :class:`~nova_xcell.exception.MoveWaits` if a host has to be
            there for it and is not
        """
        if not settled:
            self._refuse_if_busy()
        if self._is_deleted():
            return self._forget()
        self.guest.hold()
        self._clear_destination(settled)
        self.guest.restore()
        self._tidy('error')

    def revert(self) -> None:
        """Finish what a user has decided.

        The records of the source must have what changed at the target.

        :raises: :class:`~nova_xcell.exception.MoveWaits` if a host has to be
            there for it and is not
        """
        self._refuse_if_busy()
        if self._is_deleted():
            return self._forget()
        self._clear_destination()
        self.guest.restore(decided=True)
        self._tidy('reverted')

    def _is_deleted(self) -> bool:
        """Tell whether the server was deleted while the move had to wait."""
        return self.move.source.instance is None

    def _forget(self) -> None:
        """Drop what the move of a deleted server still holds."""
        source, target = self.move.source, self.move.target
        if target.instance is not None:
            left_images.delete(self.clients, target.instance)
            self._delete_free_bindings(target.instance)
            self._clear_destination()
        leftovers.delete_allocations(
            source.context, self.clients, source.migration
        )
        source.migration.status = 'error'
        source.migration.save()

    def _delete_free_bindings(self, instance: objects.Instance) -> None:
        """Delete the bindings of ports that the server had and nobody has."""
        context, network = self.move.source.context, self.clients.network
        for vif in instance.get_network_info():
            try:
                port = network.show_port(context, vif['id'])['port']
            except nova_exception.PortNotFound:
                continue
            if port['device_id'] in ('', instance.uuid):
                for host in (self.move.source_host, self.move.dest_host):
                    network.delete_port_binding(context, vif['id'], host)

    def _refuse_if_busy(self) -> None:
        reason, _sure = self.move.busy(self.clients)
        if reason:
            raise self.move.waits(reason)

    # The destination

    def _clear_destination(self, settled: bool = False) -> None:
        target = self.move.target
        # Perhaps only the records there name it, and they go.
        host = self.move.dest_host
        if target.instance is not None:
            self._keep_attachments_of_source()
            if self._may_have_guest():
                self._revert_at_dest()
            elif not settled:
                # Else the audit of the host does it, as in plain Nova.
                self._drop_claim()
            self._delete_target_records()
        self._delete_bindings(host)

    def _delete_target_records(self) -> None:
        target = self.move.target
        if not target.instance.hidden:
            raise self.move.waits(
                _('its record in cell %s is not hidden') % target.cell.identity
            )
        attachments = leftovers.attachments_of(target.instance)
        LOG.info(
            'Deleting the record in cell %s; the server is in the cell it '
            'came from.',
            target.cell.identity,
            instance=target.instance,
        )
        target.instance.destroy(hard_delete=True)
        target.refresh()
        for attachment in attachments:
            leftovers.delete_attachment(
                self.move.source.context, self.clients, attachment
            )

    def _may_have_guest(self) -> bool:
        instance = self.move.target.instance
        return bool(instance.migration_context) and (
            instance.task_state in _FINISHING
            or instance.vm_state in (vm_states.RESIZED, vm_states.ERROR)
        )

    def _keep_attachments_of_source(self) -> None:
        # The copy begins with the source's; they must outlive it.
        source = self.move.source
        kept = {
            bdm.attachment_id
            for bdm in (source.instance.get_bdms() if source.instance else ())
        }
        for bdm in self.move.target.instance.get_bdms():
            if bdm.attachment_id in kept:
                bdm.attachment_id = None
                bdm.save()

    def _revert_at_dest(self) -> None:
        target = self.move.target
        if target.migration.status == 'reverted':
            # The last thing that the host does.
            return
        target.instance.hidden = True
        target.instance.task_state = task_states.RESIZE_REVERTING
        target.instance.save()
        target.migration.status = 'reverting'
        target.migration.save()
        with self.move.needing(self.move.dest_host):
            self.clients.compute.revert_snapshot_based_resize_at_dest(
                target.context, target.instance, target.migration
            )
        target.refresh()

    def _drop_claim(self) -> None:
        target, host = self.move.target, self.move.dest_host
        flavor = target.instance.new_flavor
        if not host or flavor is None:
            return
        try:
            settled = self.clients.xcell.abandon_prep_at_dest(
                target.context,
                host,
                target.instance,
                flavor,
                target.migration.dest_node,
                target.migration.uuid,
            )
        except exception.PeerWithoutPlugin:
            settled = True
        except messaging.MessagingException as exc:
            # Claims live in the memory of a nova-compute that runs.
            LOG.info(
                'Host %s cannot be told to drop a claim (%s); its audit will.',
                host,
                exc,
                instance=target.instance,
            )
            settled = True
        if not settled:
            raise self.move.waits(_('host %s still prepares for it') % host)

    def _delete_bindings(self, host: str | None) -> None:
        source = self.move.source
        if source.instance is None or not host:
            return
        self._activate_bindings_of_source()
        for vif in source.instance.get_network_info():
            self.clients.network.delete_port_binding(
                source.context, vif['id'], host
            )

    def _activate_bindings_of_source(self) -> None:
        source = self.move.source
        migration = source.migration
        # The host's method activates the bindings of the destination.
        with utils.temporary_mutation(
            migration, dest_compute=migration.source_compute
        ):
            self.clients.network.migrate_instance_start(
                source.context, source.instance, migration
            )

    # Records

    def _tidy(self, status: str) -> None:
        source = self.move.source
        instance, migration = source.instance, source.migration
        leftovers.return_allocations(
            source.context, self.clients, instance, migration
        )
        leftovers.delete_attachments(source.context, self.clients, instance)
        left_images.delete(self.clients, instance)
        if migration.status != status:
            migration.status = status
            migration.save()
        instance.hidden = False
        if instance.task_state in goal.TASKS:
            instance.task_state = None
        # A server in ERROR stays there, as in the host: with the fault, until
        # it is hard rebooted.
        for key in (
            'old_vm_state', work.KEEP_ERROR, work.UNDOING, work.WAITS
        ):  # fmt: skip
            instance.system_metadata.pop(key, None)
        instance.old_flavor = None
        instance.new_flavor = None
        instance.drop_migration_context()
        self.move.map_to(source)
        self.move.renew_spec(instance)
        # The last step: from here on there is nothing to do.
        instance.save()

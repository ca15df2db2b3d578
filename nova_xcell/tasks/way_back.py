# SPDX-License-Identifier: Apache-2.0
"""The way back: a server whose move ends where it began.

Used when a move fails and when a user reverts it; each step looks first at
what there is, so all of it can be run again from anywhere. The hosts' parts
are those of the host's own revert.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import exception as nova_exception
from nova import objects
from nova import utils
from nova.compute import power_state
from nova.compute import task_states
from nova.compute import vm_states
from nova.i18n import _

from nova_xcell import exception
from nova_xcell.compute import work
from nova_xcell.tasks import dest_bindings
from nova_xcell.tasks import goal
from nova_xcell.tasks import leftovers
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import services

LOG = logging.getLogger(__name__)

#: Task states of the target's record from when its host may have a guest. The
#: host sets the first before it does anything.
_FINISHING = (task_states.RESIZE_FINISH, task_states.RESIZE_REVERTING)

#: Status of a port of Neutron that works.
_WIRED = 'ACTIVE'


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
        self._hold_source()
        self._clear_destination(settled)
        self._restore_source()
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
        self._restore_source(decided=True)
        self._tidy('reverted')

    def _is_deleted(self) -> bool:
        """Tell whether the server was deleted while the move had to wait."""
        return self.move.source.instance is None

    def _forget(self) -> None:
        """Drop what the move of a deleted server still holds."""
        source, target = self.move.source, self.move.target
        if target.instance is not None:
            self._delete_images(target.instance)
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
            raise self._waits(reason)

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
            raise self._waits(
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
        with self._needing(self.move.dest_host):
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
            raise self._waits(_('host %s still prepares for it') % host)

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

    # The source

    def _hold_source(self) -> None:
        """Keep the host from stopping a guest that only the move powered off.

        The step that failed has left the server ACTIVE and without a task:
        the sync of power states would take it for shut down by its user.
        """
        instance = self.move.source.instance
        if work.WAITS in instance.system_metadata:
            # Nothing but the wait has put it into ERROR.
            instance.vm_state = instance.system_metadata.pop(work.WAITS)
            instance.save()
        if (
            not self._is_touched()
            or instance.vm_state != vm_states.ACTIVE
            or instance.task_state is not None
        ):
            return
        instance.task_state = task_states.RESIZE_MIGRATING
        try:
            instance.save(expected_task_state=[None])
        except nova_exception.UnexpectedTaskStateError as exc:
            LOG.warning(
                'Another operation is about to begin while the move is '
                'undone: %s',
                exc,
                instance=instance,
            )

    def _is_touched(self) -> bool:
        # Set when the source begins, and gone when the move is over.
        instance = self.move.source.instance
        return 'old_vm_state' in instance.system_metadata

    def _restore_source(self, decided: bool = False) -> None:
        """Let the guest be there again if it was touched.

        :param decided: whether a user wants it back, and nothing has failed
        """
        source = self.move.source
        instance = source.instance
        if not decided and not self._is_touched():
            return
        if self._is_restored():
            return
        state = self._power_state()
        if state is None:
            self._finish_revert_at_source(decided)
        elif instance.system_metadata.get(
            'old_vm_state'
        ) == vm_states.ACTIVE and (
            state != power_state.RUNNING or self._is_cut_off()
        ):
            self._power_on()

    def _is_restored(self) -> bool:
        instance = self.move.source.instance
        return (
            self.move.source.migration.status == 'reverted'
            and instance.vm_state in (vm_states.ACTIVE, vm_states.STOPPED)
            and instance.task_state is None
        )

    def _power_state(self) -> int | None:
        source, host = self.move.source, self.move.source_host
        with self._needing(host):
            try:
                return self.clients.xcell.power_state(
                    source.context, host, source.instance
                )
            except exception.PeerWithoutPlugin:
                # The last thing before the guest is destroyed is its power
                # off; from there the status says more.
                gone = (
                    source.migration.status not in ('migrating', 'error')
                    or source.instance.vm_state == vm_states.ERROR
                )
                return None if gone else power_state.SHUTDOWN

    def _finish_revert_at_source(self, decided: bool) -> None:
        source = self.move.source
        instance = source.instance
        leftovers.ensure_attachments(source.context, self.clients, instance)
        if instance.old_flavor is None:
            instance.old_flavor = instance.flavor
        if not decided and instance.vm_state == vm_states.ERROR:
            instance.system_metadata[work.KEEP_ERROR] = 'True'
        instance.task_state = task_states.RESIZE_REVERTING
        instance.save()
        source.migration.status = 'reverting'
        source.migration.save()
        with self._needing(self.move.source_host):
            try:
                compute = self.clients.compute
                compute.finish_revert_snapshot_based_resize_at_source(
                    source.context, instance, source.migration
                )
            except (messaging.RemoteError, exception.RemoteWorkFailed) as exc:
                # Bindings and attachments are those of the source: a hard
                # reboot finds all it needs.
                LOG.error(
                    'The guest could not be started on host %s again (%s); '
                    'hard reboot the server.',
                    self.move.source_host,
                    exc,
                    instance=instance,
                )
        source.refresh()

    def _is_cut_off(self) -> bool:
        """Tell whether the guest runs without its network.

        A nova-compute that starts while the move is undone starts the guest
        as well, and the agent of Neutron 29 does not wire its ports then.
        """
        source = self.move.source
        for vif in source.instance.get_network_info():
            if dest_bindings.is_wired_by_agent(vif):
                port = self.clients.network.show_port(
                    source.context, vif['id']
                )['port']
                if port['admin_state_up'] and port['status'] != _WIRED:
                    return True
        return False

    def _power_on(self) -> None:
        source, host = self.move.source, self.move.source_host
        with self._needing(host):
            try:
                self.clients.xcell.power_on(
                    source.context, host, source.instance
                )
            except exception.PeerWithoutPlugin:
                source.instance.task_state = task_states.POWERING_ON
                source.instance.save()
                self.clients.compute.start_instance(
                    source.context, source.instance
                )
            except messaging.RemoteError as exc:
                LOG.error(
                    'The guest could not be powered on again on host %s (%s); '
                    'start the server.',
                    host,
                    exc,
                    instance=source.instance,
                )

    # Records

    def _tidy(self, status: str) -> None:
        source = self.move.source
        instance, migration = source.instance, source.migration
        leftovers.return_allocations(
            source.context, self.clients, instance, migration
        )
        leftovers.delete_attachments(source.context, self.clients, instance)
        self._delete_images(instance)
        if migration.status != status:
            migration.status = status
            migration.save()
        instance.hidden = False
        if instance.task_state in goal.TASKS:
            instance.task_state = None
        # A server in ERROR stays there, as in the host: with the fault, until
        # it is hard rebooted.
        for key in ('old_vm_state', work.KEEP_ERROR, work.WAITS):
            instance.system_metadata.pop(key, None)
        instance.old_flavor = None
        instance.new_flavor = None
        instance.drop_migration_context()
        instance.save()
        self.move.map_to(source)
        self.move.renew_spec(source.instance)

    def _delete_images(self, instance: objects.Instance) -> None:
        try:
            leftovers.delete_images(instance._context, self.clients, instance)
        except Exception as exc:
            # It costs space, not the server.
            LOG.warning(
                'Images that the move may have left could not be looked for '
                '(%s): delete those named %s.',
                exc,
                leftovers.TEMPORARY_IMAGE_NAME % instance.display_name,
                instance=instance,
            )

    # Hosts that are not there

    @contextlib.contextmanager
    def _needing(self, host: str) -> Iterator[None]:
        """Turn a host that does not answer into a move that waits."""
        try:
            yield
        except messaging.RemoteError:
            raise
        except (
            exception.HostDown,
            exception.OutcomeUnknown,
            messaging.MessagingException,
        ) as exc:
            raise self._waits(
                _('host %(host)s is needed: %(reason)s')
                % {'host': host, 'reason': exc}
            )

    def _waits(self, reason: str) -> exception.MoveWaits:
        return exception.MoveWaits(
            server=self.move.instance_uuid, reason=reason
        )

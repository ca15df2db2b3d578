# SPDX-License-Identifier: Apache-2.0
"""The guest of a move at its source: held while it is off, and started again.

Part of the way back, see :mod:`nova_xcell.tasks.way_back`.
"""

from __future__ import annotations

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import exception as nova_exception
from nova.compute import power_state
from nova.compute import task_states
from nova.compute import vm_states

from nova_xcell import exception
from nova_xcell.compute import work
from nova_xcell.tasks import dest_bindings
from nova_xcell.tasks import leftovers
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import services

LOG = logging.getLogger(__name__)


class SourceGuest:
    """The guest of one server at the source of its move.

    :param move: its move
    :param clients: of the services
    """

    def __init__(
        self, move: xcell_move.Move, clients: services.Services
    ) -> None:
        self.move = move
        self.clients = clients

    def hold(self) -> None:
        """Keep the host from stopping a guest that only the move powered off.

        The step that failed has left the server ACTIVE and without a task:
        the sync of power states would take it for shut down by its user.
        """
        instance = self.move.source.instance
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

    def restore(self, decided: bool = False) -> None:
        """Let the guest be there again if it was touched.

        :param decided: whether a user wants it back, and nothing has failed
        """
        source = self.move.source
        instance = source.instance
        if not decided and not self._is_touched():
            return
        if self._is_restored():
            return
        if work.WAITS in instance.system_metadata:
            # Nothing but the wait has put it into ERROR. Saved with the next
            # step: until then it waits.
            instance.vm_state = instance.system_metadata.pop(work.WAITS)
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
        with self.move.needing(host):
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
        # The host leaves the server as if nothing was to come.
        instance.system_metadata[work.UNDOING] = (
            'reverted' if decided else 'error'
        )
        instance.task_state = task_states.RESIZE_REVERTING
        instance.save()
        source.migration.status = 'reverting'
        source.migration.save()
        failed = False
        with self.move.needing(self.move.source_host):
            try:
                compute = self.clients.compute
                compute.finish_revert_snapshot_based_resize_at_source(
                    source.context, instance, source.migration
                )
            except exception.RemoteWorkRefused as exc:
                # Perhaps it has died in the middle, and there is no guest.
                raise self.move.waits(str(exc))
            except (messaging.RemoteError, exception.RemoteWorkFailed) as exc:
                failed = True
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
        if failed and source.instance.vm_state != vm_states.ERROR:
            # The host had no chance to say it.
            source.instance.vm_state = vm_states.ERROR
            source.instance.save()

    def _is_cut_off(self) -> bool:
        """Tell whether a guest that runs may do so without its network.

        A nova-compute that was killed at this step starts the guest when it
        is back. The agent of Neutron 29 does not wire its ports while there
        is a binding of the other host, and the port's status does not tell.
        """
        return self.move.source.migration.status == 'migrating' and any(
            map(
                dest_bindings.is_wired_by_agent,
                self.move.source.instance.get_network_info(),
            )
        )

    def _power_on(self) -> None:
        source, host = self.move.source, self.move.source_host
        with self.move.needing(host):
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

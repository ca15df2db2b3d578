# SPDX-License-Identifier: Apache-2.0
"""Find the moves that nobody drives, and bring them to an end (XC-27).

The one place that turns a decision of :mod:`nova_xcell.tasks.goal` into work:
for a task of the conductor that has failed, and for a move whose conductor
has died.
"""

from __future__ import annotations

import contextlib
import typing as ty

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import context as nova_context
from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
import nova.conf

from nova_xcell import exception
from nova_xcell.tasks import goal
from nova_xcell.tasks import lease
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import remote
from nova_xcell.tasks import revert_data
from nova_xcell.tasks import services
from nova_xcell.tasks import way_back
from nova_xcell.tasks import way_on

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

DELETING = (task_states.DELETING, task_states.SOFT_DELETING)

#: Statuses of the migration of a move that is not over.
OPEN = (
    'pre-migrating', 'migrating', 'post-migrating', 'finished', 'confirming',
    'reverting',
)  # fmt: skip


def carry_out(
    move: xcell_move.Move, clients: services.Services, wanted: goal.Goal
) -> None:
    """Bring a move to an end.

    :param move: the move; nobody else drives it
    :param clients: of the services
    :param wanted: where it has to go
    :raises: :class:`~nova_xcell.exception.MoveWaits` if a host has to be
        there for it and is not; and what the clients raise. It can be called
        again at any time.
    """
    if wanted is goal.Goal.VERIFY:
        way_on.WayOn(move, clients).verify()
    elif wanted is goal.Goal.CONFIRM:
        way_on.WayOn(move, clients).confirm()
    elif wanted is goal.Goal.REVERT:
        if move.at_target:
            revert_data.bring_back(move, clients)
        way_back.WayBack(move, clients).revert()
    elif wanted is goal.Goal.ROLL_BACK:
        way_back.WayBack(move, clients).roll_back()


class Reconciler:
    """Looks at all moves of the deployment.

    :param context: admin context
    :param clients: of the services
    """

    def __init__(self, context, clients: services.Services) -> None:
        self.context = context
        self.clients = clients

    def run(self) -> None:
        """Bring every abandoned move to an end that can have one now."""
        for instance_uuid, migration_uuid in self.candidates():
            try:
                self._look_at(instance_uuid, migration_uuid)
            except exception.MoveWaits as exc:
                LOG.warning('%s', exc)
            except Exception:
                LOG.exception(
                    'The move %s of server %s could not be brought to an '
                    'end; it is tried again.',
                    migration_uuid,
                    instance_uuid,
                )

    def candidates(self) -> set[tuple[str, str]]:
        """Return server and migration of every move that may not be over.

        A cell that does not answer is left out.
        """
        found: set[tuple[str, str]] = set()
        for cell in objects.CellMappingList.get_all(self.context):
            if cell.is_cell0():
                continue
            try:
                with nova_context.target_cell(self.context, cell) as context:
                    found.update(_open_moves(context))
            except Exception as exc:
                LOG.warning(
                    'The moves of cell %s cannot be looked at: %s',
                    cell.identity,
                    exc,
                )
        return found

    def _look_at(self, instance_uuid: str, migration_uuid: str) -> None:
        move = xcell_move.Move(self.context, instance_uuid, migration_uuid)
        wanted = move.goal()
        if wanted is goal.Goal.REST or not self._is_abandoned(move):
            return
        if not all(map(lease.take, _migrations(move))):
            return
        with driving(move):
            move.refresh()
            wanted = move.goal()
            LOG.warning(
                'Nobody drives move %s: %s.',
                migration_uuid,
                wanted.value,
                instance=move.home.instance,
            )
            carry_out(move, self.clients, wanted)
            self._end_delete(move)

    @staticmethod
    def _end_delete(move: xcell_move.Move) -> None:
        """Let a server be deleted again whose deletion has been lost.

        It confirms first; who waited for that has long given up.
        """
        move.refresh()
        instance = move.home.instance
        if instance is not None and instance.task_state in DELETING:
            instance.task_state = None
            instance.save()

    def _is_abandoned(self, move: xcell_move.Move) -> bool:
        after = CONF.xcell.abandoned_after
        if not self._can_be_asked(move):
            # A conductor without the plug-ins may be waiting for a call.
            after += CONF.long_rpc_timeout
        return all(
            lease.is_abandoned(migration, after)
            for migration in _migrations(move)
        )

    def _can_be_asked(self, move: xcell_move.Move) -> bool:
        """Make sure that no host works on a move.

        :returns: False if a host cannot tell
        :raises: :class:`~nova_xcell.exception.MoveWaits` if one does
        """
        for half, host in (
            (move.source, move.source_host),
            (move.target, move.dest_host),
        ):
            if half.migration is None or host is None:
                continue
            if not remote.is_up(half.context, host):
                continue
            try:
                running = self.clients.xcell.running(
                    half.context, host, move.migration_uuid
                )
            except (messaging.MessagingException, exception.XcellError):
                return False
            if running:
                raise exception.MoveWaits(
                    server=move.instance_uuid,
                    reason='host %s works on %s' % (host, ', '.join(running)),
                )
        return True


@contextlib.contextmanager
def driving(move: xcell_move.Move) -> ty.Iterator[None]:
    """Keep others from taking a move over.

    :param move: the move that the body drives
    """
    contexts = [
        half.context
        for half in (move.source, move.target)
        if half.migration is not None
    ]
    with lease.held(contexts, move.migration_uuid):
        yield


def _migrations(move: xcell_move.Move) -> list[objects.Migration]:
    return [
        half.migration
        for half in (move.source, move.target)
        if half.migration is not None
    ]


def _open_moves(context) -> ty.Iterator[tuple[str, str]]:
    for migration in objects.MigrationList.get_by_filters(
        context, {'status': list(OPEN)}
    ):
        if migration.cross_cell_move:
            yield migration.instance_uuid, migration.uuid
    # What is hidden, and what waits for confirm when that is over already.
    for filters in ({'hidden': True}, {'vm_state': vm_states.RESIZED}):
        for instance in objects.InstanceList.get_by_filters(
            context, {'deleted': False, **filters}, expected_attrs=[]
        ):
            moves = [
                migration
                for migration in objects.MigrationList.get_by_filters(
                    context, {'instance_uuid': instance.uuid}
                )
                if migration.cross_cell_move
            ]
            if moves:
                newest = max(moves, key=lambda migration: migration.id)
                yield instance.uuid, newest.uuid

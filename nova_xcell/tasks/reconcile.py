# SPDX-License-Identifier: Apache-2.0
"""Find the moves that nobody drives, and bring them to an end (XC-27).

The one place that turns a decision of :mod:`nova_xcell.tasks.goal` into work:
for a task of the conductor that has failed, and for a move whose conductor
has died.
"""

from __future__ import annotations

import contextlib
import dataclasses
import typing as ty

from oslo_log import log as logging

from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
import nova.conf

from nova_xcell import exception
from nova_xcell.compute import work
from nova_xcell.tasks import cells
from nova_xcell.tasks import goal
from nova_xcell.tasks import lease
from nova_xcell.tasks import left_images
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import notifications
from nova_xcell.tasks import revert_resize
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
    move: xcell_move.Move,
    clients: services.Services,
    wanted: goal.Goal,
    settled: bool = False,
) -> None:
    """Bring a move to an end.

    :param move: the move; nobody else drives it
    :param clients: of the services
    :param wanted: where it has to go
    :param settled: whether it is known that no host works on it
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
            revert_resize.show_at_source(move, clients)
        way_back.WayBack(move, clients).revert()
    elif wanted is goal.Goal.ROLL_BACK:
        way_back.WayBack(move, clients).roll_back(settled)
    move.refresh()
    notifications.decision_ends(move, wanted)


def end_delete(move: xcell_move.Move) -> None:
    """Let a server be deleted again whose deletion has been lost.

    It confirms first. Whoever still waits for that goes on with it.

    :param move: the move, at its end and read again
    """
    instance = move.home.instance
    if instance is not None and instance.task_state in DELETING:
        instance.task_state = None
        instance.save()


@dataclasses.dataclass(frozen=True)
class Finding:
    """A move that is not where it has to go.

    :ivar server: UUID of the server, None if a cell cannot be looked at
    :ivar migration: UUID of the migration, or None as well
    :ivar move: the move, None if it cannot be read
    :ivar goal: where it has to go
    :ivar waits: why nothing can or may be done about it now, or None
    """

    server: str | None
    migration: str | None
    move: xcell_move.Move | None = None
    goal: goal.Goal | None = None
    waits: str | None = None


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
        for finding in self.findings():
            if finding.waits is None:
                self.heal(finding)
            elif finding.move is None:
                LOG.warning('%s', finding.waits)
        self.delete_images()

    def delete_images(self, server: str | None = None) -> None:
        """Delete what moves that are over have left in Glance.

        :param server: UUID of the only server to look at, None for all
        """
        left_images.delete_all(self.context, self.clients, server)

    def findings(
        self, watch: ty.Callable[[str], None] | None = None
    ) -> ty.Iterator[Finding]:
        """Find the moves that are not where they have to go.

        :param watch: called with the UUID of each server that is looked at
        """
        candidates, unread = self._candidates()
        yield from unread
        for key in sorted(candidates):
            if watch:
                watch(key[0])
            try:
                move = xcell_move.Move(self.context, *key)
                wanted = move.goal()
                if wanted is not goal.Goal.REST:
                    yield Finding(*key, move, wanted, self._driver(move))
            except Exception as exc:
                yield Finding(*key, waits=str(exc))

    def heal(self, finding: Finding) -> str | None:
        """Bring a move to an end.

        :param finding: one that nothing holds up
        :returns: why that was not possible; it can be tried again then. None
            if it was, or if somebody else has taken the move.
        """
        move = finding.move
        try:
            if not all(
                lease.take(half.migration, half is move.source)
                for half in _halves(move)
            ):
                return None
            with driving(move):
                move.refresh()
                wanted = move.goal()
                LOG.warning(
                    'Nobody drives move %s: %s.',
                    finding.migration,
                    wanted.value,
                    instance=move.home.instance,
                )
                carry_out(move, self.clients, wanted)
                end_delete(move)
        except exception.MoveWaits as exc:
            LOG.warning('%s', exc)
            return str(exc)
        except Exception as exc:
            LOG.exception(
                'The move %s of server %s could not be brought to an end; it '
                'is tried again.',
                finding.migration,
                finding.server,
            )
            return '%s: %s' % (type(exc).__name__, exc)
        return None

    def _candidates(self) -> tuple[set[tuple[str, str]], list[Finding]]:
        """Return server and migration of every move that may not be over.

        A cell that does not answer is a finding of its own.
        """
        found: set[tuple[str, str]] = set()
        unread = []
        for cell in cells.each(self.context):
            try:
                found.update(_open_moves(cells.targeted(self.context, cell)))
            except Exception as exc:
                unread.append(
                    Finding(
                        None,
                        None,
                        waits='The moves of cell %s cannot be looked at: %s'
                        % (cell.identity, exc),
                    )
                )
        return found, unread

    def _driver(self, move: xcell_move.Move) -> str | None:
        """Return who may be driving a move, None if nobody is."""
        working, sure = move.busy(self.clients)
        if working:
            return working
        after = CONF.xcell.abandoned_after
        if not sure:
            # A conductor without the plug-ins may be waiting for a call.
            after += CONF.long_rpc_timeout
        if all(
            lease.is_abandoned(half.migration, after) for half in _halves(move)
        ):
            return None
        return 'it was touched in the last %d seconds' % after


@contextlib.contextmanager
def driving(move: xcell_move.Move) -> ty.Iterator[None]:
    """Keep others from taking a move over.

    :param move: the move that the body drives
    """
    contexts = {
        'source' if half is move.source else 'target': half.context
        for half in _halves(move)
    }
    with lease.held(move.migration_uuid, **contexts):
        yield


def _halves(move: xcell_move.Move) -> list[xcell_move.Half]:
    return [half for half in (move.source, move.target) if half.migration]


def _open_moves(context) -> ty.Iterator[tuple[str, str]]:
    for migration in objects.MigrationList.get_by_filters(
        context, {'status': list(OPEN)}
    ):
        if migration.cross_cell_move:
            yield migration.instance_uuid, migration.uuid
    # What is hidden, what waits for confirm, has a task of a move or says that
    # it is not undone yet when the move is over already.
    for filters in (
        {'hidden': True},
        {'vm_state': vm_states.RESIZED},
        {'task_state': sorted(goal.TASKS)},
        {'system_metadata': {work.UNDOING: 'error'}},
        {'system_metadata': {work.UNDOING: 'reverted'}},
    ):
        for instance in objects.InstanceList.get_by_filters(
            context, {'deleted': False, **filters}, expected_attrs=[]
        ):
            move = lease.last_move(context, instance.uuid)
            if move is not None:
                yield instance.uuid, move.uuid

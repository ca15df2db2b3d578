# SPDX-License-Identifier: Apache-2.0
"""What must hold for a server on which no operation is running.

`leaks` is the one check that tests and the demonstration share. It works on
a snapshot only, touches no host, and covers a server at rest, one that waits
in VERIFY_RESIZE and one that was deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.embedded.snapshots import Move
from tests.embedded.snapshots import Record
from tests.embedded.snapshots import short
from tests.embedded.snapshots import Snapshot

#: Where a migration record may end.
TERMINAL = frozenset(
    (
        'accepted',
        'cancelled',
        'completed',
        'confirmed',
        'done',
        'error',
        'failed',
        'reverted',
    )
)

#: The vm_state behind VERIFY_RESIZE and what its migration says then, in
#: the cell where the server is and in the one that it came from.
RESIZED, FINISHED, LEFT = 'resized', 'finished', 'post-migrating'


def leaks(snapshot: Snapshot) -> list[str]:
    """Name everything about a server that does not belong, or is missing.

    :param snapshot: the server, with no operation running on it
    :returns: one line per finding; empty when all is well
    """
    home = snapshot.home
    pending = _pending(snapshot)
    # Where the server was: it may keep a way back until the user decides.
    origin = pending.source if pending else None
    found: list[str] = []
    for check in (
        _records,
        _flavors,
        _moves,
        _allocations,
        _bindings,
        _attachments,
        _claims,
        _guests,
    ):
        found.extend(check(snapshot, home, pending, origin))
    found.extend(
        f'temporary snapshot {short(image)} is still in Glance'
        for image in snapshot.images
    )
    return found


def _pending(snapshot: Snapshot) -> Move | None:
    """Find the move that waits for confirm or revert."""
    home = snapshot.home
    if home is None or home.vm_state != RESIZED:
        return None
    finished = [
        move
        for move in snapshot.moves.get(snapshot.mapping, ())
        if move.status == FINISHED
    ]
    return finished[-1] if finished else None


def _records(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    visible = [
        cell for cell, record in snapshot.records.items() if not record.hidden
    ]
    if not snapshot.records:
        return
    if visible != [snapshot.mapping]:
        yield (
            f'visible records in {visible or "no cell"}, '
            f'the mapping points at {snapshot.mapping}'
        )
    for cell, record in snapshot.records.items():
        if cell != snapshot.mapping and not (
            pending and record.hidden and record.host == origin
        ):
            yield f'leftover record in {cell}, host {record.host}'
        if record.task_state is not None and cell == snapshot.mapping:
            yield f'record in {cell} is stuck in task {record.task_state}'


def _flavors(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    # The next move or rebuild would be scheduled with what the spec says.
    if home and home.flavor != snapshot.spec_flavor:
        yield (
            f'the request spec has flavor {snapshot.spec_flavor}, '
            f'the server {home.flavor}'
        )


def _moves(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    if home and home.vm_state == RESIZED and not pending:
        yield 'the server waits for confirm, but no migration is finished'
    for cell, moves in snapshot.moves.items():
        for move in moves:
            waiting = (
                pending
                and move.uuid == pending.uuid
                and (
                    move.status
                    == (FINISHED if cell == snapshot.mapping else LEFT)
                )
            )
            if move.status not in TERMINAL and not waiting:
                yield (
                    f'migration {short(move.uuid)} in {cell} is '
                    f'left in status {move.status}'
                )


def _allocations(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    wanted = {}
    if home and home.node:
        wanted[snapshot.server] = {home.node}
    if pending:
        wanted[pending.uuid] = {origin}
    for consumer in {**wanted, **snapshot.allocations}:
        who = (
            'server'
            if consumer == snapshot.server
            else (f'migration {short(consumer)}')
        )
        held = set(snapshot.allocations.get(consumer, ()))
        for provider in sorted(held - wanted.get(consumer, set())):
            yield f'leftover allocation of the {who} on {provider}'
        for provider in sorted(wanted.get(consumer, set()) - held):
            yield f'missing allocation of the {who} on {provider}'


def _bindings(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    for port, hosts in snapshot.bindings.items():
        for host, status in hosts.items():
            if home and host == home.host:
                if status != 'ACTIVE':
                    yield (
                        f'binding of port {short(port)} is {status} '
                        f'on {host}, where the server is'
                    )
            elif not (pending and host == origin and status == 'INACTIVE'):
                yield (
                    f'leftover binding of port {short(port)} '
                    f'on {host}: {status}'
                )
        if home and home.host and home.host not in hosts:
            yield f'port {short(port)} is not bound on {home.host}'


def _attachments(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    current = dict(home.volumes) if home else {}
    # The way back: what the hidden record keeps must be there, unconnected.
    reserved = {}
    for cell, record in snapshot.records.items():
        if cell != snapshot.mapping and pending:
            reserved.update(record.volumes)
    for key, attachment in snapshot.attachments.items():
        what = f'attachment {short(key)} of volume {short(attachment.volume)}'
        host = attachment.host
        if key in current.values():
            if host != home.host:
                yield f'{what} is for {host or "no host"}, not {home.host}'
        elif key in reserved.values():
            if host:
                yield f'{what} is still connected to {host}'
        else:
            yield f'leftover {what} for {host or "no host"}'
    for volume, key in [*current.items(), *reserved.items()]:
        if key not in snapshot.attachments:
            yield (
                f'volume {short(volume)} points at attachment '
                f'{short(key or "none")}, which Cinder does not have'
            )


def _claims(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    for host, kinds in snapshot.claims.items():
        if not (home and host == home.host) and not (
            pending and host == origin
        ):
            yield f'leftover claim on {host}: {", ".join(kinds)}'
    if home and home.host and home.host not in snapshot.claims:
        yield f'{home.host} does not count the server it has'


def _guests(
    snapshot: Snapshot,
    home: Record | None,
    pending: Move | None,
    origin: str | None,
) -> Iterator[str]:
    where = home.host if home else None
    # Within a cell the old guest is the way back; to another cell it is not.
    old = origin if len(snapshot.records) == 1 else None
    for host in snapshot.guests:
        if host not in (where, old):
            yield f'a guest is left on {host}'
    if where and where not in snapshot.guests:
        yield f'there is no guest on {where}'

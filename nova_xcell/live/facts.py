# SPDX-License-Identifier: Apache-2.0
"""What the history of a server tells of a live migration: pure.

A migration has no column for how its storage went or why it failed. The
action of the request has events, which stay as long as the server; a plain
host shows them like its own.
"""

from __future__ import annotations

import datetime
import typing as ty

from nova_xcell.virt import flag_record

#: Action of a request to live-migrate.
ACTION = 'live-migration'
#: Event of nova-conductor: a host can take the server, and how.
MODE_EVENT = 'xcell_live_migration_mode'
#: Event of nova-compute: why the hypervisor gave up. The details are a text.
FAILED_EVENT = 'xcell_live_migration_failed'
#: Event of a check on a host, which does not end the migration if there is
#: another one.
_CHECK_EVENT = 'compute_check_can_live_migrate_destination'

#: How much the clocks of two services may differ.
CLOCKS_DIFFER = datetime.timedelta(seconds=1)

#: Statuses that a migration ends with and that want a reason.
FAILED = ('error', 'failed', 'cancelled')
#: Statuses in which the host lists a migration as in progress, and the one
#: that it forgets.
POST_COPY = 'running (post-copy)'


class Action(ty.Protocol):
    """What is read of nova.objects.InstanceAction."""

    action: str
    start_time: datetime.datetime


class Event(ty.Protocol):
    """What is read of nova.objects.InstanceActionEvent."""

    event: str
    result: str | None
    details: str | None
    host: str | None


class Row(ty.Protocol):
    """What is read of nova.objects.Migration."""

    id: int
    hidden: bool


def mode_details(migration: str, block_migration: bool, host: str) -> str:
    """Spell the details of :data:`MODE_EVENT`.

    :param migration: uuid of the migration
    :param block_migration: whether local disks are copied
    :param host: the destination
    """
    return flag_record.spelled(
        migration, block_migration=block_migration, host=host
    )


def action_of(
    actions: ty.Iterable[Action], created_at: datetime.datetime
) -> Action | None:
    """Return the action of the request that a migration was made for.

    A server has one live migration at a time, and the action is there before
    the migration.

    :param actions: of the server
    :param created_at: when the migration was made; time zone as in the
        actions
    """
    before, after = [], []
    for action in actions:
        if action.action == ACTION:
            is_before = action.start_time <= created_at
            (before if is_before else after).append(action)
    if before:
        return max(before, key=lambda action: action.start_time)
    # The clock of a nova-conductor that made the migration may be behind.
    first = min(after, key=lambda action: action.start_time, default=None)
    if first and first.start_time - created_at <= CLOCKS_DIFFER:
        return first
    return None


def block_migration(migration: str, events: ty.Iterable[Event]) -> bool | None:
    """Tell whether a migration copies local disks.

    :param migration: uuid of the migration
    :param events: of its action, in the order of time
    :returns: None if nobody has noted it
    """
    return flag_record.read(migration, _details(events), [MODE_EVENT]).get(
        'block_migration'
    )


def flags(
    migration: str, events: ty.Iterable[Event]
) -> dict[str, ty.Any] | None:
    """Tell which features of the hypervisor a migration uses, and why.

    :param migration: uuid of the migration
    :param events: of its action, in the order of time
    :returns: None if nobody has noted it
    """
    return flag_record.read(migration, _details(events)) or None


def reason(events: ty.Iterable[Event]) -> str | None:
    """Tell why a migration has failed.

    :param events: of its action, in the order of time
    :returns: what its last error says, and what each host has said that was
        asked before; None if there is no error
    """
    failed = [
        event for event in events if event.result == 'Error' and event.details
    ]
    ends = [event for event in failed if event.event != _CHECK_EVENT]
    # The hypervisor's own words come before what follows from them.
    last = next(
        (event for event in ends if event.event == FAILED_EVENT),
        ends[-1] if ends else None,
    )
    words = [last.details] if last else []
    for event in failed:
        if event.event == _CHECK_EVENT and not any(
            event.details in said for said in words
        ):
            words.append(
                '%s: %s' % (event.host, event.details)
                if event.host
                else event.details
            )
    return ' '.join(words) or None


def successor(own_id: int, rows: ty.Iterable[Row]) -> Row | None:
    """Return the migration that was made in place of one.

    :param own_id: id of a migration that was handed over and not taken
    :param rows: live migrations of the same server
    :returns: the next one that is not hidden, or None
    """
    return min(
        (row for row in rows if row.id > own_id and not row.hidden),
        key=lambda row: row.id,
        default=None,
    )


def _details(
    events: ty.Iterable[Event],
) -> ty.Iterator[tuple[str, str | None]]:
    return ((event.event, event.details) for event in events)

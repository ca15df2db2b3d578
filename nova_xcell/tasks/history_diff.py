# SPDX-License-Identifier: Apache-2.0
"""What the history of a server in one cell has beyond that in another.

Pure: rows are dictionaries of columns, oldest first. A row that was copied
keeps everything but its number. Some events the host itself records in both
cells, with times of their own.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
import dataclasses
from typing import Any

Row = dict[str, Any]

#: Columns that tell how an action or event ended.
ACTION_OUTCOME = ('finish_time', 'message', 'updated_at')
EVENT_OUTCOME = ('finish_time', 'result', 'traceback', 'details')


@dataclasses.dataclass
class Difference:
    """What has to be written to the cell that is behind.

    Changed rows have the number that they have there. New events have in
    `action_id` the number there if their action is there, and that in the
    other cell if it is new.
    """

    actions: list[Row] = dataclasses.field(default_factory=list)
    events: list[Row] = dataclasses.field(default_factory=list)
    faults: list[Row] = dataclasses.field(default_factory=list)
    #: Events of actions that are in both cells.
    late_events: list[Row] = dataclasses.field(default_factory=list)
    ended_actions: list[Row] = dataclasses.field(default_factory=list)
    ended_events: list[Row] = dataclasses.field(default_factory=list)

    def __bool__(self) -> bool:
        return any(dataclasses.asdict(self).values())


def compare(ahead: dict[str, list[Row]], behind: dict[str, list[Row]]):
    """Compare the history of a server in two cells.

    :param ahead: rows by kind ('actions', 'events', 'faults') of the cell
        where the server was used
    :param behind: the same of the other cell
    :returns: :class:`Difference`
    """
    difference = Difference()
    known = {action_key(row): row for row in reversed(behind['actions'])}
    there: dict[int, int] = {}
    for action in ahead['actions']:
        other = known.get(action_key(action))
        if other is None:
            difference.actions.append(action)
            continue
        there[action['id']] = other['id']
        if _ended(action, other) or (
            action['message'] and not other['message']
        ):
            difference.ended_actions.append(
                _outcome(action, other, ACTION_OUTCOME)
            )
    _compare_events(ahead['events'], behind['events'], there, difference)
    faults = {fault_key(row) for row in behind['faults']}
    difference.faults = [
        row for row in ahead['faults'] if fault_key(row) not in faults
    ]
    return difference


def _compare_events(
    ahead: list[Row],
    behind: list[Row],
    there: dict[int, int],
    difference: Difference,
) -> None:
    known = {
        key: row
        for key, row in zip(
            event_keys(behind, lambda number: number), behind, strict=True
        )
    }
    keys = event_keys(ahead, there.get)
    for key, event in zip(keys, ahead, strict=True):
        action_id = there.get(event['action_id'])
        if action_id is None:
            difference.events.append(event)
            continue
        other = known.get(key)
        if other is None:
            difference.late_events.append({**event, 'action_id': action_id})
        elif _ended(event, other):
            difference.ended_events.append(
                _outcome(event, other, EVENT_OUTCOME)
            )


def action_key(row: Row) -> tuple:
    """Return what an action is recognised by.

    :param row: the action
    """
    # The host looks an action up by its request; a start time is needed only
    # for those that it made without one.
    return (
        row['request_id'],
        row['action'],
        None if row['request_id'] else row['start_time'],
    )


def event_keys(
    rows: list[Row], number_of: Callable[[int], int | None]
) -> list[tuple]:
    """Return what events are recognised by: the how manieth of its kind.

    :param rows: the events
    :param number_of: returns the number that an action has in the cell to
        compare with
    """
    seen: collections.Counter[tuple] = collections.Counter()
    keys = []
    for row in rows:
        kind = (number_of(row['action_id']), row['event'], row['host'])
        seen[kind] += 1
        keys.append((*kind, seen[kind]))
    return keys


def fault_key(row: Row) -> tuple:
    """Return what a fault is recognised by.

    :param row: the fault
    """
    return row['created_at'], row['code'], row['message'], row['host']


def _ended(row: Row, other: Row) -> bool:
    return bool(row['finish_time'] and not other['finish_time'])


def _outcome(row: Row, other: Row, columns: tuple[str, ...]) -> Row:
    return {'id': other['id'], **{column: row[column] for column in columns}}

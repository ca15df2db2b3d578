# SPDX-License-Identifier: Apache-2.0
"""Actions, events and faults of a server, brought from cell to cell (XC-17).

While a server is in two cells, each has a part of what was done with it.
"""

from __future__ import annotations

from oslo_db import api as oslo_db_api

from nova import context as nova_context
from nova import objects
from nova.db.main import api as db

from nova_xcell.tasks import history_diff
from nova_xcell.tasks import records


def bring(
    ahead: nova_context.RequestContext,
    behind: nova_context.RequestContext,
    instance_uuid: str,
) -> bool:
    """Write to a cell what only another one knows of a server's history.

    In one transaction, with a number of statements that does not depend on
    the length of the history. Done again it changes nothing.

    :param ahead: context aimed at the cell that knows more
    :param behind: context aimed at the cell to write to
    :param instance_uuid: the server, which has a record in both
    :returns: whether anything was missing
    """
    return _write(
        behind,
        instance_uuid,
        _by_kind(records.read(ahead, instance_uuid, records.HISTORY)),
    )


def complete(
    ahead: nova_context.RequestContext,
    behind: nova_context.RequestContext,
    instance_uuid: str,
) -> None:
    """Bring what happened to a cell, and end there what ends elsewhere.

    The conductor ends its own events of a move in the cell that it began them
    in, after the last step of the task. Those of the computes have ended.

    :param ahead: context aimed at the cell where they began
    :param behind: context aimed at the cell where the server is now
    :param instance_uuid: the server
    """
    bring(ahead, behind, instance_uuid)
    action = objects.InstanceAction.get_by_request_id(
        behind, instance_uuid, behind.request_id
    )
    if action is None:
        return
    for event in objects.InstanceActionEventList.get_by_action(
        behind, action.id
    ):
        if not event.finish_time:
            objects.InstanceActionEvent.event_finish(
                behind, instance_uuid, event.event, want_result=False
            )


@oslo_db_api.wrap_db_retry(max_retries=5, retry_on_deadlock=True)
def _write(
    context: nova_context.RequestContext,
    instance_uuid: str,
    ahead: records.Rows,
) -> bool:
    with db.get_context_manager(context).writer.using(context) as session:
        difference = history_diff.compare(
            ahead,
            _by_kind(
                {
                    name: records.select(session, name, instance_uuid)
                    for name in records.HISTORY
                }
            ),
        )
        records.insert_history(
            session, instance_uuid, difference.actions, difference.events
        )
        records.insert(session, records.EVENTS, difference.late_events)
        records.insert(session, records.FAULTS, difference.faults)
        records.update(
            session,
            records.ACTIONS,
            difference.ended_actions,
            history_diff.ACTION_OUTCOME,
        )
        records.update(
            session,
            records.EVENTS,
            difference.ended_events,
            history_diff.EVENT_OUTCOME,
        )
    return bool(difference)


def _by_kind(rows: records.Rows) -> records.Rows:
    return {
        'actions': rows[records.ACTIONS],
        'events': rows[records.EVENTS],
        'faults': rows[records.FAULTS],
    }

# SPDX-License-Identifier: Apache-2.0
"""The rows of one server, read from a cell and written to another (XC-06).

One statement per table, however many rows there are. Columns are those of the
host's models, so that a column which a later release adds comes along.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova import context as nova_context
from nova.db.main import api as db
from nova.db.main import models

from nova_xcell import exception
from nova_xcell.tasks import db_errors

#: Column -> value.
Row = dict[str, Any]
#: Table -> its rows, oldest first.
Rows = dict[str, list[Row]]

#: Tables whose rows belong to a server -> the column that names it. In this
#: order they can be written: rows follow what they refer to.
BY_SERVER: dict[str, str] = {
    'instances': 'uuid',
    'instance_extra': 'instance_uuid',
    'instance_info_caches': 'instance_uuid',
    'instance_metadata': 'instance_uuid',
    'instance_system_metadata': 'instance_uuid',
    'block_device_mapping': 'instance_uuid',
    'virtual_interfaces': 'instance_uuid',
    'tags': 'resource_id',
    'instance_faults': 'instance_uuid',
    'instance_actions': 'instance_uuid',
    'migrations': 'instance_uuid',
}

ACTIONS = 'instance_actions'
#: Names its action by a number of the cell, and the server only through it.
EVENTS = 'instance_actions_events'
FAULTS = 'instance_faults'

#: What a server did, and what happened to it.
HISTORY = (ACTIONS, EVENTS, FAULTS)

#: Tables that know servers and stay behind, and why.
LEFT_OUT: dict[str, str] = {
    'console_auth_tokens': 'made anew when a console is asked for',
    'instance_id_mappings': 'a number of the cell; the copy gets its own',
    'pci_devices': 'devices of a compute host; the destination claims its own',
    'security_group_instance_association': 'not used since nova-network',
    'share_mapping': 'the host does not move servers with shares, and its '
    'own deletion of the record fails on such rows',
    'volume_usage_cache': 'figures of a volume on the source host',
}


def table(name: str) -> sa.Table:
    """Return the host's definition of a table.

    :param name: its name
    """
    return models.BASE.metadata.tables[name]


def read(
    context: nova_context.RequestContext,
    instance_uuid: str,
    names: Iterable[str] = (*BY_SERVER, EVENTS),
) -> Rows:
    """Read what the database of a cell has about a server.

    :param context: context aimed at the cell
    :param instance_uuid: the server
    :param names: tables to read
    :returns: the rows that are not soft-deleted, with all their columns
    """
    with db.get_context_manager(context).reader.using(context) as session:
        return {name: select(session, name, instance_uuid) for name in names}


def select(session: orm.Session, name: str, instance_uuid: str) -> list[Row]:
    """Read the rows of a server in one table, oldest first.

    :param session: session of a transaction
    :param name: the table
    :param instance_uuid: the server
    """
    rows = table(name)
    query = sa.select(rows)
    if name == EVENTS:
        actions = table(ACTIONS)
        query = query.join(actions, rows.c.action_id == actions.c.id).where(
            actions.c.instance_uuid == instance_uuid
        )
    else:
        query = query.where(rows.c[BY_SERVER[name]] == instance_uuid)
    if 'deleted' in rows.c:
        query = query.where(rows.c.deleted == 0)
    query = query.order_by(*rows.primary_key.columns)
    return [dict(row) for row in session.execute(query).mappings()]


def insert(session: orm.Session, name: str, rows: list[Row]) -> None:
    """Write rows; those of a table with numbers get new ones.

    :param session: session of a transaction
    :param name: the table
    :param rows: what to write, in order
    """
    if rows:
        with db_errors.without_values():
            session.execute(
                table(name).insert(), [without(row, 'id') for row in rows]
            )


def update(
    session: orm.Session, name: str, changes: list[Row], columns: tuple
) -> None:
    """Change rows.

    :param session: session of a transaction
    :param name: the table
    :param changes: rows with their id
    :param columns: which of their columns to write
    """
    if not changes:
        return
    rows = table(name)
    statement = (
        rows.update()
        .where(rows.c.id == sa.bindparam('row_id'))
        .values({column: sa.bindparam('new_' + column) for column in columns})
    )
    with db_errors.without_values():
        session.execute(
            statement,
            [
                {
                    'row_id': change['id'],
                    **{'new_' + column: change[column] for column in columns},
                }
                for change in changes
            ],
        )


def insert_history(
    session: orm.Session,
    instance_uuid: str,
    actions: list[Row],
    events: list[Row],
) -> None:
    """Write actions and their events, which follow the new numbers.

    :param session: session of a transaction
    :param instance_uuid: the server
    :param actions: actions that the cell does not have yet
    :param events: their events; action_id is the id in `actions`
    """
    if not actions:
        return
    known = _newest_action(session, instance_uuid)
    insert(session, ACTIONS, actions)
    ids = _ids_of(session, instance_uuid, known, actions)
    insert(
        session,
        EVENTS,
        [{**event, 'action_id': ids[event['action_id']]} for event in events],
    )


def _newest_action(session: orm.Session, instance_uuid: str) -> int:
    actions = table(ACTIONS)
    return (
        session.scalar(
            sa.select(sa.func.max(actions.c.id)).where(
                actions.c.instance_uuid == instance_uuid
            )
        )
        or 0
    )


def _ids_of(
    session: orm.Session,
    instance_uuid: str,
    known: int,
    actions: list[Row],
) -> dict[int, int]:
    """Find the numbers that actions got which were just written.

    A database numbers the rows of one statement in their order. Others may
    have written rows between them.

    :raises: :class:`~nova_xcell.exception.HistoryChanged`
    """
    rows = table(ACTIONS)
    found = iter(
        session.execute(
            sa.select(rows.c.id, rows.c.request_id, rows.c.action)
            .where(rows.c.instance_uuid == instance_uuid, rows.c.id > known)
            .order_by(rows.c.id)
        ).all()
    )
    ids = {}
    for action in actions:
        wanted = (action['request_id'], action['action'])
        for row in found:
            if (row.request_id, row.action) == wanted:
                ids[action['id']] = row.id
                break
        else:
            raise exception.HistoryChanged(server=instance_uuid)
    return ids


def without(row: Row, *columns: str) -> Row:
    """Return a row without some columns.

    :param row: the row
    :param columns: the columns to leave out; it need not have them
    """
    return {
        column: value for column, value in row.items() if column not in columns
    }

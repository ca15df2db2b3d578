# SPDX-License-Identifier: Apache-2.0
"""What the database of a cell has about a server, row by row; and more of it.

Independent of the plug-ins' own reading and writing of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import datetime
import threading
from typing import Any

from oslo_utils import uuidutils
import sqlalchemy as sa
from sqlalchemy import event as sa_event

from nova.db.main import api as db
from nova.db.main import models

Row = dict[str, Any]

TABLES = models.BASE.metadata.tables
#: Columns that may name a server.
NAMES = ('instance_uuid', 'resource_id')
#: Tables that name it by another one.
NAMED_BY_UUID = ('instances', 'instance_id_mappings')

BEGIN = datetime.datetime(2026, 1, 1)


def of_server(context: Any, server_id: str) -> dict[str, list[Row]]:
    """Return all rows of a server, soft-deleted ones included.

    :param context: context aimed at a cell
    :param server_id: the server
    :returns: rows by table, without tables that have none. An event has the
        request of its action in place of the action's number
    """
    found = {}
    with db.get_context_manager(context).reader.using(context) as session:
        for name, table in TABLES.items():
            query = _query(name, table, server_id)
            if query is None:
                continue
            rows = [dict(row) for row in session.execute(query).mappings()]
            if rows:
                found[name] = rows
    return found


def _query(name: str, table: sa.Table, server_id: str) -> Any:
    if name == 'instance_actions_events':
        actions = TABLES['instance_actions']
        return (
            sa.select(table, actions.c.request_id)
            .join(actions, actions.c.id == table.c.action_id)
            .where(actions.c.instance_uuid == server_id)
            .order_by(table.c.id)
        )
    columns = ('uuid',) if name in NAMED_BY_UUID else NAMES
    for column in columns:
        if column in table.c:
            return (
                sa.select(table)
                .where(table.c[column] == server_id)
                .order_by(*table.primary_key.columns)
            )
    return None


def write(context: Any, name: str, *rows: Row) -> None:
    """Write rows.

    :param context: context aimed at a cell
    :param name: the table
    :param rows: what to write
    """
    with db.get_context_manager(context).writer.using(context) as session:
        session.execute(TABLES[name].insert(), list(rows))


def change(context: Any, name: str, server_id: str, **values: Any) -> None:
    """Change all rows of a server in a table.

    :param context: context aimed at a cell
    :param name: the table
    :param server_id: the server
    :param values: new values
    """
    table = TABLES[name]
    column = 'uuid' if name in NAMED_BY_UUID else 'instance_uuid'
    with db.get_context_manager(context).writer.using(context) as session:
        session.execute(
            table.update().where(table.c[column] == server_id).values(values)
        )


def add_history(
    context: Any, server_id: str, actions: int, events: int = 5
) -> None:
    """Give a server a past.

    :param context: context aimed at its cell
    :param server_id: the server
    :param actions: how many actions
    :param events: how many events each of them has
    """
    table = TABLES['instance_actions']
    marks = [uuidutils.generate_uuid() for _number in range(actions)]
    if not marks:
        return
    write(
        context,
        'instance_actions',
        *(
            {
                'action': 'reboot',
                'instance_uuid': server_id,
                'request_id': 'req-%s' % mark,
                'user_id': 'someone',
                'project_id': 'a-project',
                **_times(number),
            }
            for number, mark in enumerate(marks)
        ),
    )
    with db.get_context_manager(context).reader.using(context) as session:
        numbers = session.scalars(
            sa.select(table.c.id)
            .where(
                table.c.instance_uuid == server_id,
                table.c.action == 'reboot',
            )
            .order_by(table.c.id)
        ).all()
    write(
        context,
        'instance_actions_events',
        *(
            {
                'action_id': action_id,
                'event': 'compute_reboot_%d' % part,
                'host': 'host1',
                'result': 'Success',
                'details': 'details of %d' % number,
                **_times(number, part),
            }
            for number, action_id in enumerate(numbers)
            for part in range(events)
        ),
    )


def add_volumes(context: Any, server_id: str, count: int) -> None:
    """Give a server block devices with volumes, in the database only.

    :param context: context aimed at its cell
    :param server_id: the server
    :param count: how many
    """
    if count:
        write(
            context,
            'block_device_mapping',
            *(
                {
                    'instance_uuid': server_id,
                    'uuid': uuidutils.generate_uuid(),
                    'source_type': 'volume',
                    'destination_type': 'volume',
                    'volume_id': uuidutils.generate_uuid(),
                    'attachment_id': uuidutils.generate_uuid(),
                    'device_name': '/dev/sd%s' % chr(ord('b') + number),
                    'volume_size': 1,
                    'volume_type': 'fast',
                    'connection_info': '{"serial": "%d"}' % number,
                    'delete_on_termination': bool(number % 2),
                    'no_device': False,
                    'tag': 'disk%d' % number,
                }
                for number in range(count)
            ),
        )


def _times(number: int, part: int = 0) -> Row:
    start = BEGIN + datetime.timedelta(hours=number, seconds=part)
    end = start + datetime.timedelta(seconds=1)
    return {
        'created_at': start,
        'start_time': start,
        'finish_time': end,
        'updated_at': end,
    }


class Count:
    """How many statements were sent."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def __int__(self) -> int:
        return len(self.statements)


@contextlib.contextmanager
def counted() -> Iterator[Count]:
    """Count the statements that this thread sends to any database.

    :returns: context manager, yielding the count
    """
    count = Count()
    mine = threading.get_ident()

    def note(conn, cursor, statement, parameters, context, executemany):
        if threading.get_ident() == mine:
            count.statements.append(statement)

    sa_event.listen(sa.Engine, 'before_cursor_execute', note)
    try:
        yield count
    finally:
        sa_event.remove(sa.Engine, 'before_cursor_execute', note)

# SPDX-License-Identifier: Apache-2.0
"""Statements for many rows."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import typing as ty

import sqlalchemy as sa

from nova_xcell.placement import decisions


def select_in(
    session: ty.Any,
    statement: sa.Select,
    column: sa.ColumnElement,
    values: Iterable,
) -> Iterator[sa.Row]:
    """Return the rows with one of many values.

    :param session: of SQLAlchemy
    :param statement: selects rows
    :param column: the column
    :param values: its values
    """
    for chunk in decisions.chunks(values):
        yield from session.execute(statement.where(column.in_(chunk)))


def insert(session: ty.Any, table: sa.Table, rows: Iterable[dict]) -> None:
    """Insert rows, in their order.

    :param session: of SQLAlchemy
    :param table: the table
    :param rows: a dictionary for each, all with the same columns
    """
    for chunk in decisions.chunks(rows):
        session.execute(table.insert(), chunk)


def execute_in(
    session: ty.Any,
    statement: ty.Any,
    column: sa.ColumnElement,
    values: Iterable,
) -> int:
    """Update or delete the rows with one of many values.

    :param session: of SQLAlchemy
    :param statement: updates or deletes rows
    :param column: the column
    :param values: its values
    :returns: how many rows it was
    """
    return sum(
        session.execute(statement.where(column.in_(chunk))).rowcount
        for chunk in decisions.chunks(values)
    )


def by_id(
    table: sa.Table, column: sa.Column, values: Mapping[int, ty.Any]
) -> sa.ColumnElement:
    """Return an expression for a column of rows that get different values.

    :param table: the table
    :param column: the column; a row whose id is not given keeps it
    :param values: new value by id, not empty
    """
    return sa.case(
        *(
            (table.c.id.in_(ids), sa.literal(value, column.type))
            for value, ids in decisions.by_value(values).items()
        ),
        else_=column,
    )

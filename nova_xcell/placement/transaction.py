# SPDX-License-Identifier: Apache-2.0
"""The transaction of a reshape: who waits for it, and who wins."""

from collections.abc import Callable
import functools
import typing as ty
import weakref

from oslo_db import exception as db_exc
import sqlalchemy as sa

from placement import context as host_context
from placement import exception

_INFO = 'xcell_begun'

#: Whether the server of an engine can log what it is about to do.
_can_read_committed: 'weakref.WeakKeyDictionary[ty.Any, bool]' = (
    weakref.WeakKeyDictionary()
)


def begin(ctx: host_context.RequestContext) -> None:
    """Let the transaction of a request lock no more than rows it changes.

    To be called before its first statement. With MySQL's and MariaDB's
    default, REPEATABLE READ, deleting allocations locks the gaps between
    them, and other hosts wait to insert theirs. Nothing here relies on rows
    that are read twice being the same: the rows of providers and consumers
    are locked before anything else of them is read.

    :param ctx: the context of the request, in a transaction
    """
    session = ctx.session
    if _INFO in session.info:
        return
    session.info[_INFO] = True
    engine = session.get_bind()
    if engine.dialect.name not in ('mysql', 'mariadb'):
        # PostgreSQL has no such locks, SQLite locks everything anyway.
        return
    if engine not in _can_read_committed:
        _can_read_committed[engine] = _logs_rows(engine)
    if _can_read_committed[engine]:
        session.connection(
            execution_options={'isolation_level': 'READ COMMITTED'}
        )


def _logs_rows(engine: sa.Engine) -> bool:
    # With a binary log of statements the server refuses every write of a
    # transaction that does not repeat its reads.
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text(
                'SHOW GLOBAL VARIABLES WHERE Variable_name IN '
                "('log_bin', 'binlog_format')"
            )
        )
        variables = {name.lower(): value.upper() for name, value in rows}
    return (
        variables.get('log_bin') != 'ON'
        or variables.get('binlog_format') != 'STATEMENT'
    )


def conflicts(function: Callable) -> Callable:
    """Make a lost race a conflict, which clients answer by trying again.

    Placement would answer 500. With Galera, writes of several servers meet at
    the commit, and one of them is told that it was a deadlock.

    :param function: runs a transaction
    """

    @functools.wraps(function)
    def wrapped(*args: ty.Any, **kwargs: ty.Any) -> ty.Any:
        try:
            return function(*args, **kwargs)
        except (db_exc.DBDeadlock, db_exc.DBDuplicateEntry) as exc:
            raise exception.ConcurrentUpdateDetected() from exc

    return wrapped

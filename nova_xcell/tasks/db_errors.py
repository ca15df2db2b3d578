# SPDX-License-Identifier: Apache-2.0
"""Errors of the database, without the values that were written.

SQLAlchemy quotes them, and among the rows of a server are the connection_info
of its volumes, with the passwords of the storage, and its user data. The log
would have them, and so would fault and event.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from oslo_db import exception as db_exc
import sqlalchemy as sa


@contextlib.contextmanager
def without_values() -> Iterator[None]:
    """Leave values out of what an error that is raised within says.

    :raises: the same error, of the same class, with the statement
    """
    try:
        yield
    except db_exc.DBError as exc:
        inner = exc.inner_exception
        if isinstance(inner, sa.exc.StatementError):
            inner.hide_parameters = True
            exc.args = (str(inner),)
        raise

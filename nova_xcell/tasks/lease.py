# SPDX-License-Identifier: Apache-2.0
"""Who drives a move: told by how fresh its migration records are.

The conductor that drives a move touches its migration records again and
again. One that nobody has touched for a while has lost its conductor, and who
touches it first takes it over.
"""

from __future__ import annotations

import contextlib
import copy
import threading
import typing as ty

from oslo_log import log as logging
from oslo_utils import timeutils

from nova import objects
import nova.conf
from nova.db.main import api as main_db_api
from nova.db.main import models

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

#: How often a move is touched within the time that it may be silent.
BEATS = 4


@main_db_api.require_context
@main_db_api.pick_context_manager_writer
def _touch(context, migration_uuid: str, seen=None) -> bool:
    query = context.session.query(models.Migration).filter_by(
        uuid=migration_uuid
    )
    if seen is not None:
        query = query.filter_by(updated_at=seen)
    return bool(
        query.update(
            {'updated_at': timeutils.utcnow()}, synchronize_session=False
        )
    )


def is_abandoned(migration: objects.Migration, after: float) -> bool:
    """Tell whether nobody has touched a migration for a while.

    :param migration: its record in one cell
    :param after: seconds
    """
    touched = migration.updated_at or migration.created_at
    return timeutils.is_older_than(touched, after)


def take(migration: objects.Migration) -> bool:
    """Take an abandoned move over.

    :param migration: its record as it was read
    :returns: False if somebody else was faster
    """
    return _touch(migration._context, migration.uuid, migration.updated_at)


@contextlib.contextmanager
def held(contexts: ty.Iterable, migration_uuid: str) -> ty.Iterator[None]:
    """Keep a move fresh while the body drives it.

    :param contexts: auth contexts targeted at the cells that have, or will
        have, a record of it
    :param migration_uuid: UUID of the migration
    """
    done = threading.Event()
    # A context has one database session; ours are used elsewhere meanwhile.
    own = [copy.copy(context) for context in contexts]
    thread = threading.Thread(
        target=_beat,
        args=(own, migration_uuid, done),
        name='xcell-lease-%s' % migration_uuid,
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        done.set()


def _beat(contexts, migration_uuid: str, done: threading.Event) -> None:
    interval = CONF.xcell.abandoned_after / BEATS
    while not done.wait(interval):
        for context in contexts:
            try:
                _touch(context, migration_uuid)
            except Exception as exc:
                LOG.warning(
                    'Migration %s could not be touched: %s',
                    migration_uuid,
                    exc,
                )

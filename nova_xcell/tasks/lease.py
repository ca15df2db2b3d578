# SPDX-License-Identifier: Apache-2.0
"""Who drives a move: told by how fresh its migration records are.

The conductor that drives a move touches its migration records again and
again. One that nobody has touched for a while has lost its conductor, and who
touches it first takes it over.
"""

from __future__ import annotations

import contextlib
import copy
import datetime
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

#: How much older the source's record is made than the target's. Of two records
#: of one migration nova-api shows the newer one, and databases may keep whole
#: seconds; it is the target's that says how far the move is.
SOURCE_LAG = datetime.timedelta(seconds=1)


@main_db_api.require_context
@main_db_api.pick_context_manager_writer
def _touch(context, migration_uuid: str, is_source: bool, seen=None) -> bool:
    now = timeutils.utcnow()
    query = context.session.query(models.Migration).filter_by(
        uuid=migration_uuid
    )
    if seen is not None:
        query = query.filter_by(updated_at=seen)
    return bool(
        query.update(
            {'updated_at': now - SOURCE_LAG if is_source else now},
            synchronize_session=False,
        )
    )


def last_move(context, instance_uuid: str) -> objects.Migration | None:
    """Return the last migration of a server here, if that crosses cells.

    An older move is over: what there is, is of a later operation.

    :param context: auth context targeted at the cell
    :param instance_uuid: UUID of the server
    """
    newest = max(
        objects.MigrationList.get_by_filters(
            context, {'instance_uuid': instance_uuid}
        ),
        key=lambda migration: migration.id,
        default=None,
    )
    return newest if newest is not None and newest.cross_cell_move else None


def is_abandoned(migration: objects.Migration, after: float) -> bool:
    """Tell whether nobody has touched a migration for a while.

    :param migration: its record in one cell
    :param after: seconds
    """
    touched = migration.updated_at or migration.created_at
    return timeutils.is_older_than(touched + SOURCE_LAG, after)


def take(migration: objects.Migration, is_source: bool) -> bool:
    """Take an abandoned move over.

    :param migration: its record as it was read
    :param is_source: whether that is the record of the source's cell
    :returns: False if somebody else was faster
    """
    return _touch(
        migration._context, migration.uuid, is_source, migration.updated_at
    )


@contextlib.contextmanager
def held(migration_uuid: str, source=None, target=None) -> ty.Iterator[None]:
    """Keep a move fresh while the body drives it.

    :param migration_uuid: UUID of the migration
    :param source: auth context targeted at the source's cell, if that has, or
        will have, a record of it
    :param target: the same for the target's cell
    """
    done = threading.Event()
    # A context has one database session; ours are used elsewhere meanwhile.
    own = [
        (copy.copy(context), context is source)
        for context in (source, target)
        if context is not None
    ]
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
        for context, is_source in contexts:
            try:
                _touch(context, migration_uuid, is_source)
            except Exception as exc:
                LOG.warning(
                    'Migration %s could not be touched: %s',
                    migration_uuid,
                    exc,
                )

# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the rows of consumers."""

from collections.abc import Iterable
from collections.abc import Mapping
import typing as ty

import sqlalchemy as sa

from placement import context as host_context
from placement import db_api
from placement import exception
from placement.handlers import util as host_util
from placement.objects import consumer as consumer_obj
from placement.objects import project as project_obj
from placement.objects import user as user_obj

from nova_xcell.placement import decisions
from nova_xcell.placement import statements

_TABLE = consumer_obj.CONSUMER_TBL
_PROJECTS = project_obj.PROJECT_TBL
_USERS = user_obj.USER_TBL


@db_api.placement_context_manager.reader
def read(
    ctx: host_context.RequestContext, uuids: Iterable[str]
) -> dict[str, consumer_obj.Consumer]:
    """Return consumers that exist.

    :param ctx: the context of the request
    :param uuids: their UUIDs
    :returns: consumers by the UUIDs they are stored with
    """
    rows = statements.select_in(
        ctx.session,
        sa.select(
            _TABLE.c.id,
            _TABLE.c.uuid,
            _TABLE.c.consumer_type_id,
            _PROJECTS.c.id.label('project_id'),
            _PROJECTS.c.external_id.label('project_external_id'),
            _USERS.c.id.label('user_id'),
            _USERS.c.external_id.label('user_external_id'),
            _TABLE.c.generation,
            _TABLE.c.updated_at,
            _TABLE.c.created_at,
        ).select_from(
            sa.join(
                sa.join(
                    _TABLE, _PROJECTS, _TABLE.c.project_id == _PROJECTS.c.id
                ),
                _USERS,
                _TABLE.c.user_id == _USERS.c.id,
            )
        ),
        _TABLE.c.uuid,
        uuids,
    )
    return {
        row.uuid: consumer_obj.Consumer._from_db_object(
            ctx, consumer_obj.Consumer(ctx), row._mapping
        )
        for row in rows
    }


@db_api.placement_context_manager.writer
def create(
    ctx: host_context.RequestContext,
    requested: Mapping[str, host_util.RequestAttr],
) -> list[consumer_obj.Consumer]:
    """Store new consumers, without any allocations.

    :param ctx: the context of the request
    :param requested: what a request says of each, by UUID
    :returns: these
    :raises: oslo_db.exception.DBDuplicateEntry
    """
    statements.insert(
        ctx.session,
        _TABLE,
        [
            {
                'uuid': uuid,
                'project_id': wanted.project.id,
                'user_id': wanted.user.id,
                'consumer_type_id': wanted.consumer_type_id,
            }
            for uuid, wanted in requested.items()
        ],
    )
    ids = {
        row.uuid: row.id
        for row in statements.select_in(
            ctx.session,
            sa.select(_TABLE.c.uuid, _TABLE.c.id),
            _TABLE.c.uuid,
            requested,
        )
    }
    return [
        consumer_obj.Consumer(
            ctx,
            id=ids[uuid],
            uuid=uuid,
            project=wanted.project,
            user=wanted.user,
            generation=0,
            consumer_type_id=wanted.consumer_type_id,
        )
        for uuid, wanted in requested.items()
    ]


@db_api.placement_context_manager.writer
def delete(ctx: host_context.RequestContext, ids: Iterable[int]) -> None:
    """Delete consumers.

    :param ctx: the context of the request
    :param ids: their ids
    """
    statements.execute_in(ctx.session, _TABLE.delete(), _TABLE.c.id, ids)


def update(
    session: ty.Any,
    generations: Mapping[int, int],
    values: Mapping[str, Mapping[int, int]],
) -> None:
    """Write who consumers belong to, and their types.

    A consumer that has changed in the meantime is left alone, as the host
    does it; the reshape will fail if it means anything to it.

    :param session: of the transaction
    :param generations: expected generation by consumer's id
    :param values: by name of a column, new value by consumer's id
    """
    for ids in decisions.chunks(generations):
        changes = {
            name: {key: column[key] for key in ids if key in column}
            for name, column in values.items()
        }
        session.execute(
            _TABLE.update()
            .where(
                _TABLE.c.id.in_(ids),
                _TABLE.c.generation
                == statements.by_id(
                    _TABLE,
                    _TABLE.c.generation,
                    {key: generations[key] for key in ids},
                ),
            )
            .values(
                {
                    name: statements.by_id(_TABLE, _TABLE.c[name], column)
                    for name, column in changes.items()
                    if column
                }
            )
        )


def increment(session: ty.Any, generations: Mapping[int, int]) -> None:
    """Add one to the generations of consumers, which locks their rows.

    :param session: of the transaction
    :param generations: expected generation by consumer's id
    :raises: placement.exception.ConcurrentUpdateDetected
    """
    # In this order, so that two reshapes wait instead of deadlocking.
    ids = sorted(generations)
    statements.execute_in(
        session,
        _TABLE.update().values(generation=_TABLE.c.generation + 1),
        _TABLE.c.id,
        ids,
    )
    found = {
        row.id: row.generation - 1
        for row in statements.select_in(
            session,
            sa.select(_TABLE.c.id, _TABLE.c.generation),
            _TABLE.c.id,
            ids,
        )
    }
    if found != generations:
        raise exception.ConcurrentUpdateDetected()


def delete_unused(
    ctx: host_context.RequestContext, uuids: Iterable[str]
) -> None:
    """Delete those consumers that have no allocations.

    :param ctx: the context of the request, in a transaction
    :param uuids: their UUIDs
    """
    for chunk in decisions.chunks(uuids):
        consumer_obj.delete_consumers_if_no_allocations(ctx, chunk)

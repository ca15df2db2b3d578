# SPDX-License-Identifier: Apache-2.0
"""Stands for ``placement.handlers.allocation`` in the handler of reshapes.

Everything the request names is read in a few statements before the
transaction begins. Whatever is not as the request expects is left to the
host's own functions, and so are the words of the answer.
"""

from collections.abc import Collection
from collections.abc import Iterable
import typing as ty

from oslo_db import exception as db_exc
from oslo_log import log as logging
import sqlalchemy as sa
import webob.exc

from placement import context as host_context
from placement import db_api
from placement import errors
from placement.db.sqlalchemy import models
from placement.handlers import allocation as host_allocation
from placement.handlers import util as host_util
from placement.objects import allocation as alloc_obj
from placement.objects import consumer as consumer_obj
from placement.objects import resource_provider as rp_obj

from nova_xcell.placement import consumers as consumer_rows
from nova_xcell.placement import decisions
from nova_xcell.placement import owners
from nova_xcell.placement import statements

_ALLOCATIONS = models.Allocation.__table__
_PROVIDERS = models.ResourceProvider.__table__

LOG = logging.getLogger(__name__)


def inspect_consumers(
    context: host_context.RequestContext,
    data: dict[str, dict],
    want_version: ty.Any,
) -> tuple[
    dict[str, consumer_obj.Consumer],
    list[consumer_obj.Consumer],
    dict[str, host_util.RequestAttr],
]:
    """Return the consumers of a request, and store those that are new.

    :param context: the context of the request
    :param data: what the request says, by consumer
    :param want_version: matcher of the microversion
    :returns: consumers by UUID; those that are new; what the request says of
        each, by UUID
    :raises: webob.exc.HTTPConflict if a generation is not as expected
    """
    known = consumer_rows.read(context, data)
    conflict = decisions.first_conflict(
        {uuid: each['consumer_generation'] for uuid, each in data.items()},
        {uuid: consumer.generation for uuid, consumer in known.items()},
    )
    sound = dict(data)
    if conflict is not None:
        # The host stores what comes before it, and then looks no further.
        uuids = list(data)
        sound = {uuid: data[uuid] for uuid in uuids[: uuids.index(conflict)]}
    requested = _requested(context, sound, want_version)
    if conflict is not None:
        _refuse(context, conflict, data[conflict], want_version)
    new = _create(
        context,
        {
            uuid: wanted
            for uuid, wanted in requested.items()
            if uuid not in known
        },
    )
    found = {**known, **{uuid: each for uuid, (each, _new) in new.items()}}
    return (
        {uuid: found[uuid] for uuid in data},
        [each for each, is_new in new.values() if is_new],
        requested,
    )


def _create(
    context: host_context.RequestContext,
    requested: dict[str, host_util.RequestAttr],
) -> dict[str, tuple[consumer_obj.Consumer, bool]]:
    """Store consumers.

    :returns: by UUID, each and whether it really was a new one
    """
    try:
        return {
            consumer.uuid: (consumer, True)
            for consumer in consumer_rows.create(context, requested)
        }
    except db_exc.DBDuplicateEntry:
        # Another request was faster, or the database takes two spellings
        # for one.
        return {
            uuid: host_util._create_consumer(context, uuid, *wanted)
            for uuid, wanted in requested.items()
        }


def delete_consumers(consumers: Collection[consumer_obj.Consumer]) -> None:
    """Delete the consumers that a request has stored before it failed.

    :param consumers: these
    """
    if not consumers:
        return
    context: ty.Any = next(iter(consumers))._context
    try:
        consumer_rows.delete(context, [each.id for each in consumers])
    except Exception as exc:
        # The request's own error is the one to be seen.
        LOG.warning(
            '%(count)d new consumers remain after a failed reshape: %(error)s',
            {'count': len(consumers), 'error': exc},
        )


def _requested(
    context: host_context.RequestContext,
    data: dict[str, dict],
    want_version: ty.Any,
) -> dict[str, host_util.RequestAttr]:
    projects = owners.projects(
        context, (each['project_id'] for each in data.values())
    )
    users = owners.users(context, (each['user_id'] for each in data.values()))
    types: dict[str | None, int | None] = {None: None}
    if want_version.matches((1, 38)):
        for each in data.values():
            name = each['consumer_type']
            if name not in types:
                types[name] = host_util.get_or_create_consumer_type_id(
                    context, name
                )
    return {
        uuid: host_util.RequestAttr(
            projects[each['project_id']],
            users[each['user_id']],
            types[each.get('consumer_type')],
        )
        for uuid, each in data.items()
    }


def _refuse(
    context: host_context.RequestContext,
    uuid: str,
    each: dict,
    want_version: ty.Any,
) -> ty.NoReturn:
    """Let the host say what is wrong with a consumer."""
    consumer, is_new, _requested = host_util.ensure_consumer(
        context,
        uuid,
        each['project_id'],
        each['user_id'],
        each['consumer_generation'],
        each.get('consumer_type'),
        want_version,
    )
    # It was changed a moment ago, so that the host finds nothing wrong.
    if is_new:
        delete_consumers([consumer])
    raise webob.exc.HTTPConflict(
        'consumer %s was changed by another request' % uuid,
        comment=errors.CONCURRENT_UPDATE,
    )


def create_allocation_list(
    context: host_context.RequestContext,
    data: dict[str, dict],
    consumers: dict[str, consumer_obj.Consumer],
) -> list[alloc_obj.Allocation]:
    """Return the allocations of a request.

    :param context: the context of the request
    :param data: what the request says, by consumer
    :param consumers: its consumers by UUID
    :returns: allocations; of consumers that lose theirs, those that are
        stored, with an amount of 0
    :raises: webob.exc.HTTPBadRequest if a provider does not exist
    """
    providers = _providers(
        context,
        dict.fromkeys(
            uuid for each in data.values() for uuid in each['allocations']
        ),
    )
    losing = _stored(
        context,
        {
            consumers[uuid].uuid: consumers[uuid]
            for uuid, each in data.items()
            if not each['allocations']
        },
    )
    result = []
    for uuid, each in data.items():
        consumer = consumers[uuid]
        result += losing.get(consumer.uuid, ())
        for provider, wanted in each['allocations'].items():
            if provider not in providers:
                # Not stored, or with another spelling.
                providers.update(
                    host_allocation._resource_providers_by_uuid(
                        context, [provider]
                    )
                )
            result += [
                alloc_obj.Allocation(
                    resource_provider=providers[provider],
                    consumer=consumer,
                    resource_class=name,
                    used=amount,
                )
                for name, amount in wanted['resources'].items()
            ]
    return result


@db_api.placement_context_manager.reader
def _providers(
    ctx: host_context.RequestContext, uuids: Iterable[str]
) -> dict[str, rp_obj.ResourceProvider]:
    rows = statements.select_in(
        ctx.session,
        sa.select(_PROVIDERS.c.id, _PROVIDERS.c.uuid, _PROVIDERS.c.generation),
        _PROVIDERS.c.uuid,
        uuids,
    )
    return {row.uuid: _provider(ctx, row) for row in rows}


def _provider(
    ctx: host_context.RequestContext, row: sa.Row
) -> rp_obj.ResourceProvider:
    return rp_obj.ResourceProvider(
        ctx, id=row.id, uuid=row.uuid, generation=row.generation
    )


@db_api.placement_context_manager.reader
def _stored(
    ctx: host_context.RequestContext,
    consumers: dict[str, consumer_obj.Consumer],
) -> dict[str, list[alloc_obj.Allocation]]:
    rows = statements.select_in(
        ctx.session,
        sa.select(
            _ALLOCATIONS.c.consumer_id,
            _ALLOCATIONS.c.resource_class_id,
            _PROVIDERS.c.id,
            _PROVIDERS.c.uuid,
            _PROVIDERS.c.generation,
        ).select_from(
            sa.join(
                _ALLOCATIONS,
                _PROVIDERS,
                _ALLOCATIONS.c.resource_provider_id == _PROVIDERS.c.id,
            )
        ),
        _ALLOCATIONS.c.consumer_id,
        consumers,
    )
    result: dict[str, list[alloc_obj.Allocation]] = {}
    for row in rows:
        result.setdefault(row.consumer_id, []).append(
            alloc_obj.Allocation(
                resource_provider=_provider(ctx, row),
                consumer=consumers[row.consumer_id],
                resource_class=ctx.rc_cache.string_from_id(
                    row.resource_class_id
                ),
                used=0,
            )
        )
    return result

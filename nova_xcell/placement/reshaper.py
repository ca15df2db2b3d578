# SPDX-License-Identifier: Apache-2.0
"""Stands for ``placement.objects.reshaper`` in the handler of reshapes."""

from collections.abc import Collection
from collections.abc import Mapping

import sqlalchemy as sa

from placement import context as host_context
from placement import db_api
from placement import exception
from placement.db.sqlalchemy import models
from placement.objects import allocation as alloc_obj
from placement.objects import inventory as inv_obj
from placement.objects import resource_provider as rp_obj

from nova_xcell.placement import consumers as consumer_rows
from nova_xcell.placement import decisions
from nova_xcell.placement import inventories as inventory_rows
from nova_xcell.placement import statements
from nova_xcell.placement import transaction
from nova_xcell.placement import usage

_ALLOCATIONS = models.Allocation.__table__
_PROVIDERS = models.ResourceProvider.__table__


@db_api.placement_context_manager.writer
def reshape(
    ctx: host_context.RequestContext,
    inventories: Mapping[
        rp_obj.ResourceProvider, Collection[inv_obj.Inventory]
    ],
    allocations: Collection[alloc_obj.Allocation],
) -> None:
    """Replace inventories of providers and allocations of consumers.

    The rows of providers and consumers are locked, by what their generations
    are incremented with, before anything else of them is read. Providers that
    only have allocations in the request may belong to many hosts, so these
    are locked as late as possible, and may have changed before.

    :param ctx: the context of the request
    :param inventories: all new inventories, by provider
    :param allocations: all new allocations of their consumers; amounts of 0
        stand for none
    :raises: placement.exception.ConcurrentUpdateDetected, NotFound and
        InvalidInventory, where the host's function raises them
    """
    transaction.begin(ctx)
    if len({provider.id for provider in inventories}) < len(inventories):
        # Two spellings of one UUID, in a database that does not mind.
        raise exception.ResourceProviderConcurrentUpdateDetected()
    rows = inventory_rows.Inventories(ctx, inventories)
    class_ids = {
        name: ctx.rc_cache.id_from_string(name)
        for name in dict.fromkeys(each.resource_class for each in allocations)
    }
    allocated = {each.resource_provider.id for each in allocations}
    _lock(ctx, rows, allocated)
    consumer_rows.increment(
        ctx.session,
        {each.consumer.id: each.consumer.generation for each in allocations},
    )
    rows.write()
    before = usage.before(ctx, allocated, class_ids)
    consumers = {each.consumer.uuid for each in allocations}
    statements.execute_in(
        ctx.session,
        _ALLOCATIONS.delete(),
        _ALLOCATIONS.c.consumer_id,
        consumers,
    )
    _lock_others(ctx, allocated.difference(rows.wanted))
    usage.check(ctx, allocations, before)
    statements.insert(
        ctx.session,
        _ALLOCATIONS,
        [
            {
                'resource_provider_id': each.resource_provider.id,
                'resource_class_id': class_ids[each.resource_class],
                'consumer_id': each.consumer.uuid,
                'used': each.used,
            }
            for each in allocations
            if each.used
        ],
    )
    consumer_rows.delete_unused(
        ctx,
        consumers.difference(
            each.consumer.uuid for each in allocations if each.used
        ),
    )
    rows.finish()


def _lock(
    ctx: host_context.RequestContext,
    rows: inventory_rows.Inventories,
    allocated: Collection[int],
) -> None:
    """Increment the generations of providers that get new inventories."""
    increments = decisions.increments(rows.wanted, allocated)
    for increment, ids in sorted(decisions.by_value(increments).items()):
        statements.execute_in(
            ctx.session,
            _PROVIDERS.update().values(
                generation=_PROVIDERS.c.generation + increment
            ),
            _PROVIDERS.c.id,
            sorted(ids),
        )
    found = {
        row.id: row.generation - increments[row.id]
        for row in statements.select_in(
            ctx.session,
            sa.select(_PROVIDERS.c.id, _PROVIDERS.c.generation),
            _PROVIDERS.c.id,
            increments,
        )
    }
    if found != {
        key: provider.generation for key, provider in rows.providers.items()
    }:
        raise exception.ResourceProviderConcurrentUpdateDetected()


def _lock_others(
    ctx: host_context.RequestContext, ids: Collection[int]
) -> None:
    """Increment the generations of providers that only have allocations."""
    changed = statements.execute_in(
        ctx.session,
        _PROVIDERS.update().values(generation=_PROVIDERS.c.generation + 1),
        _PROVIDERS.c.id,
        sorted(ids),
    )
    if changed != len(ids):
        # One of them is gone.
        raise exception.ResourceProviderConcurrentUpdateDetected()

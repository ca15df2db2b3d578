# SPDX-License-Identifier: Apache-2.0
"""Whether allocations fit: the host decides it, for all of them at once."""

from collections.abc import Collection
import inspect
import typing as ty

from placement import context as host_context
from placement.objects import allocation as alloc_obj

#: Placement 13 refuses what is over capacity even if it was worse before.
_KNOWS_WORSE = (
    'prev_usage'
    in inspect.signature(alloc_obj._check_capacity_exceeded).parameters
)


def before(
    ctx: host_context.RequestContext,
    providers: Collection[int],
    classes: Collection[str],
) -> ty.Any:
    """Return what is used before the reshape.

    :param ctx: the context of the request, in a transaction
    :param providers: ids of providers
    :param classes: names of resource classes
    :returns: for :func:`check`
    """
    if not _KNOWS_WORSE or not providers:
        return {}
    return alloc_obj._provider_usage_summary(ctx, providers, classes)


def check(
    ctx: host_context.RequestContext,
    allocations: Collection[alloc_obj.Allocation],
    previous: ty.Any,
) -> None:
    """Refuse allocations that do not fit.

    :param ctx: the context of the request, in a transaction that has deleted
        the consumers' allocations and not written the new ones
    :param allocations: the new ones
    :param previous: what :func:`before` has returned
    :raises: placement.exception.InvalidInventory
    """
    if not allocations:
        return
    if _KNOWS_WORSE:
        alloc_obj._check_capacity_exceeded(ctx, allocations, previous)
    else:
        alloc_obj._check_capacity_exceeded(ctx, allocations)

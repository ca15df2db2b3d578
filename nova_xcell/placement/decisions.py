# SPDX-License-Identifier: Apache-2.0
"""What a reshape changes: pure decisions, no host imports."""

import collections
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import itertools
import typing as ty

#: Rows that one statement reads or changes at most.
CHUNK = 1000

_Item = ty.TypeVar('_Item')
_Key = ty.TypeVar('_Key', bound=Hashable)
_Value = ty.TypeVar('_Value', bound=Hashable)


def chunks(items: Iterable[_Item], size: int = CHUNK) -> Iterator[list[_Item]]:
    """Cut something into lists that a statement can take.

    :param items: what is cut
    :param size: of a list, at most
    """
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


def by_value(values: Mapping[_Key, _Value]) -> dict[_Value, list[_Key]]:
    """Return keys that have a value in common.

    :param values: value by key
    :returns: keys by value
    """
    groups: dict[_Value, list[_Key]] = collections.defaultdict(list)
    for key, value in values.items():
        groups[value].append(key)
    return dict(groups)


def first_conflict(
    given: Mapping[str, int | None],
    generations: Mapping[str, int],
) -> str | None:
    """Return the first consumer whose generation is not what a request says.

    :param given: what it says, by consumer; None for one that must be new
    :param generations: what is stored, by consumer
    """
    for consumer, generation in given.items():
        if generation != generations.get(consumer):
            return consumer
    return None


def increments(
    inventories: Mapping[int, Collection],
    allocated: Collection[int],
) -> dict[int, int]:
    """Return by how much generations of providers grow.

    The host counts what it does: the inventory is set with what goes away
    still there, allocations are written, and what goes away is removed.

    :param inventories: new inventories by id of a provider
    :param allocated: ids of providers that allocations are for
    :returns: the increment by id, of the providers with new inventories
    """
    return {
        provider: 1 + bool(new) + (provider in allocated)
        for provider, new in inventories.items()
    }


@dataclasses.dataclass(frozen=True)
class InventoryChange:
    """What becomes of the inventories of a provider, by class ids.

    :ivar add: are new
    :ivar update: were there and stay
    :ivar delete: go away
    """

    add: frozenset[int]
    update: frozenset[int]
    delete: frozenset[int]


def inventory_change(
    before: Collection[int], after: Collection[int]
) -> InventoryChange:
    """Compare inventories.

    :param before: class ids of those that are stored
    :param after: class ids of those that are wanted
    """
    old, new = frozenset(before), frozenset(after)
    return InventoryChange(new - old, new & old, old - new)

# SPDX-License-Identifier: Apache-2.0
"""Find a child for what each consumer has: no host imports.

Whether all of them fit at all cannot be found out fast in general. Two good
guesses come first, and a search that gives up after a while.
"""

from __future__ import annotations

import dataclasses
import math
import typing as ty

from nova_xcell.reshaper import tree as tree_module

#: Steps of the search; some tenths of a second.
_BUDGET = 20000


@dataclasses.dataclass(frozen=True)
class Demand:
    """What has to go to one child as a whole.

    :ivar consumer: UUID
    :ivar amounts: by resource class
    :ivar only: UUID of the child it has to be; None for any
    :ivar held: by UUID of the child, what the consumer has there already
    """

    consumer: str
    amounts: tree_module.Amounts
    only: str | None = None
    held: ty.Mapping[str, tree_module.Amounts] = dataclasses.field(
        default_factory=dict
    )


class Rooms:
    """Children, and how much of each class is free there."""

    def __init__(
        self,
        inventories: ty.Mapping[str, tree_module.Inventories],
        used: ty.Mapping[str, tree_module.Amounts],
    ) -> None:
        """Look at the children.

        :param inventories: by UUID of the child
        :param used: the same, what is allocated
        """
        self.inventories = inventories
        self.free = {
            key: {
                name: math.floor(tree_module.capacity(inventory))
                - used.get(key, {}).get(name, 0)
                for name, inventory in each.items()
            }
            for key, each in inventories.items()
        }

    def fits(self, demand: Demand, key: str) -> bool:
        """Say whether a demand fits a child as it is now.

        :param demand: the demand
        :param key: UUID of the child
        """
        return self.allows(demand, key) and all(
            amount <= self.free[key][name]
            for name, amount in demand.amounts.items()
        )

    def allows(self, demand: Demand, key: str) -> bool:
        """Say whether a child may have a demand if there is enough room.

        :param demand: the demand
        :param key: UUID of the child
        """
        return self.why_not(demand, key) is None

    def why_not(self, demand: Demand, key: str) -> str | None:
        """Return what forbids a demand on a child, however empty it is.

        :param demand: the demand
        :param key: UUID of the child
        """
        if demand.only not in (None, key):
            return 'it has to be on another child'
        held = demand.held.get(key, {})
        for name, amount in demand.amounts.items():
            amount += held.get(name, 0)
            inventory = self.inventories[key][name]
            reason = tree_module.violated(amount, inventory)
            if reason is None and amount > tree_module.capacity(inventory):
                reason = '%d is more than its capacity of %d' % (
                    amount,
                    tree_module.capacity(inventory),
                )
            if reason:
                return '%s: %s' % (name, reason)
        return None

    def take(self, demand: Demand, key: str, sign: int = 1) -> None:
        """Take a demand's room from a child.

        :param demand: the demand
        :param key: UUID of the child
        :param sign: -1 gives it back
        """
        for name, amount in demand.amounts.items():
            self.free[key][name] -= sign * amount

    def left(self, demand: Demand, key: str) -> float:
        """Return the part of a child that stays free beside a demand.

        :param demand: the demand
        :param key: UUID of the child
        """
        return sum(
            (self.free[key][name] - amount)
            / max(tree_module.capacity(self.inventories[key][name]), 1)
            for name, amount in demand.amounts.items()
        )

    def size(self, demand: Demand) -> float:
        """Return how large a demand is, for an order.

        :param demand: the demand
        """
        whole = {
            name: sum(free.get(name, 0) for free in self.free.values())
            for name in demand.amounts
        }
        return max(
            amount / max(whole[name], 1)
            for name, amount in demand.amounts.items()
        )


def place(demands: list[Demand], rooms: Rooms) -> list[str | None]:
    """Choose a child for each demand, the same ones for the same input.

    :param demands: the demands
    :param rooms: the children; changed to what is free afterwards
    :returns: for each demand the UUID of its child; None if there is none
    """
    order = sorted(
        range(len(demands)),
        key=lambda index: (
            demands[index].only is None,
            -rooms.size(demands[index]),
            demands[index].consumer,
        ),
    )
    found = None
    for prefer in (min, max):
        guess = _guess(demands, order, rooms, prefer)
        if found is None or guess.count(None) < found.count(None):
            found = guess
        if None not in found:
            break
    else:
        if all(
            any(rooms.allows(demand, key) for key in rooms.free)
            for demand in demands
        ):
            found = _search(demands, order, rooms) or found
    for demand, key in zip(demands, found, strict=True):
        if key is not None:
            rooms.take(demand, key)
    return found


def _guess(demands, order, rooms, prefer) -> list[str | None]:
    """Give the largest demands first the fullest or emptiest child."""
    found: list[str | None] = [None] * len(demands)
    for index in order:
        demand = demands[index]
        keys = [key for key in rooms.free if rooms.fits(demand, key)]
        if keys:
            found[index] = prefer(
                keys, key=lambda key: (rooms.left(demand, key), key)
            )
            rooms.take(demand, found[index])
    for demand, key in zip(demands, found, strict=True):
        if key is not None:
            rooms.take(demand, key, -1)
    return found


def _search(demands, order, rooms) -> list[str] | None:
    """Try one way after the other; None if that takes too long."""
    ways: list[ty.Iterator[str]] = []
    chosen: list[str] = []
    for _ in range(_BUDGET):
        if len(ways) == len(chosen):
            if len(chosen) == len(order):
                break
            ways.append(iter(_ways(demands[order[len(chosen)]], rooms)))
        key = next(ways[-1], None)
        if key is not None:
            rooms.take(demands[order[len(chosen)]], key)
            chosen.append(key)
            continue
        ways.pop()
        if not ways:
            break
        rooms.take(demands[order[len(chosen) - 1]], chosen.pop(), -1)
    complete = len(chosen) == len(order)
    for index, key in zip(order, chosen, strict=False):
        rooms.take(demands[index], key, -1)
    if not complete:
        return None
    found = [''] * len(demands)
    for index, key in zip(order, chosen, strict=True):
        found[index] = key
    return found


def _ways(demand: Demand, rooms: Rooms) -> list[str]:
    """Return the children that a demand fits, but each kind only once."""
    seen = {}
    for key in rooms.free:
        if rooms.fits(demand, key):
            kind = tuple(sorted(rooms.free[key].items()))
            seen.setdefault(kind, key)
    return sorted(seen.values(), key=lambda key: rooms.left(demand, key))


def divide(demand: Demand, rooms: Rooms) -> dict[str, int] | None:
    """Take a demand of one class from several children.

    :param demand: of one class
    :param rooms: the children; changed to what is free afterwards
    :returns: by UUID of the child, the amount; None if there is not enough
    """
    ((name, wanted),) = demand.amounts.items()
    parts: dict[str, int] = {}
    keys = sorted(rooms.free, key=lambda key: (-rooms.free[key][name], key))
    for key in keys:
        part = Demand(
            demand.consumer, {name: wanted}, demand.only, demand.held
        )
        if wanted and rooms.fits(part, key):
            parts[key], wanted = wanted, 0
    for key in keys if wanted else ():
        inventory = rooms.inventories[key][name]
        amount = min(
            wanted,
            max(rooms.free[key][name], 0),
            inventory.get('max_unit', wanted),
        )
        amount -= amount % inventory.get('step_size', 1)
        part = Demand(
            demand.consumer, {name: amount}, demand.only, demand.held
        )
        if amount and rooms.fits(part, key):
            parts[key] = amount
            wanted -= amount
    if wanted:
        return None
    for key, amount in parts.items():
        rooms.take(Demand(demand.consumer, {name: amount}), key)
    return parts

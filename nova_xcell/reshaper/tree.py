# SPDX-License-Identifier: Apache-2.0
"""A provider tree as Placement knows it: no host imports."""

from __future__ import annotations

import dataclasses
import typing as ty

#: By resource class.
Amounts = dict[str, int]
Inventory = ty.Mapping[str, int | float]
Inventories = dict[str, Inventory]


@dataclasses.dataclass
class Provider:
    """A resource provider.

    :ivar uuid: its UUID
    :ivar name: its name
    :ivar generation: of the moment when its inventories were read
    :ivar parent: UUID of its parent; None for a root
    :ivar inventories: by resource class
    :ivar reported: what the host would have Placement know instead, by
        resource class; None if no host was asked. Where a class is only
        reported, nobody can have anything of it
    :ivar traits: names
    :ivar allocations: by UUID of the consumer, amounts; None if not read
    :ivar allocations_generation: of the moment when they were read
    """

    uuid: str
    name: str
    generation: int
    parent: str | None = None
    inventories: Inventories = dataclasses.field(default_factory=dict)
    reported: Inventories | None = None
    traits: frozenset[str] = frozenset()
    allocations: dict[str, Amounts] | None = None
    allocations_generation: int | None = None


@dataclasses.dataclass
class Consumer:
    """A consumer with all it has, inside and outside the tree.

    :ivar uuid: its UUID
    :ivar generation: of the moment when it was read
    :ivar project_id: its project
    :ivar user_id: its user
    :ivar allocations: by UUID of the provider, amounts
    """

    uuid: str
    generation: int
    project_id: str
    user_id: str
    allocations: dict[str, Amounts]


@dataclasses.dataclass
class Tree:
    """The providers of a node, and who has something of them.

    :ivar root: UUID of the root
    :ivar providers: by UUID
    :ivar consumers: by UUID; those at least whose allocations are to change
    :ivar sharing: providers outside the tree that share with it
    """

    root: str
    providers: dict[str, Provider]
    consumers: dict[str, Consumer] = dataclasses.field(default_factory=dict)
    sharing: dict[str, Provider] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the node."""
        return self.providers[self.root].name


@dataclasses.dataclass(frozen=True)
class Problem:
    """A reason why nothing can be sent.

    :ivar kind: a word for programs
    :ivar reason: for people
    :ivar consumer: UUID of the consumer, if it is about one
    """

    kind: str
    reason: str
    consumer: str | None = None


# Kinds of problems.
ALREADY = 'already'
CAPACITY = 'capacity'
CHANGED = 'changed'
FIT = 'fit'
GENERATION = 'generation'
NO_CHILD = 'no-child'
NOT_A_CHILD = 'not-a-child'
SHARING = 'sharing'
TOTAL = 'total'
UNIT = 'unit'


def capacity(inventory: Inventory) -> float:
    """Return how much of an inventory can be allocated.

    :param inventory: total, reserved and allocation_ratio count
    """
    return (inventory['total'] - inventory.get('reserved', 0)) * inventory.get(
        'allocation_ratio', 1.0
    )


def violated(amount: int, inventory: Inventory) -> str | None:
    """Return why one allocation of an inventory is not permitted.

    :param amount: of the allocation
    :param inventory: min_unit, max_unit and step_size count
    """
    for name, bad in (
        ('min_unit', lambda limit: amount < limit),
        ('max_unit', lambda limit: amount > limit),
        ('step_size', lambda limit: amount % limit),
    ):
        limit = inventory.get(name)
        if limit is not None and bad(limit):
            return '%d does not go with %s %d' % (amount, name, limit)
    return None

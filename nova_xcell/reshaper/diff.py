# SPDX-License-Identifier: Apache-2.0
"""A plan for people to read: no host imports."""

from __future__ import annotations

import collections
import difflib
import typing as ty

from nova_xcell.reshaper import plan as plan_module
from nova_xcell.reshaper import tree as tree_module


def lines(plan: plan_module.Plan) -> list[str]:
    """Return a tree with what a plan takes from it and adds to it.

    :param plan: the plan
    :returns: lines that begin with a blank, ``-`` or ``+``. Consumers stand
        below the classes that change, with what they have of them
    """
    before = {
        key: provider.inventories
        for key, provider in plan.tree.providers.items()
    }
    held_before = {
        uuid: change.consumer.allocations
        for uuid, change in plan.changes.items()
    }
    held_after = {uuid: change.after for uuid, change in plan.changes.items()}
    children = _children(plan)
    found = difflib.ndiff(
        list(_drawn(plan, children, before, held_before)),
        list(
            _drawn(
                plan,
                children,
                {**before, **plan.inventories},
                held_after,
                plan.traits,
            )
        ),
        linejunk=None,
        charjunk=None,
    )
    # Without the hints that point at letters.
    return [line[0] + line[1:] for line in found if not line.startswith('?')]


def _children(plan) -> dict[str | None, list[str]]:
    """Return UUIDs by that of the parent, in the order of their names."""
    parents = {
        key: provider.parent for key, provider in plan.tree.providers.items()
    }
    parents.update({new.uuid: new.parent for new in plan.new})
    children = collections.defaultdict(list)
    for key in sorted(parents, key=lambda key: plan.names[key]):
        children[parents[key]].append(key)
    return children


def _drawn(
    plan,
    children: dict[str | None, list[str]],
    inventories: ty.Mapping[str, tree_module.Inventories],
    held: ty.Mapping[str, ty.Mapping[str, tree_module.Amounts]],
    traits: ty.Mapping[str, frozenset[str]] | None = None,
    key: str | None = None,
    depth: int = 0,
) -> ty.Iterator[str]:
    key = key or plan.tree.root
    indent = '    ' * depth
    if key in inventories:
        yield indent + plan.names[key]
    for name in sorted((traits or {}).get(key, ())):
        yield '%s  trait %s' % (indent, name)
    for name, inventory in sorted(inventories.get(key, {}).items()):
        yield '%s  %s %s' % (indent, name, _spelled(inventory))
        if (key, name) not in plan.touched:
            continue
        for uuid in sorted(held):
            amount = held[uuid].get(key, {}).get(name)
            if amount:
                yield '%s    %d for %s' % (indent, amount, uuid)
    for child in children.get(key, ()):
        yield from _drawn(
            plan, children, inventories, held, traits, child, depth + 1
        )


def _spelled(inventory: tree_module.Inventory) -> str:
    text = '%d' % inventory['total']
    if inventory.get('reserved'):
        text += ', %d reserved' % inventory['reserved']
    if inventory.get('allocation_ratio', 1.0) != 1.0:
        text += ', ratio %g' % inventory['allocation_ratio']
    return text

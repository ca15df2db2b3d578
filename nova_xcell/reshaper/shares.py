# SPDX-License-Identifier: Apache-2.0
"""Divide an inventory among children: no host imports."""

from __future__ import annotations

import collections.abc

from nova_xcell.reshaper import tree as tree_module


def divide(
    inventory: tree_module.Inventory,
    told: collections.abc.Sequence[tree_module.Inventory | None],
) -> list[tree_module.Inventory] | str:
    """Divide an inventory.

    :param inventory: what is divided
    :param told: for each child what the rule says; of all of them or of none
    :returns: what each child gets, or why that cannot be done
    """
    total = inventory['total']
    if told[0] is None:
        least, more = divmod(total, len(told))
        totals = [least + (index < more) for index in range(len(told))]
        if not least:
            return '%d cannot be divided by %d children' % (total, len(told))
    else:
        totals = [each['total'] for each in told]
        if sum(totals) != total:
            return 'it has %d, the children in the rule have %d' % (
                total,
                sum(totals),
            )
    reserved = _reserved(inventory.get('reserved', 0), totals)
    parts = []
    for index, each in enumerate(totals):
        part = {**inventory, 'total': each, 'reserved': reserved[index]}
        if 'max_unit' in inventory:
            part['max_unit'] = min(inventory['max_unit'], each)
        part.update(told[index] or {})
        if part['reserved'] > each:
            return '%d of %d are reserved' % (part['reserved'], each)
        parts.append(part)
    return parts


def _reserved(reserved: int, totals: list[int]) -> list[int]:
    """Divide what is reserved in proportion to the totals."""
    whole = sum(totals)
    parts = [reserved * total // whole for total in totals]
    left = reserved - sum(parts)
    for index, total in enumerate(totals):
        more = min(left, total - parts[index], 1)
        parts[index] += max(more, 0)
        left -= max(more, 0)
    return parts

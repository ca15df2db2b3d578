# SPDX-License-Identifier: Apache-2.0
"""Contexts for the cells of the deployment."""

from __future__ import annotations

from collections.abc import Iterator
import copy

from nova import context as nova_context
from nova import objects


def targeted(context, cell: objects.CellMapping):
    """Return a copy of a context that is targeted at a cell for good.

    :param context: auth context
    :param cell: the cell
    """
    context = copy.copy(context)
    nova_context.set_target_cell(context, cell)
    return context


def each(context) -> Iterator[objects.CellMapping]:
    """Go through the cells that have hosts.

    :param context: auth context
    """
    for cell in objects.CellMappingList.get_all(context):
        if not cell.is_cell0():
            yield cell

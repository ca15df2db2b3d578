# SPDX-License-Identifier: Apache-2.0
"""Which records of a cell are only the copy of a server in another one.

While a server moves, and until the move is confirmed or reverted, there is a
record of it in two cells. The one that the server does not live by is marked
as hidden, on its own side, so that no other database has to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from nova import objects


def servers(context, uuids: Iterable[str]) -> set[str]:
    """Return those of some servers of which a cell has the hidden record.

    :param context: auth context targeted at the cell
    :param uuids: uuids of servers
    """
    wanted = set(uuids)
    if not wanted:
        return set()
    found = objects.InstanceList.get_by_filters(
        # What belongs to another project is hidden as well.
        context.elevated(),
        {'uuid': sorted(wanted), 'hidden': True, 'deleted': False},
        expected_attrs=[],
    )
    return {instance.uuid for instance in found}

# SPDX-License-Identifier: Apache-2.0
"""What a server takes along when it goes back (XC-14)."""

from __future__ import annotations

from nova import rpc
from nova.conductor.tasks import cross_cell_migrate

from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import services


def bring_back(move: xcell_move.Move, clients: services.Services) -> None:
    """Write what has changed at the target to the source, and show it there.

    See the host's RevertResizeTask, whose first half this is.

    :param move: the move; the user has decided to revert it
    :param clients: of the services
    """
    source, target = move.source, move.target
    target.migration.status = 'reverting'
    target.migration.save()
    task = cross_cell_migrate.RevertResizeTask(
        target.context,
        target.instance,
        target.migration,
        rpc.LegacyValidatingNotifier(),
        clients.compute,
    )
    task._update_instance_in_source_cell(source.instance)
    task._update_instance_mapping(source.instance, source.cell)
    move.refresh()

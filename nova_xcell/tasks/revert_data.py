# SPDX-License-Identifier: Apache-2.0
"""What a server takes along when it goes back (XC-14)."""

from __future__ import annotations

from nova import objects
from nova.conductor.tasks import cross_cell_migrate

from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import services


class _Task(cross_cell_migrate.RevertResizeTask):
    def _update_instance_actions_in_source_cell(self, source_cell_context):
        known = {
            action.request_id
            for action in objects.InstanceActionList.get_by_instance_uuid(
                source_cell_context, self.instance.uuid
            )
        }
        for action in objects.InstanceActionList.get_by_instance_uuid(
            self.context, self.instance.uuid
        ):
            if action.request_id in known:
                continue
            events = objects.InstanceActionEventList.get_by_action(
                self.context, action.id
            )
            cross_cell_migrate.clone_creatable_object(
                source_cell_context, action
            ).create()
            for event in events:
                cross_cell_migrate.clone_creatable_object(
                    source_cell_context, event
                ).create(action.instance_uuid, action.request_id)


def bring_back(move: xcell_move.Move, clients: services.Services) -> None:
    """Write what has changed at the target to the source, and show it there.

    See the host's RevertResizeTask, whose first half this is.

    :param move: the move; the user has decided to revert it
    :param clients: of the services
    """
    source, target = move.source, move.target
    target.migration.status = 'reverting'
    target.migration.save()
    task = _Task(
        target.context,
        target.instance,
        target.migration,
        # Nothing is sent here.
        legacy_notifier=None,
        compute_rpcapi=clients.compute,
    )
    task._update_instance_in_source_cell(source.instance)
    task._update_instance_mapping(source.instance, source.cell)
    move.refresh()

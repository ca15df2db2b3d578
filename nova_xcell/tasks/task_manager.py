# SPDX-License-Identifier: Apache-2.0
"""ComputeTaskManager that does not free a server whose move waits."""

from __future__ import annotations

from nova import exception as nova_exception
from nova import objects
from nova.conductor import manager

from nova_xcell.compute import work


class ComputeTaskManager(manager.ComputeTaskManager):
    """The host's class; its ConductorManager finds it under that name."""

    def _set_vm_state_and_notify(
        self, context, instance_uuid, method, updates, ex, request_spec
    ):
        """Record a failure.

        See the host's method. A server whose move could not be undone yet
        keeps its task.

        :param context: auth context targeted at the cell of the server
        :param instance_uuid: UUID of the server
        :param method: what has failed
        :param updates: new values of the server by field
        :param ex: how it has failed
        :param request_spec: nova.objects.RequestSpec of the server
        """
        if method == 'migrate_server' and _waits(context, instance_uuid):
            updates = {
                field: value
                for field, value in updates.items()
                if field != 'task_state'
            }
        super()._set_vm_state_and_notify(
            context, instance_uuid, method, updates, ex, request_spec
        )


def _waits(context, instance_uuid: str) -> bool:
    try:
        instance = objects.Instance.get_by_uuid(
            context, instance_uuid, expected_attrs=['system_metadata']
        )
    except nova_exception.InstanceNotFound:
        return False
    return work.WAITS in instance.system_metadata

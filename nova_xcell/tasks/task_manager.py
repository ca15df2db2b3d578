# SPDX-License-Identifier: Apache-2.0
"""ComputeTaskManager: which servers may move, and which are free again."""

from __future__ import annotations

from nova import exception as nova_exception
from nova import objects
from nova.conductor import manager

from nova_xcell.compute import work
from nova_xcell.tasks import obstacles


class ComputeTaskManager(manager.ComputeTaskManager):
    """The host's class; its ConductorManager finds it under that name."""

    def _cold_migrate(
        self,
        context,
        instance,
        flavor,
        filter_properties,
        clean_shutdown,
        request_spec,
        host_list,
    ):
        """Resize or migrate a server.

        See the host's method. Ports with a resource request do not keep a
        server in its cell if nova-api says so (XC-24).

        :param context: auth context targeted at the cell of the server
        :param instance: the server
        :param flavor: the flavor it gets
        :param filter_properties: see the host's method
        :param clean_shutdown: see the host's method
        :param request_spec: nova.objects.RequestSpec of the server
        :param host_list: alternates, if a first host could not take it
        """
        if obstacles.ports_may_move(
            context.request_id, instance.system_metadata
        ):
            request_spec.requested_destination.allow_cross_cell_move = True
        super()._cold_migrate(
            context,
            instance,
            flavor,
            filter_properties,
            clean_shutdown,
            request_spec,
            host_list,
        )

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

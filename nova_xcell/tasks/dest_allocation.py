# SPDX-License-Identifier: Apache-2.0
"""What a move holds in placement for its destination."""

from __future__ import annotations

from oslo_serialization import jsonutils

from nova import exception as nova_exception
from nova import objects
from nova.scheduler import utils as scheduler_utils
from nova.scheduler.client import report


def release(
    context,
    instance: objects.Instance,
    migration: objects.Migration,
    selection: objects.Selection,
) -> None:
    """Remove the allocation for a destination host that was not taken.

    A claim would be merged with what is left.

    :param context: auth context
    :param instance: the server
    :param migration: the migration, which holds the source's resources
    :param selection: the host
    :raises: nova.exception.AllocationDeleteFailed, and what else the report
        client raises
    """
    client = report.report_client_singleton()
    if client.get_allocs_for_consumer(context, migration.uuid)['allocations']:
        released = client.delete_allocation_for_instance(
            context, instance.uuid
        )
    else:
        # The host found nothing to hand over to the migration, so the server
        # may hold the source's resources besides.
        released = client.remove_provider_tree_from_instance_allocation(
            context, instance.uuid, selection.compute_node_uuid
        )
    if released is None:
        # The client has swallowed that placement cannot be reached.
        raise nova_exception.AllocationDeleteFailed(
            consumer_uuid=instance.uuid, error='no answer from placement'
        )


def claim(
    context,
    instance: objects.Instance,
    request_spec: objects.RequestSpec,
    selection: objects.Selection,
) -> bool:
    """Claim the resources of an alternate host, and map its providers.

    See nova.conductor.tasks.migrate.MigrationTask._reschedule.

    :param context: auth context
    :param instance: the server
    :param request_spec: gets the providers of the resource groups
    :param selection: the alternate
    :returns: False if placement does not have the resources any more
    """
    if selection.allocation_request:
        # Empty, as everywhere in the host, with a scheduler that does
        # without placement.
        if not scheduler_utils.claim_resources(
            context.elevated(),
            report.report_client_singleton(),
            request_spec,
            instance.uuid,
            jsonutils.loads(selection.allocation_request),
            selection.allocation_request_version,
        ):
            return False
    scheduler_utils.fill_provider_mapping(request_spec, selection)
    return True

# SPDX-License-Identifier: Apache-2.0
"""Whether nova-api may offer other cells to a request, and why not."""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.policies import servers as host_policies

from nova_xcell.policies import losing
from nova_xcell.tasks import endpoint
from nova_xcell.tasks import obstacles
from nova_xcell.tasks import old_peers
from nova_xcell.tasks import server_facts

LOG = logging.getLogger(__name__)


class CrossCellMoveRefused(nova_exception.ExtendedResourceRequestOldCompute):
    """A request that names a host which it cannot have.

    The host's controllers answer its base class with 400 and the message, for
    resize, cold migration and evacuation, in every supported release.
    """

    msg_fmt = '%(reason)s'


def is_permitted(context, instance: objects.Instance) -> bool:
    """Tell whether the policy allows moves to another cell at all.

    :param context: auth context of the request
    :param instance: the server
    """
    return bool(
        context.can(
            host_policies.CROSS_CELL_RESIZE,
            target=_target(instance),
            fatal=False,
        )
    )


def find(
    context,
    instance: objects.Instance,
    flavor: objects.Flavor,
    network_api,
    oldest_compute: int,
) -> tuple[obstacles.Obstacle, ...]:
    """List what keeps a server from moving to another cell.

    What the policy allows to be lost is noted in the system metadata of the
    server, for nova-conductor, and only for this request.

    :param context: auth context of the request
    :param instance: the server; saved by the caller
    :param flavor: the flavor it gets
    :param network_api: nova.network.neutron.API
    :param oldest_compute: service version of the oldest nova-compute
    """
    may_lose = [
        kind
        for rule, kind in losing.KINDS.items()
        if context.can(rule, target=_target(instance), fatal=False)
    ]
    if may_lose:
        instance.system_metadata[obstacles.MAY_LOSE] = obstacles.grant(
            context.request_id, may_lose
        )
    else:
        instance.system_metadata.pop(obstacles.MAY_LOSE, None)
    facts = server_facts.collect(context, instance, flavor, network_api)
    found = obstacles.find(facts, may_lose)
    if oldest_compute < old_peers.COMPUTE_VERSION:
        found += (
            obstacles.Obstacle(
                obstacles.OLD_COMPUTE,
                'there is a nova-compute of service version %d, and %d is '
                'needed' % (oldest_compute, old_peers.COMPUTE_VERSION),
            ),
        )
    if facts.port_requests and not (
        endpoint.ConductorXcellAPI().has_plugins(context)
    ):
        found += (obstacles.port_requests_at('nova-conductor'),)
    return found or _old_peers(context, instance, network_api)


def _old_peers(
    context, instance: objects.Instance, network_api
) -> tuple[obstacles.Obstacle, ...]:
    try:
        return tuple(old_peers.external(context, instance, network_api))
    except Exception:
        # A move within the cell may not need them; nova-conductor asks again
        # if the server goes elsewhere.
        LOG.warning(
            'Networking or block storage service did not say whether they '
            'are new enough for a move to another cell.',
            instance=instance,
            exc_info=True,
        )
        return ()


def is_in_another_cell(context, instance: objects.Instance, host: str) -> bool:
    """Tell whether a host is in another cell than a server.

    :param context: auth context of the request
    :param instance: the server
    :param host: name of the host
    :returns: False also for a host that no cell has
    """
    try:
        theirs = objects.HostMapping.get_by_host(context, host).cell_mapping
    except nova_exception.HostMappingNotFound:
        return False
    ours = objects.InstanceMapping.get_by_instance_uuid(
        context, instance.uuid
    ).cell_mapping
    return theirs.uuid != ours.uuid


def _target(instance: objects.Instance) -> dict[str, str]:
    return {'user_id': instance.user_id, 'project_id': instance.project_id}

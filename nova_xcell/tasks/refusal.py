# SPDX-License-Identifier: Apache-2.0
"""Refuse a move before anything of it exists (XC-22, XC-26)."""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects

from nova_xcell import exception
from nova_xcell.compute import endpoint
from nova_xcell.tasks import obstacles
from nova_xcell.tasks import old_peers
from nova_xcell.tasks import server_facts

LOG = logging.getLogger(__name__)


def check(
    context,
    instance: objects.Instance,
    flavor: objects.Flavor,
    selection: objects.Selection,
    network_api,
) -> obstacles.Facts:
    """Refuse a server that cannot move to the cell of the selected host.

    What may be lost has been decided by nova-api, which has the policy file.

    :param context: auth context targeted at the cell of the server
    :param instance: the server
    :param flavor: the flavor it gets
    :param selection: the destination host
    :param network_api: nova.network.neutron.API
    :returns: the facts about a server that can
    :raises: nova.exception.MigrationPreCheckError with every reason
    """
    facts = server_facts.collect(context, instance, flavor, network_api)
    may_lose = obstacles.granted(
        context.request_id, instance.system_metadata.get(obstacles.MAY_LOSE)
    )
    found = [
        *obstacles.find(facts, may_lose),
        *old_peers.external(context, instance, network_api),
        *old_peers.computes(context, instance, selection),
    ]
    if facts.port_requests and not _has_plugins(context, instance.host):
        # Nothing could bring the server back (XC-24).
        found.append(
            obstacles.port_requests_at('nova-compute on %s' % instance.host)
        )
    if found:
        raise nova_exception.MigrationPreCheckError(
            reason=obstacles.summary(found)
        )
    for lost in obstacles.find(facts):
        LOG.warning(
            'Moving the server to another cell although %s; the policy '
            'allows it.',
            lost.reason,
            instance=instance,
        )
    return facts


def _has_plugins(context, host: str) -> bool:
    try:
        endpoint.ComputeXcellAPI().ping(context, host)
    except exception.PeerWithoutPlugin:
        return False
    return True

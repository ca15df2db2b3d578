# SPDX-License-Identifier: Apache-2.0
"""Providers of ports with a resource request, on either host of a move.

The host tells Neutron from which resource provider a port gets what it asks
for whenever a server arrives somewhere, except after a move to another cell:
there it has no request spec to tell it, and refuses (XC-24). But the binding
of the port to this host says it: that of the destination was made by
nova-conductor, see :mod:`nova_xcell.tasks.dest_bindings`, and that of the
source is the one the server had.
"""

from __future__ import annotations

from collections.abc import Iterable

from nova.network import constants
from nova.network import neutron


def mappings(ports: Iterable[dict], host: str) -> dict[str, list[str]]:
    """Return which providers the bindings of some ports name.

    :param ports: the ports, as Neutron shows them to an administrator
    :param host: the bindings to this host count
    :returns: list of one provider's UUID by group of the resource request,
        which is the port itself where a port has one group only
    """
    found: dict[str, list[str]] = {}
    for port in ports:
        profile = neutron.get_binding_profile(port)
        allocation = profile.get(constants.ALLOCATION)
        if port.get(constants.BINDING_HOST_ID) != host or not allocation:
            continue
        if not isinstance(allocation, dict):
            allocation = {port['id']: allocation}
        for group, provider in allocation.items():
            found[group] = [provider]
    return found


class API(neutron.API):
    """The host's client of Neutron, for nova-compute."""

    def migrate_instance_finish(
        self, context, instance, migration, provider_mappings
    ):
        """Bring the ports of a server that has arrived up to date.

        See the host's method.

        :param context: auth context
        :param instance: the server
        :param migration: its move; ``dest_compute`` is this host, also when
            the server comes back
        :param provider_mappings: see the host's method
        """
        if not provider_mappings and migration.cross_cell_move:
            ports = neutron.get_client(context, admin=True).list_ports(
                device_id=instance.uuid
            )['ports']
            provider_mappings = mappings(ports, migration.dest_compute)
        super().migrate_instance_finish(
            context, instance, migration, provider_mappings
        )

# SPDX-License-Identifier: Apache-2.0
"""Port bindings of a destination host that the agent of Neutron 29 wires.

The Open vSwitch agent of Neutron 29 takes an inactive binding on another host
for the target of a live migration and leaves the port alone. After a
cross-cell move the source's binding is such a one: it is the way back. The
agent looks at the profile of the active binding first, so that says where the
port is going: to the host it is bound to.
"""

from __future__ import annotations

from nova.network import constants
from nova.network import neutron

#: The mechanism driver of that agent. OVN must not see the mark: it would
#: block the port until a guest that migrates live announces itself.
MECHANISM_DRIVER = 'openvswitch'


def is_wired_by_agent(vif) -> bool:
    """Tell whether a port is wired by the Open vSwitch agent.

    :param vif: nova.network.model.VIF
    """
    drivers = (vif['details'] or {}).get('bound_drivers') or {}
    return MECHANISM_DRIVER in drivers.values()


class BindingAPI(neutron.API):
    """The host's client of Neutron, with a profile for a destination."""

    def bind_ports_to_host(
        self, context, instance, host, vnic_types=None, port_profiles=None
    ):
        """Bind the ports of a server to a destination host.

        :param context: auth context
        :param instance: the server
        :param host: the destination
        :param vnic_types: see the host's method
        :param port_profiles: see the host's method
        :returns: binding by port
        """
        profiles = dict(port_profiles or {})
        for vif in instance.get_network_info():
            if is_wired_by_agent(vif):
                profiles[vif['id']] = {
                    **profiles.get(vif['id'], vif['profile'] or {}),
                    constants.MIGRATING_ATTR: host,
                }
        return super().bind_ports_to_host(
            context, instance, host, vnic_types, profiles
        )

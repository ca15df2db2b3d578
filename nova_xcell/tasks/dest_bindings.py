# SPDX-License-Identifier: Apache-2.0
"""Port bindings of a destination host: what they have to say.

The Open vSwitch agent of Neutron 29 takes an inactive binding on another host
for the target of a live migration and leaves the port alone. After a
cross-cell move the source's binding is such a one: it is the way back. The
agent looks at the profile of the active binding first, so that says where the
port is going: to the host it is bound to.

A port with a resource request gets what it asks for from a resource provider
of the host (XC-24). Neutron has to know which.
"""

from __future__ import annotations

from nova import objects
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
    """The host's client of Neutron, with a profile for a destination.

    :param request_spec: says what placement has chosen for the ports, when
        ports are to be bound; None if none are
    """

    def __init__(
        self, request_spec: objects.RequestSpec | None = None
    ) -> None:
        super().__init__()
        self._request_spec = request_spec

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
            says = self._provider_of(context, vif['id'])
            if is_wired_by_agent(vif):
                says[constants.MIGRATING_ATTR] = host
            if says:
                profile = profiles.get(vif['id'], vif['profile'] or {})
                profiles[vif['id']] = {**profile, **says}
        return super().bind_ports_to_host(
            context, instance, host, vnic_types, profiles
        )

    def _provider_of(self, context, port_id: str) -> dict:
        chosen = (
            self._request_spec
            and self._request_spec.get_request_group_mapping()
        )
        if not chosen:
            return {}
        provider = self.get_binding_profile_allocation(
            context, port_id, chosen
        )
        return {constants.ALLOCATION: provider} if provider else {}

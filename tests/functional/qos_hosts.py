# SPDX-License-Identifier: Apache-2.0
"""Base of tests with hosts whose networks have a bandwidth to give away."""

from oslo_utils import uuidutils

from tests.functional import refusals

PHYSNET = 'CUSTOM_PHYSNET2'
NORMAL = 'CUSTOM_VNIC_TYPE_NORMAL'
KBIT = ('NET_BW_EGR_KILOBIT_PER_SEC', 'NET_BW_IGR_KILOBIT_PER_SEC')


class QosHostsTest(refusals.RefusalTest):
    """Each host has a bridge, as an agent of Neutron reports it."""

    def setUp(self):
        super().setUp()
        #: Providers of the bridges by host.
        self.bridges = {
            host: self.add_provider(
                host, 'Open vSwitch agent', 'br-physnet2', NORMAL
            )
            for host in self.computes
        }

    def add_provider(self, host, agent, interface, vnic_type):
        """Report an interface with a bandwidth, and return its provider."""
        parent = self._get_provider_uuid_by_name(host)
        name = host
        for part in (agent, interface):
            name = '%s:%s' % (name, part)
            uuid = uuidutils.generate_uuid()
            self.placement.post(
                '/resource_providers',
                version='1.20',
                body={
                    'name': name,
                    'uuid': uuid,
                    'parent_provider_uuid': parent,
                },
            )
            parent = uuid
        self.placement.put(
            '/resource_providers/%s/inventories' % parent,
            version='1.20',
            body={
                'resource_provider_generation': 0,
                'inventories': {name: {'total': 100000} for name in KBIT},
            },
        )
        for trait in (PHYSNET, vnic_type):
            self._create_trait(trait)
        self._set_provider_traits(parent, [PHYSNET, vnic_type])
        return parent

    def boot_with_request(self):
        """Boot a server with a port that is promised a bandwidth."""
        port = self.neutron.create_port({'port': {}})['port']['id']
        request = self.neutron.port_with_resource_request['resource_request']
        self.neutron._ports[port]['resource_request'] = request
        self.boot_flavor(networks=[{'port': port}])
        self.ports[self.server['id']] = [port]
        self.port = port
        self.look()
        self.assert_promised_by('host1')

    def assert_promised_by(self, host):
        """The bridge of a host is what the port has, and no other."""
        profile = self.neutron.show_port(self.port)['port']['binding:profile']
        self.assertEqual(self.bridges[host], profile['allocation'])
        self.assertEqual(1000, self.promised(host, self.server['id']))

    def promised(self, host, consumer):
        """Return how much a consumer has of the bandwidth of a host."""
        held = self.placement.get('/allocations/%s' % consumer).body[
            'allocations'
        ]
        resources = held.get(self.bridges[host], {}).get('resources', {})
        return resources.get(KBIT[0], 0)

    def act(self, action, status):
        self.api.post_server_action(self.server['id'], action)
        self.server = self.wait_for_rest(self.server)
        self.assertEqual(status, self.server['status'])

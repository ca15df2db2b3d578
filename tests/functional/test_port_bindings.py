# SPDX-License-Identifier: Apache-2.0
"""Port bindings of a move that the agent of Neutron 29 wires (XC-12)."""

import fixtures

from tests.embedded import cloud


class TestPortBindings(cloud.TwoCellCloud):
    def boot(self, driver):
        """Boot a server whose port a mechanism driver has bound."""
        create_port = self.neutron.create_port

        def create_bound_port(body):
            port = create_port(body)
            self.neutron._ports[port['port']['id']]['binding:vif_details'] = {
                'bound_drivers': {'0': driver}
            }
            return port

        with fixtures.MonkeyPatch(
            'nova.tests.fixtures.NeutronFixture.create_port',
            lambda neutron, body: create_bound_port(body),
        ):
            return self.create_server()

    def targets(self, server):
        """Return what each binding names as the target of a move, by host."""
        return {
            host: (binding.get('profile') or {}).get('migrating_to')
            for port in self.ports[server['id']]
            for host, binding in self.neutron._port_bindings[port].items()
        }

    def test_destination_names_itself_until_confirmed(self):
        """Neutron 29 takes the source's binding for the target otherwise."""
        server = self.boot('openvswitch')
        server = self.resize(server, host='host2')
        self.assertEqual('host2', self.targets(server)['host2'])
        server = self.confirm(server)
        self.assertEqual({'host2': None}, self.targets(server))

    def test_nothing_of_it_remains_after_a_revert(self):
        server = self.boot('openvswitch')
        server = self.resize(server, host='host2')
        server = self.revert(server)
        self.assertEqual({'host1': None}, self.targets(server))

    def test_other_drivers_do_not_see_it(self):
        """OVN would block the port of a server that does not live-migrate."""
        server = self.boot('ovn')
        server = self.resize(server, host='host2')
        self.assertIsNone(self.targets(server)['host2'])
        server = self.confirm(server)
        self.assertEqual({'host2': None}, self.targets(server))

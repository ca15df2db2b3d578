# SPDX-License-Identifier: Apache-2.0
"""Port bindings of a move that every Neutron wires (XC-12)."""

from tests.embedded import cloud


class TestPortBindings(cloud.TwoCellCloud):
    def targets(self, server):
        """Return what each binding names as the target of a move, by host."""
        return {
            host: (binding.get('profile') or {}).get('migrating_to')
            for port in self.ports[server['id']]
            for host, binding in self.neutron._port_bindings[port].items()
        }

    def test_destination_names_itself_until_confirmed(self):
        """Neutron 29 takes the source's binding for the target otherwise."""
        server = self.create_server()
        server = self.resize(server, host='host2')
        self.assertEqual('host2', self.targets(server)['host2'])
        server = self.confirm(server)
        self.assertEqual({'host2': None}, self.targets(server))

    def test_nothing_of_it_remains_after_a_revert(self):
        server = self.create_server()
        server = self.resize(server, host='host2')
        server = self.revert(server)
        self.assertEqual({'host1': None}, self.targets(server))

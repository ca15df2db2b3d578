# SPDX-License-Identifier: Apache-2.0
"""Ports with resource requests stay, and the user is told (XC-24)."""

from tests.functional import refusals


class TestQosPort(refusals.RefusalTest):
    def boot_with_request(self):
        """Boot a server whose port gets a QoS policy with a bandwidth."""
        server = self.boot()
        (port,) = self.ports[server['id']]
        request = self.neutron.port_with_resource_request['resource_request']
        self.neutron._ports[port]['resource_request'] = request

    def test_user_is_told(self):
        self.boot_with_request()
        error = self.migrate_and_fail()
        self.assertEqual(400, error.response.status_code)
        self.assertIn('Host host2 is in another cell', str(error))
        self.assertIn('resource request (QoS)', str(error))
        # No other host of the cell has what the port asks for.
        self.resize(self.server)
        self.assert_as_before()
        event = self.events()['api_stay_in_cell']
        self.assertIn('resource request (QoS)', event['details'])

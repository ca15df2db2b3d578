# SPDX-License-Identifier: Apache-2.0
"""A confirm whose source host is down (XC-13, XC-18)."""

import fixtures

from nova.tests.functional.api import client

from tests.functional import dest_hosts


class TestSourceDown(dest_hosts.DestHostsTest):
    def force_down(self, down):
        service = self.computes['host1'].service_ref
        self.admin_api.put_service_force_down(service.uuid, down)

    def move(self):
        self.boot()
        self.resize(self.server, host='host2')
        self.force_down(True)

    def test_confirm_finishes(self):
        """Plain Nova refuses it."""
        self.move()
        server = self.confirm(self.server)
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual('host2', server['OS-EXT-SRV-ATTR:host'])
        self.assertEqual(
            ['confirmed'], [m.status for m in self.migrations('cell2')]
        )
        self.force_down(False)
        # What the host does with what it finds of a deleted server.
        self.flags(running_deleted_instance_timeout=0)
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))

    def test_refused_where_the_conductor_needs_the_source(self):
        """A conductor without the plug-ins would end in ERROR."""
        self.move()
        self.useFixture(
            fixtures.MonkeyPatch(
                'nova_xcell.tasks.endpoint.ConductorXcellAPI.has_plugins',
                lambda *args: False,
            )
        )
        error = self.assertRaises(
            client.OpenStackApiException, self.confirm, self.server
        )
        self.assertEqual(409, error.response.status_code)
        self.assertEqual(
            'VERIFY_RESIZE', self.api.get_server(self.server['id'])['status']
        )

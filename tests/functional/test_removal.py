# SPDX-License-Identifier: Apache-2.0
"""The plug-ins are removed while servers wait in VERIFY_RESIZE."""

from nova.tests import fixtures as nova_fixtures

from nova_xcell import loader
from tests.functional import dest_hosts


class TestRemoval(dest_hosts.DestHostsTest):
    """A plain Nova ends what the plug-ins have begun (XC-13, XC-14)."""

    def setUp(self):
        super().setUp()
        self.server = self.boot(data_volume=True)
        self.assertEqual('VERIFY_RESIZE', self.resize(self.server)['status'])

    def remove(self):
        """Start every service anew, without the plug-ins.

        The next test arms again when it parses its configuration.
        """
        self.replace_conductors(lambda: loader.disarm('nova'))
        for host in self.computes:
            self.flags(host=host)
            self.replace_compute(host, lambda: None)
        # The first one has stubbed Keystone already.
        self.useFixture(nova_fixtures.OSAPIFixture(stub_keystone=False))
        for service in [*self.conductors, *self.computes.values()]:
            self.assertNotIn('nova_xcell', type(service.manager).__module__)
        self.assertEqual((), loader.armed())

    def statuses(self, cell):
        return [migration.status for migration in self.migrations(cell)]

    def test_confirm(self):
        self.remove()
        self.assertEqual('ACTIVE', self.confirm(self.server)['status'])
        self.assertEqual(['confirmed'], self.statuses('cell2'))
        self.assertEqual([], self.wait_for_no_leak(self.server, upkeep=True))

    def test_revert(self):
        self.remove()
        self.assertEqual('ACTIVE', self.revert(self.server)['status'])
        self.assertEqual(['reverted'], self.statuses('cell1'))
        self.assertEqual([], self.wait_for_no_leak(self.server, upkeep=True))

    def test_delete(self):
        self.remove()
        self.delete(self.server)
        self.assertEqual([], self.wait_for_no_leak(self.server, upkeep=True))

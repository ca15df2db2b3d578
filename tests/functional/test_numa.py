# SPDX-License-Identifier: Apache-2.0
"""Servers with pinned CPUs move to another cell (XC-25)."""

from tests.functional import device_hosts


class TestPinnedCpus(device_hosts.DeviceHostsTest):
    def boot_pinned(self):
        self.boot(hw__cpu_policy='dedicated', hw__numa_nodes='2')
        self.pinned = self.pins('host1')
        self.assertEqual(2, len(self.pinned))

    def pinning(self, cell):
        topology = self.records()[cell].numa_topology
        return {cpu for c in topology.cells for cpu in c.cpu_pinning.values()}

    def take_first_cpus(self):
        """Let another server have the CPUs of the destination."""
        self._create_server(
            flavor_id=self._create_flavor(
                vcpu=2,
                memory_mb=512,
                disk=1,
                ephemeral=0,
                extra_spec={
                    'hw:cpu_policy': 'dedicated',
                    'hw:numa_nodes': '2',
                },
            ),
            networks='none',
            host='host2',
        )
        return self.pins('host2')

    def test_confirm(self):
        """The CPUs are those of the destination."""
        self.boot_pinned()
        others = self.take_first_cpus()
        self.assertEqual('host2', self.migrate())
        pinned = self.pinning('cell2')
        self.assertEqual(others | pinned, self.pins('host2'))
        self.assertEqual(set(), others & pinned)
        self.assertEqual(self.pinned, self.pins('host1'))
        self.confirm()
        self.assertEqual(set(), self.pins('host1'))
        self.assertEqual(pinned, self.pinning('cell2'))
        self.assertEqual([{'host2'}, set()], self.allocated())
        self._run_periodics()
        self.assertEqual(set(), self.pins('host1'))
        self.assertEqual(others | pinned, self.pins('host2'))

    def test_revert(self):
        self.boot_pinned()
        others = self.take_first_cpus()
        self.migrate()
        self._run_periodics()
        self.assertEqual(self.pinned, self.pins('host1'))
        self.assertEqual(4, len(self.pins('host2')))
        self.revert()
        self.assertEqual(self.pinned, self.pins('host1'))
        self.assertEqual(self.pinned, self.pinning('cell1'))
        self.assertEqual(others, self.pins('host2'))
        self.assertEqual([{'host1'}, set()], self.allocated())

    def test_next_host(self):
        """Nothing stays pinned on a host that cannot take the server."""
        self.boot_pinned()
        self.fail_claim('host2')
        self.assertEqual('host3', self.migrate())
        self.assertEqual(set(), self.pins('host2'))
        self.assertEqual(self.pinning('cell2'), self.pins('host3'))

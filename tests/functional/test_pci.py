# SPDX-License-Identifier: Apache-2.0
"""Servers with PCI devices and SR-IOV ports move to another cell (XC-25)."""

from tests.functional import device_hosts


class _DevicesTest(device_hosts.DeviceHostsTest):
    def confirm_and_check(self):
        self.assertEqual('host2', self.migrate())
        # The source's are kept for the way back.
        self.assertEqual(self.before, self.devices('host1'))
        there = self.check_at('host2', 'cell2')
        self.confirm()
        self.assertEqual(there, self.check_at('host2', 'cell2'))
        self.assertEqual(set(), self.devices('host1'))
        self.assertEqual([{'host2'}, set()], self.allocated())
        self._run_periodics()
        self.assertEqual(there, self.check_at('host2', 'cell2'))
        self.assertEqual(set(), self.devices('host1'))

    def revert_and_check(self):
        self.migrate()
        self._run_periodics()
        self.assertEqual(self.before, self.devices('host1'))
        self.check_at('host2', 'cell2')
        self.revert()
        self.assertEqual(self.before, self.check_at('host1', 'cell1'))
        self.assertEqual(set(), self.devices('host2'))
        self.assertEqual([{'host1'}, set()], self.allocated())

    def check_at(self, host, cell):
        """Compare the server's record, the host's devices and its guest."""
        devices = self.devices(host)
        self.assertEqual(
            devices_of(self.records()[cell]), devices - self.parents(host)
        )
        return devices

    def parents(self, host):
        return set()


def devices_of(instance):
    return {device.address for device in instance.pci_devices}


class TestPciDevice(_DevicesTest):
    """A device that the flavor asks for."""

    def boot_with_device(self):
        self.boot(pci_passthrough__alias='card:1')
        self.before = self.devices('host1')
        self.assertEqual(1, len(self.before))

    def test_confirm(self):
        self.boot_with_device()
        self.confirm_and_check()

    def test_revert(self):
        self.boot_with_device()
        self.revert_and_check()

    def test_next_host(self):
        self.boot_with_device()
        self.fail_claim('host2')
        self.assertEqual('host3', self.migrate())
        self.assertEqual(set(), self.devices('host2'))
        self.check_at('host3', 'cell2')


class TestSriovPort(_DevicesTest):
    """A device that a port asks for."""

    def boot_with_port(self):
        self.port = self.neutron.network_4_port_1['id']
        self.neutron.create_port({'port': self.neutron.network_4_port_1})
        self.boot(networks=[{'port': self.port}])
        self.before = self.check_at('host1', 'cell1')

    def parents(self, host):
        return {'0000:%x:00.0' % device_hosts.HOSTS[host][1]} | {
            '0000:%x:02.0' % device_hosts.HOSTS[host][1]
        }

    def check_at(self, host, cell):
        devices = super().check_at(host, cell)
        port = self.neutron.show_port(self.port)['port']
        self.assertEqual(host, port['binding:host_id'])
        self.assertIn(port['binding:profile']['pci_slot'], devices)
        (vif,) = self.records()[cell].get_network_info()
        self.assertEqual(
            port['binding:profile']['pci_slot'], vif['profile']['pci_slot']
        )
        return devices

    def bindings(self):
        return set(self.neutron._port_bindings[self.port])

    def test_confirm(self):
        self.boot_with_port()
        self.confirm_and_check()
        self.assertEqual({'host2'}, self.bindings())

    def test_revert(self):
        self.boot_with_port()
        self.revert_and_check()
        self.assertEqual({'host1'}, self.bindings())

    def test_failure_at_the_destination(self):
        """The source has its device again, and the guest uses it."""
        self.boot_with_port()
        self.fail_spawn('host2')
        self.migrate(status='ERROR')

        def check():
            self.assertEqual(['cell1'], list(self.records()))
            self.assertEqual({'host1'}, self.bindings())
            self.assertEqual(self.before, self.check_at('host1', 'cell1'))

        # The server shows its error before the move has been undone.
        self._wait_for_assert(check, max_retries=100, sleep=0.1)

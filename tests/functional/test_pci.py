# SPDX-License-Identifier: Apache-2.0
"""Servers with PCI devices and SR-IOV ports move to another cell (XC-25)."""

from oslo_utils import uuidutils

from nova.tests.fixtures import libvirt as fakelibvirt

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


class TestPlacedDevice(_DevicesTest):
    """A device that placement knows, and has chosen."""

    RESOURCE_CLASS = 'CUSTOM_PCI_%s_%s' % (
        fakelibvirt.PCI_VEND_ID,
        fakelibvirt.PCI_PROD_ID,
    )

    def setUp(self):
        self.flags(report_in_placement=True, group='pci')
        self.flags(pci_in_placement=True, group='filter_scheduler')
        super().setUp()

    def boot_with_device(self, free, alias='card:1'):
        """Boot it when there is one device only that host2 may give away.

        :param free: the device's number
        """
        self.boot(pci_passthrough__alias=alias)
        self.before = self.check_at('host1', 'cell1')
        self.take_device('host2', 1 - free)

    def take_device(self, host, number):
        """Let somebody whom Nova does not know have a device of a host."""
        (provider,) = (
            uuid
            for uuid, address in self.providers(host).items()
            if address == address_of(host, number)
        )
        self.placement.put(
            '/allocations/%s' % uuidutils.generate_uuid(),
            version='1.28',
            body={
                'allocations': {
                    provider: {'resources': {self.RESOURCE_CLASS: 1}}
                },
                'project_id': self.api.project_id,
                'user_id': 'somebody',
                'consumer_generation': None,
            },
        )

    def providers(self, host):
        """Return the addresses of a host's devices by provider."""
        return {
            self._get_provider_uuid_by_name(
                '%s_%s' % (host, address_of(host, number))
            ): address_of(host, number)
            for number in range(self.DEVICES['num_pci'])
        }

    def check_at(self, host, cell):
        devices = super().check_at(host, cell)
        held = self.placement.get('/allocations/' + self.server['id']).body[
            'allocations'
        ]
        providers = self.providers(host)
        self.assertEqual(
            devices | {self.compute_rp_uuids[host]},
            {providers.get(uuid, uuid) for uuid in held},
        )
        if cell == 'cell2':
            self.assert_nothing_remembered(self.records()[cell])
        return devices

    def assert_nothing_remembered(self, record):
        """A later claim, maybe on another host, chooses anew."""
        requests = list(record.pci_requests.requests)
        if record.migration_context:
            requests += record.migration_context.new_pci_requests.requests
        for request in requests:
            self.assertNotIn('rp_uuids', request.spec[0])

    def allocated(self):
        """Return the hosts as if their devices were no providers."""
        hosts = {
            uuid: host
            for host in device_hosts.HOSTS
            for uuid in self.providers(host)
        }
        return [
            {hosts.get(name, name) for name in names}
            for names in super().allocated()
        ]

    def test_the_first_is_free(self):
        self.boot_with_device(free=0)
        self.confirm_and_check()
        self.assertEqual({address_of('host2', 0)}, self.devices('host2'))

    def test_the_second_is_free(self):
        """The claim would take the first."""
        self.boot_with_device(free=1)
        self.confirm_and_check()
        self.assertEqual({address_of('host2', 1)}, self.devices('host2'))

    def test_revert(self):
        self.boot_with_device(free=1)
        self.revert_and_check()

    def test_two_aliases(self):
        """Nothing is shared out between them that placement has not given."""
        self.boot(pci_passthrough__alias='card:1,card:1')
        self.before = self.check_at('host1', 'cell1')
        self.confirm_and_check()

    def test_next_host(self):
        self.boot_with_device(free=1)
        self.take_device('host3', 0)
        self.fail_claim('host2')
        self.assertEqual('host3', self.migrate())
        self.assertEqual(set(), self.devices('host2'))
        self.assertEqual(
            {address_of('host3', 1)}, self.check_at('host3', 'cell2')
        )


def address_of(host, number):
    return '0000:%x:%02x.0' % (device_hosts.HOSTS[host][1], number)


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

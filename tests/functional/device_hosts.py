# SPDX-License-Identifier: Apache-2.0
"""Base of tests with hosts that give servers CPUs and devices of their own.

The libvirt driver is the real one, on the fake libvirt that Nova ships. One
host is in the first cell, two are in the second.
"""

from unittest import mock

import fixtures
from oslo_serialization import jsonutils

from nova import context as nova_context
from nova import objects
from nova.policies import base as base_policies
from nova.policies import servers as servers_policies
from nova.tests import fixtures as nova_fixtures
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import base

#: The hosts, with their cells and where their PCI devices are.
HOSTS = {
    'host1': ('cell1', 0x81),
    'host2': ('cell2', 0x82),
    'host3': ('cell2', 0x83),
}


class DeviceHostsTest(base.ServersTestBase):
    NUMBER_OF_CELLS = 2
    ADMIN_API = True
    CAST_AS_CALL = False
    ADDITIONAL_FILTERS = ['NUMATopologyFilter', 'PciPassthroughFilter']
    microversion = 'latest'

    #: What each host has, see HostPCIDevicesInfo of the host's fixtures.
    DEVICES = {'num_pci': 2, 'num_pfs': 1, 'num_vfs': 4}

    def setUp(self):
        # The first host is preferred, and after it the second.
        self.useFixture(nova_fixtures.HostNameWeigherFixture())
        self.flags(
            device_spec=[
                jsonutils.dumps(
                    {
                        'vendor_id': fakelibvirt.PCI_VEND_ID,
                        'product_id': product,
                        **tags,
                    }
                )
                for product, tags in (
                    (fakelibvirt.PCI_PROD_ID, {}),
                    (fakelibvirt.VF_PROD_ID, {'physical_network': 'physnet4'}),
                )
            ],
            alias=[
                jsonutils.dumps(
                    {
                        'vendor_id': fakelibvirt.PCI_VEND_ID,
                        'product_id': fakelibvirt.PCI_PROD_ID,
                        'name': 'card',
                    }
                )
            ],
            group='pci',
        )
        super().setUp()
        self.neutron = self.useFixture(base.LibvirtNeutronFixture(self))
        # Nothing of a root disk is written, so nothing can be read.
        self.useFixture(
            fixtures.MockPatch(
                'nova.virt.libvirt.driver.LibvirtDriver.snapshot'
            )
        )
        self.flags(
            cpu_dedicated_set='0-5', cpu_shared_set='6,7', group='compute'
        )
        self.flags(vif_plugging_timeout=0, vif_plugging_is_fatal=False)
        self.flags(rpc_response_timeout=10, long_rpc_timeout=60)
        self.policy.set_rules(
            {servers_policies.CROSS_CELL_RESIZE: base_policies.RULE_ADMIN_API},
            overwrite=False,
        )
        for host, (cell, bus) in HOSTS.items():
            self.start_compute(
                host,
                cell_name=cell,
                pci_info=fakelibvirt.HostPCIDevicesInfo(
                    bus=bus, **self.DEVICES
                ),
            )

    # What a user does.

    def boot(self, networks='none', **extra_spec):
        flavor = self._create_flavor(
            vcpu=2,
            memory_mb=512,
            disk=1,
            ephemeral=0,
            extra_spec={
                key.replace('__', ':'): value
                for key, value in extra_spec.items()
            },
        )
        self.server = self._create_server(
            flavor_id=flavor, networks=networks, host='host1'
        )
        return self.server

    def migrate(self, status='VERIFY_RESIZE', host=None):
        self._act({'migrate': {'host': host} if host else None}, status)
        return self.server['OS-EXT-SRV-ATTR:host']

    def confirm(self):
        self._act({'confirmResize': None}, 'ACTIVE')

    def revert(self):
        self._act({'revertResize': None}, 'ACTIVE')
        self.assertEqual('host1', self.server['OS-EXT-SRV-ATTR:host'])

    def _act(self, action, status):
        self.api.post_server_action(self.server['id'], action)

        def check():
            self.server = self.api.get_server(self.server['id'])
            self.assertIsNone(self.server['OS-EXT-STS:task_state'])
            self.assertEqual(status, self.server['status'])
            if status == 'ACTIVE':
                # The conductor tidies up after the server is at rest.
                self.assertEqual(1, len(self.records()))

        self._wait_for_assert(check, max_retries=600, sleep=0.1)

    def fail_claim(self, host):
        """Let a destination fail when it has claimed what the server needs.

        A claim that succeeds and is dropped again.
        """
        manager = self.computes[host].manager
        claim = manager.rt.resize_claim

        def fail(*args, **kwargs):
            with claim(*args, **kwargs):
                raise RuntimeError('it has lost its power')

        self.useFixture(
            fixtures.MockPatchObject(manager.rt, 'resize_claim', fail)
        )

    def fail_spawn(self, host):
        """Let a destination fail when the source's guest is gone."""
        self.useFixture(
            fixtures.MockPatchObject(
                self.computes[host].manager.driver,
                'spawn',
                mock.Mock(side_effect=RuntimeError('it has lost its disks')),
            )
        )

    # What there is, and where.

    def records(self):
        """Return the records of the server by cell."""
        records = {}
        for cell in ('cell1', 'cell2'):
            with self.context_of(cell) as context:
                for instance in objects.InstanceList.get_by_filters(
                    context,
                    {'uuid': self.server['id'], 'hidden': None},
                    expected_attrs=[
                        'migration_context',
                        'numa_topology',
                        'pci_devices',
                        'pci_requests',
                    ],
                ):
                    records[cell] = instance
        return records

    def context_of(self, cell):
        return nova_context.target_cell(
            nova_context.get_admin_context(), self.cell_mappings[cell]
        )

    def pins(self, host):
        """Return the CPUs that are pinned, as the tracker has saved it."""
        with self.context_of(HOSTS[host][0]) as context:
            node = objects.ComputeNode.get_by_nodename(context, host)
        topology = objects.NUMATopology.obj_from_db_obj(node.numa_topology)
        return set().union(*(cell.pinned_cpus for cell in topology.cells))

    def devices(self, host):
        """Return the addresses of the devices that the server has there.

        From the database, and they must be those that the tracker knows.
        """
        with self.context_of(HOSTS[host][0]) as context:
            node = objects.ComputeNode.get_by_nodename(context, host)
            rows = objects.PciDeviceList.get_by_compute_node(context, node.id)
        taken = {
            device.address for device in rows if device.status != 'available'
        }
        for device in rows:
            if device.address in taken:
                # A PF whose VF is taken is not available either.
                self.assertIn(
                    (device.instance_uuid, device.status),
                    (
                        (self.server['id'], 'allocated'),
                        (self.server['id'], 'claimed'),
                        (None, 'unavailable'),
                    ),
                )
        tracker = self.computes[host].manager.rt.pci_tracker
        self.assertEqual(
            taken,
            {
                device.address
                for device in tracker.pci_devs
                if device.status != 'available'
            },
            host,
        )
        return taken

    def allocated(self):
        """Return the hosts on which placement has something allocated.

        By consumer: the server, and its last migration.
        """
        (migration,) = self.api.api_get(
            '/os-migrations?instance_uuid=%s' % self.server['id']
        ).body['migrations']
        names = {uuid: host for host, uuid in self.compute_rp_uuids.items()}
        return [
            {
                names.get(provider, provider)
                for provider in self.placement.get(
                    '/allocations/' + consumer
                ).body['allocations']
            }
            for consumer in (self.server['id'], migration['uuid'])
        ]

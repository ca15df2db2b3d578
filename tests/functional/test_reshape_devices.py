# SPDX-License-Identifier: Apache-2.0
"""Classes of devices that get another name while they are used (RP-06)."""

import os_resource_classes

from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import test_pci_in_placement as host_pci
from nova.tests.functional.libvirt import test_vgpu as host_vgpu

from tests.functional import test_reshape_live


def renamed(old, new):
    return """
version: 1
rules:
- rename: {resource_class: %s, to: %s}
""" % (old, new)


class TestPci(test_reshape_live.Reshaped, host_pci.PlacementPCIReportingTests):
    """Known problem E8: without the rule nova-compute does not start."""

    def describe(self, **more):
        self.flags(
            device_spec=self._to_list_of_json_str(
                [
                    {
                        'vendor_id': fakelibvirt.PCI_VEND_ID,
                        'product_id': fakelibvirt.PCI_PROD_ID,
                        **more,
                    }
                ]
            ),
            group='pci',
        )

    def test_device_in_use(self):
        self.describe()
        self.start_compute(
            'host',
            pci_info=fakelibvirt.HostPCIDevicesInfo(
                num_pci=1, num_pfs=0, num_vfs=0
            ),
        )
        server = self._create_server(
            flavor_id=self._create_flavor(
                extra_spec={'pci_passthrough:alias': 'a-pci-dev:1'}
            ),
            networks='none',
        )
        self._run_periodics()
        name = 'host_0000:81:00.0'
        self.assertEqual(
            ({self.PCI_RC: 1}, {server['id']: {self.PCI_RC: 1}}),
            self.tree()[name],
        )
        self.describe(resource_class='CUSTOM_NEW')
        self.set_rules(renamed(self.PCI_RC, 'CUSTOM_NEW'))
        self.restart()
        wanted = ({'CUSTOM_NEW': 1}, {server['id']: {'CUSTOM_NEW': 1}})
        self.assertEqual(wanted, self.tree()[name])
        self.restart()
        self.assertEqual([], self.writes())
        self.assertEqual(wanted, self.tree()[name])


class TestMdev(test_reshape_live.Reshaped, host_vgpu.VGPUTestBase):
    """Known problem E9: without the rule nova-compute does not start."""

    def set_type(self, mdev_class):
        self.flags(
            enabled_mdev_types=[fakelibvirt.NVIDIA_11_VGPU_TYPE],
            group='devices',
        )
        host_vgpu.nova.conf.devices.register_dynamic_opts(host_vgpu.CONF)
        self.flags(mdev_class=mdev_class, group='mdev_nvidia-11')

    def test_gpu_in_use(self):
        self.set_type(os_resource_classes.VGPU)
        self.start_compute_with_vgpu('host')
        server = self._create_server(
            flavor_id=self._create_flavor(extra_spec={'resources:VGPU': '1'}),
            networks='none',
        )
        before = self.tree()
        self.set_type('CUSTOM_GPU')
        self.set_rules(renamed('VGPU', 'CUSTOM_GPU'))
        self.restart()
        tree = self.tree()
        for name in before.keys() - {'host'}:
            totals, used = tree[name]
            self.assertEqual({'CUSTOM_GPU'}, set(totals))
            self.assertEqual(
                {consumer: {'CUSTOM_GPU': 1} for consumer in before[name][1]},
                used,
            )
        self.assertIn(
            server['id'], [uuid for _, used in tree.values() for uuid in used]
        )
        self.restart()
        self.assertEqual([], self.writes())
        self.assertEqual(tree, self.tree())

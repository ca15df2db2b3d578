# SPDX-License-Identifier: Apache-2.0
"""Devices of the host that a guest takes along (MF-09)."""

import unittest

import ddt

from nova_xcell.virt import passthrough

MAC = 'b5:bc:2e:e7:51:ee'
PCI = """
<hostdev mode='subsystem' type='pci' managed='yes'>
  <source><address domain='0x0000' bus='0x81' slot='0x0a' function='0x1'/>
  </source>
  <address type='pci' domain='0x0000' bus='0x00' slot='0x05' function='0x0'/>
</hostdev>"""
MDEV = """
<hostdev mode='subsystem' type='mdev' managed='no' model='vfio-pci'>
  <source><address uuid='a7f3b9ac-1d1c-4d1e-9d8e-2f2d5e1f6a10'/></source>
</hostdev>"""
USB = """
<hostdev mode='subsystem' type='usb'>
  <source><address bus='1' device='2'/></source>
</hostdev>"""
VF = (
    """
<interface type='hostdev' managed='yes'>
  <mac address='%s'/>
  <source><address type='pci' domain='0x0000' bus='0x81' slot='0x0'
    function='0x1'/></source>
</interface>"""
    % MAC
)
TAP = "<interface type='bridge'><mac address='%s'/></interface>" % MAC


@ddt.ddt
class TestTakesAlong(unittest.TestCase):
    @ddt.data(
        ('', False),
        (TAP, False),
        (USB, False),
        (PCI, True),
        (MDEV, True),
        (VF, True),
        (TAP + MDEV, True),
        ("<interface type='hostdev'/>", True),
        ("<hostdev type='pci'/>", True),
    )
    @ddt.unpack
    def test_nothing_is_detached(self, devices, expected):
        self.assertEqual(expected, self.takes_along(devices))

    def test_network_devices_are_detached(self):
        self.assertFalse(self.takes_along(VF, macs=[MAC.upper()]))
        self.assertFalse(self.takes_along(PCI, pci=['0000:81:0a.1']))
        self.assertFalse(
            self.takes_along(PCI + VF, macs=[MAC], pci=['0000:81:0a.1'])
        )

    def test_others_are_detached(self):
        self.assertTrue(self.takes_along(VF, macs=['b5:bc:2e:e7:51:ff']))
        self.assertTrue(self.takes_along(PCI, pci=['0000:81:0a.0']))
        self.assertTrue(self.takes_along(PCI + VF, macs=[MAC]))

    def test_without_devices(self):
        self.assertFalse(passthrough.takes_along('<domain/>', [], []))

    def takes_along(self, devices, macs=(), pci=()):
        return passthrough.takes_along(
            '<domain><devices>%s</devices></domain>' % devices, macs, pci
        )

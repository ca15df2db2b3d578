# SPDX-License-Identifier: Apache-2.0
"""Devices of the host that a guest takes along: pure, no host imports."""

from __future__ import annotations

import typing as ty
from xml.etree import ElementTree

_ADDRESS = ('domain', 'bus', 'slot', 'function')


def takes_along(
    xml: str, macs: ty.Collection[str], pci_addresses: ty.Collection[str]
) -> bool:
    """Tell whether a guest has VFIO devices while it is migrated.

    Nova detaches the network devices of the host before a live migration.

    :param xml: libvirt's description of the running guest
    :param macs: MAC addresses of network devices that are detached
    :param pci_addresses: PCI addresses (``0000:81:00.1``) of the same
    """
    devices = ElementTree.fromstring(xml).find('devices')
    if devices is None:
        return False
    detached = {mac.lower() for mac in macs}
    for interface in devices.findall("interface[@type='hostdev']"):
        mac = interface.find('mac')
        if mac is None or mac.get('address', '').lower() not in detached:
            return True
    for device in devices.findall('hostdev'):
        kind = device.get('type')
        if kind == 'mdev':
            return True
        if kind == 'pci' and _pci_address(device) not in pci_addresses:
            return True
    return False


def _pci_address(device: ElementTree.Element) -> str | None:
    address = device.find('source/address')
    if address is None:
        return None
    # libvirt writes 0x0081, Nova 81.
    return '%04x:%02x:%02x.%x' % tuple(
        int(address.get(part, '0'), 16) for part in _ADDRESS
    )

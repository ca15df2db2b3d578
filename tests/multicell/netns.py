# SPDX-License-Identifier: Apache-2.0
"""Network name spaces and the two networks that join them."""

from __future__ import annotations

import os
import pathlib
import subprocess

from tests.multicell import layout as lay
from tests.multicell.layout import Layout
from tests.multicell.processes import run
from tests.multicell.waiting import wait_until

#: Bridge in the control plane's name space -> its address.
BRIDGES = {'mgmt': lay.CONTROL_IP, 'guests': lay.GUEST_GATEWAY}


def exec_in(netns: str, *command: str | os.PathLike) -> list[str]:
    """Return a command that runs another one in a network name space.

    :param netns: name of the name space
    :param command: program and arguments
    """
    return ['ip', 'netns', 'exec', netns, *map(str, command)]


def exists(netns: str) -> bool:
    """Tell whether a network name space is there.

    :param netns: its name
    """
    return pathlib.Path('/run/netns', netns).exists()


def create(layout: Layout) -> None:
    """Make the name spaces and join them; what is there stays.

    :param layout: where the cloud is
    """
    control = layout.control
    if not exists(control):
        run(['ip', 'netns', 'add', control])
        _ip(control, 'link', 'set', 'lo', 'up')
        for bridge, address in BRIDGES.items():
            _ip(control, 'link', 'add', bridge, 'type', 'bridge')
            _ip(control, 'addr', 'add', f'{address}/24', 'dev', bridge)
            _ip(control, 'link', 'set', bridge, 'up')
        _complete_checksums(control, 'guests')
    for host in lay.HOSTS.values():
        if not exists(layout.host_netns(host.name)):
            _create_host(layout, host)


def _create_host(layout: Layout, host: lay.Host) -> None:
    control, netns = layout.control, layout.host_netns(host.name)
    run(['ip', 'netns', 'add', netns])
    _ip(netns, 'link', 'set', 'lo', 'up')
    run(exec_in(netns, 'sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1'))
    for device, bridge in (('eth0', 'mgmt'), ('eth1', 'guests')):
        end = f'{bridge[0]}-{host.name}'
        _ip(
            control, 'link', 'add', end, 'type', 'veth',
            'peer', 'name', device, 'netns', netns,
        )  # fmt: skip
        _ip(control, 'link', 'set', end, 'master', bridge, 'up')
        _ip(netns, 'link', 'set', device, 'up')
        if bridge == 'guests':
            _complete_checksums(control, end)
            _complete_checksums(netns, device)
    _ip(netns, 'addr', 'add', f'{host.address}/24', 'dev', 'eth0')


def _complete_checksums(netns: str, device: str) -> None:
    # Open vSwitch's userspace datapath does not complete what the kernel
    # leaves to a network card.
    run(exec_in(netns, 'ethtool', '-K', device, 'tx', 'off'))


def _ip(netns: str, *arguments: str) -> None:
    run(['ip', '-n', netns, *arguments])


def delete(layout: Layout) -> None:
    """Remove the name spaces, and the links with them.

    :param layout: where the cloud is
    """
    for netns in names(layout):
        if exists(netns):
            run(['ip', 'netns', 'del', netns])


def names(layout: Layout) -> list[str]:
    """Return the names of all name spaces, the control plane's last.

    :param layout: where the cloud is
    """
    return [*map(layout.host_netns, lay.HOSTS), layout.control]


def wait_for_port(
    netns: str, address: str, port: int, timeout: float = 120
) -> None:
    """Wait until something listens.

    :param netns: name of the name space
    :param address: IP address
    :param port: TCP port
    :param timeout: seconds
    :raises: MulticellError
    """
    probe = f'exec 3<>/dev/tcp/{address}/{port}'
    wait_until(
        lambda: (
            subprocess.run(
                exec_in(netns, 'bash', '-c', probe),
                stderr=subprocess.DEVNULL,
            ).returncode
            == 0
        ),
        f'a listener on {address}:{port}',
        timeout,
    )

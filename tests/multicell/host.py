# SPDX-License-Identifier: Apache-2.0
"""A compute host: name spaces, libvirtd and Open vSwitch."""

from __future__ import annotations

import os
import subprocess

from tests.multicell import config
from tests.multicell import layout as lay
from tests.multicell import netns
from tests.multicell.errors import MulticellError
from tests.multicell.layout import Layout
from tests.multicell.processes import Processes
from tests.multicell.processes import run
from tests.multicell.waiting import wait_until

OVS_SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema'


class HostNameSpaces:
    """Starts a host, and runs things on it.

    :param layout: where the cloud is
    :param processes: starts the daemons
    :param host: the host
    """

    def __init__(
        self, layout: Layout, processes: Processes, host: lay.Host
    ) -> None:
        self.layout = layout
        self.processes = processes
        self.host = host

    @property
    def daemons(self) -> tuple[str, str, str, str]:
        """Names of the host's processes.

        libvirtd, OVS's database and its switch, and what keeps taps up.
        """
        return tuple(
            f'{daemon}-{self.host.name}'
            for daemon in ('libvirtd', 'ovsdb', 'vswitchd', 'taps')
        )

    def command(self, *command: str | os.PathLike) -> list[str]:
        """Return a command that runs another one on the host.

        :param command: program and arguments
        :raises: MulticellError if the host is not up
        """
        pid = self.processes.pid(self.host.name)
        if not pid:
            raise MulticellError(f'{self.host.name} is not up')
        return [
            'nsenter', '-t', str(pid), '-m', '-u', '-n', '--',
            *map(str, command),
        ]  # fmt: skip

    def run(self, *command: str | os.PathLike) -> str:
        """Run a command on the host.

        :param command: program and arguments
        :returns: its output
        :raises: MulticellError if it fails
        """
        return run(self.command(*command))

    def start(self, env: dict[str, str]) -> None:
        """Bring the host up; what runs already is left alone.

        :param env: environment of the daemons
        """
        name, layout = self.host.name, self.layout
        address = layout.run / f'address-{self.host.address}'
        address.write_text(name)
        layout.compute_state.mkdir(exist_ok=True)
        own = layout.host_state(name)
        own.mkdir(parents=True, exist_ok=True)
        self.processes.start(
            name,
            netns.exec_in(
                layout.host_netns(name), 'unshare', '-m', '-u',
                lay.HERE / 'bin' / 'become-host', name, own,
                layout.compute_state,
            ),
            env,
        )  # fmt: skip
        wait_until(self._is_ready, f'the name spaces of {name}', 30)
        libvirtd, ovsdb, vswitchd, taps = self.daemons
        self.processes.start(
            libvirtd, self.command('libvirtd', '--listen'), env
        )
        self._start_switch(ovsdb, vswitchd, env)
        self.processes.start(
            taps, self.command(lay.HERE / 'bin' / 'keep-taps-up'), env
        )

    def _is_ready(self) -> bool:
        found = subprocess.run(
            self.command('test', '-e', '/run/multicell-host')
        )
        return found.returncode == 0

    def _start_switch(
        self, ovsdb: str, vswitchd: str, env: dict[str, str]
    ) -> None:
        file = '/etc/openvswitch/conf.db'
        socket = 'unix:/run/openvswitch/db.sock'
        create = f'[ -e {file} ] || ovsdb-tool create {file} {OVS_SCHEMA}'
        self.run('sh', '-c', create)
        self.processes.start(
            ovsdb,
            self.command(
                'ovsdb-server', f'--remote=p{socket}',
                '--remote=ptcp:6640:127.0.0.1', file,
            ),
            env,
        )  # fmt: skip
        netns.wait_for_port(
            self.layout.host_netns(self.host.name), '127.0.0.1', 6640
        )
        self.run('ovs-vsctl', '--no-wait', 'init')
        self.processes.start(
            vswitchd, self.command('ovs-vswitchd', '--pidfile', socket), env
        )
        bridge = config.BRIDGE
        self.run(
            'ovs-vsctl', '--may-exist', 'add-br', bridge,
            '--', 'set', 'bridge', bridge, 'datapath_type=netdev',
            '--', '--may-exist', 'add-port', bridge, 'eth1',
        )  # fmt: skip

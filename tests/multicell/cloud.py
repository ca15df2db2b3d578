# SPDX-License-Identifier: Apache-2.0
"""Bring the whole cloud up, show it, take it down."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
import pathlib
import shutil
import signal
import time

from tests.multicell import broker
from tests.multicell import config
from tests.multicell import database
from tests.multicell import environment
from tests.multicell import guest_image
from tests.multicell import layout as lay
from tests.multicell import machine
from tests.multicell import netns
from tests.multicell import nova_config
from tests.multicell import readiness
from tests.multicell import services
from tests.multicell.errors import MulticellError
from tests.multicell.host import HostNameSpaces
from tests.multicell.layout import Layout
from tests.multicell.processes import in_name_space
from tests.multicell.processes import Processes
from tests.multicell.processes import run
from tests.multicell.processes import signal_process
from tests.multicell.schema import Schema
from tests.multicell.waiting import wait_until


class Cloud:
    """The cloud of one state folder.

    :param layout: where it is
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.processes = Processes(layout)
        self.env = services.environment(layout)
        self.services = services.table(layout)
        self.hosts = {
            host.name: HostNameSpaces(layout, self.processes, host)
            for host in lay.HOSTS.values()
        }
        self._started = time.monotonic()

    def _say(self, what: str) -> None:
        print(f'{time.monotonic() - self._started:6.1f} s  {what}', flush=True)

    # Up

    def up(
        self,
        plain: bool = False,
        older: Collection[str] = (),
    ) -> None:
        """Bring the cloud up; what runs already is left alone.

        :param plain: without the plug-ins. If the cloud runs in the other
            mode, or with another state of the plug-ins, the services that
            can carry them are started anew.
        :param older: keys of environment.OLDER
        :raises: MulticellError
        """
        machine.check()
        self._check_older(older)
        self._make_folders()
        machine.install_packages(self.layout)
        if not environment.is_current(self.layout, older):
            # To have what a scenario, without a network, upgrades it to.
            environment.ensure(self.layout, _upgraded(older))
        environment.ensure(self.layout, older)
        self._older_file.write_text(' '.join(older))
        self._say('packages and environment')
        self.choose_plugins(plain)
        guest_image.ensure(self.layout)
        self._say('plain host' if plain else 'nova-xcell installed')
        netns.create(self.layout)
        broker_start = ThreadPoolExecutor(1).submit(
            broker.start, self.layout, self.processes, self.env
        )
        self._databases(older)
        self._say('databases')
        self._start_hosts()
        broker_start.result()
        self._say('broker and hosts')
        since = readiness.now(self.layout)
        for service in self.services.values():
            self.start(service.name)
        for api in lay.API_PORTS:
            readiness.wait_for_api(self.layout, api)
        self._say('APIs answer')
        self._map_hosts()
        readiness.wait_for_reports(self.layout, since)
        self._say('ready')

    @property
    def _older_file(self) -> pathlib.Path:
        return self.layout.state / 'older'

    @property
    def older(self) -> list[str]:
        """What of the cloud is an older release; keys of environment.OLDER."""
        return self._older_file.read_text().split()

    def _check_older(self, older: Collection[str]) -> None:
        if self._older_file.exists() and self.older != list(older):
            raise MulticellError(
                'the cloud has other releases; take it down first'
            )

    def _make_folders(self) -> None:
        layout = self.layout
        for folder in (
            layout.cache, layout.log, layout.etc, layout.var, layout.run,
            layout.faults, layout.var / 'lock',
        ):  # fmt: skip
            folder.mkdir(parents=True, exist_ok=True)

    def choose_plugins(self, plain: bool) -> None:
        """Install and enable the plug-ins, or uninstall them.

        If they were in the other state, or are another build, the services
        that can carry them are stopped.

        :param plain: without the plug-ins
        """
        if plain:
            changed = environment.remove_plugin(self.layout)
        else:
            changed = environment.install_plugin(self.layout)
        self.switch_plugins(not plain)
        if changed:
            for service in self.services.values():
                if service.carries_plugins:
                    self.processes.stop(service.name)

    def switch_plugins(self, on: bool) -> None:
        """Write the configuration; it counts for services started after that.

        :param on: whether it has the two lines that enable the plug-ins
        """
        switch = nova_config.SWITCH if on else {}
        config.write(self.layout, switch)
        nova_config.write(self.layout, switch)

    def upgrade(self) -> None:
        """Bring an older Nova and Placement to the newest releases.

        Their services are stopped first, and not started again.

        :raises: MulticellError
        """
        for service in self.services.values():
            if service.carries_plugins:
                self.processes.stop(service.name)
        older = _upgraded(self.older)
        environment.ensure(self.layout, older, offline=True)
        self._older_file.write_text(' '.join(older))
        self.switch_plugins(environment.plugin_is_installed(self.layout))
        Schema(self.layout, self.processes, self.env).upgrade()

    def _databases(self, older: Collection[str]) -> None:
        layout = self.layout
        schema = Schema(layout, self.processes, self.env, older)
        schema.restore()
        database.start(layout, self.processes, self.env)
        if schema.marker.exists():
            return
        schema.create(self._start_keystone)
        self.processes.stop('keystone-api')
        self.processes.stop(database.NAME)
        schema.save()
        database.start(layout, self.processes, self.env)

    def _start_keystone(self) -> None:
        self.start('keystone-api')
        readiness.wait_for_api(self.layout, 'keystone')

    def _start_hosts(self) -> None:
        with ThreadPoolExecutor(len(self.hosts)) as pool:
            list(pool.map(lambda host: host.start(self.env), self._host_list))

    @property
    def _host_list(self) -> list[HostNameSpaces]:
        return list(self.hosts.values())

    def start(self, name: str, **extra: str) -> None:
        """Start a service, or the daemon of a host, unless it runs.

        :param name: its name as a process
        :param extra: more for its environment
        """
        for host in self.hosts.values():
            if name in host.daemons:
                host.start(self.env)
                return
        service = self.services[name]
        if service.host:
            command = self.hosts[service.host].command(*service.command)
        else:
            command = netns.exec_in(self.layout.control, *service.command)
        self.processes.start(name, command, {**self.env, **extra})

    def _map_hosts(self) -> None:
        readiness.wait_for_nodes(self.layout)
        if readiness.unmapped(self.layout):
            run(
                netns.exec_in(
                    self.layout.control, self.layout.bin / 'nova-manage',
                    '--config-file', nova_config.super_file(self.layout),
                    'cell_v2', 'discover_hosts',
                ),
                self.env,
                self.processes.log_file('schema'),
            )  # fmt: skip

    # Status

    def status(self) -> bool:
        """Print every process that belongs to the cloud.

        :returns: whether all of them run
        """
        names = {
            database.NAME, broker.NAME, 'memcached', *self.services,
            *self.hosts,
            *(name for host in self._host_list for name in host.daemons),
        }  # fmt: skip
        dead = []
        for name in sorted(names):
            pid = self.processes.pid(name)
            print(f'{name:28} {pid or "does not run"}')
            if not pid:
                dead.append(name)
        print(f'{len(names) - len(dead)} of {len(names)} processes run')
        return not dead

    # Down

    def down(self, everything: bool = False) -> None:
        """End the cloud and remove what it consisted of.

        The environment, the guest's image, empty databases for the next
        time and the logs stay.

        :param everything: remove those as well
        """
        self._end_processes()
        netns.delete(self.layout)
        self._say('processes and name spaces are gone')
        shutil.rmtree(self.layout.state, ignore_errors=True)
        if everything:
            shutil.rmtree(self.layout.folder, ignore_errors=True)

    def _end_processes(self) -> None:
        # Nothing is kept, so nothing needs time to end.
        for name in self.processes.names():
            self.processes.stop(name, signal.SIGKILL)
        # Guests, and what daemons have left. Only the cloud's processes are
        # in its name spaces.
        for name in netns.names(self.layout):
            for pid in in_name_space(name):
                signal_process(pid, signal.SIGKILL)
            wait_until(
                lambda name=name: not list(in_name_space(name)),
                f'the processes of {name} end',
                30,
            )

    def log_files(self, names: list[str]) -> list[pathlib.Path]:
        """Return logs.

        :param names: of processes; all of them if empty
        """
        if names:
            return [self.processes.log_file(name) for name in names]
        return sorted(self.layout.log.glob('*.log'))


def _upgraded(older: Collection[str]) -> list[str]:
    """Return what stays older in a cloud whose Nova is upgraded."""
    return [name for name in older if not name.startswith('nova')]

# SPDX-License-Identifier: Apache-2.0
"""Break the cloud on purpose, and mend it."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import signal

from tests.multicell import broker
from tests.multicell import database
from tests.multicell import layout as lay
from tests.multicell import readiness
from tests.multicell.kit.clients import Clients
from tests.multicell.kit.points import Point


class Faults:
    """Faults; each is a context that mends what it broke.

    :param clients: of the cloud
    """

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self.cloud = clients.cloud

    @contextlib.contextmanager
    def storage_unreachable(self, host: str) -> Iterator[None]:
        """Let a host reach no volume that it does not use already.

        :param host: its name
        """
        marker = self.cloud.layout.faults / f'no-nfs-{host}'
        marker.touch()
        try:
            yield
        finally:
            marker.unlink()

    @contextlib.contextmanager
    def disabled(self, *hosts: str) -> Iterator[None]:
        """Let the scheduler choose none of these hosts.

        :param hosts: their names
        """
        path = '/os-services?binary=nova-compute'
        found = {
            service['host']: service['id']
            for service in self.clients.compute('GET', path)['services']
        }
        self._set_status(found, hosts, 'disabled')
        try:
            yield
        finally:
            self._set_status(found, hosts, 'enabled')

    def _set_status(
        self, services: dict[str, str], hosts: tuple[str, ...], status: str
    ) -> None:
        for host in hosts:
            path = f'/os-services/{services[host]}'
            self.clients.compute('PUT', path, {'status': status})

    @contextlib.contextmanager
    def killed(self, name: str) -> Iterator[None]:
        """Kill a service; it is started again and reports before the end.

        :param name: its name in the table of services
        """
        self.kill(name)
        try:
            yield
        finally:
            self.restart(name)

    def kill(self, name: str) -> None:
        """Kill a service at once, with all its processes.

        :param name: its name in the table of services
        """
        self.cloud.processes.stop(name, signal.SIGKILL)

    def restart(self, *names: str, **extra: str) -> None:
        """Start services anew, and wait until they work.

        :param names: their names in the table of services
        :param extra: more for their environment
        """
        for name in names:
            self.kill(name)
        since = readiness.now(self.cloud.layout)
        for name in names:
            self.cloud.start(name, **extra)
        for name in names:
            if name.endswith('-api'):
                readiness.wait_for_api(
                    self.cloud.layout, name.removesuffix('-api')
                )
        readiness.wait_for_reports(self.cloud.layout, since)

    @contextlib.contextmanager
    def configured(self, *names: str, **options: str) -> Iterator[None]:
        """Let services have other options for a while.

        They are started anew for it, and again at the end.

        :param names: their names in the table of services
        :param options: as oslo.config reads them from the environment
        """
        try:
            self.restart(*names, **options)
            yield
        finally:
            self.restart(*names)

    @contextlib.contextmanager
    def killed_at(
        self, name: str, where: str, when: str = 'before'
    ) -> Iterator[Point]:
        """Let a service die as by ``kill -9`` when it reaches a point.

        It is started for that, and started anew at the end.

        :param name: its name in the table of services
        :param where: ``module:function`` or ``module:Class.method``
        :param when: ``before`` or ``after`` that function
        :returns: the point, to wait for
        """
        yield from self._armed(Point(self.cloud, name, where, when), 'kill')

    @contextlib.contextmanager
    def held_at(
        self, name: str, where: str, when: str = 'before'
    ) -> Iterator[Point]:
        """Let a service wait at a point, so that other things can break.

        :param name: its name in the table of services
        :param where: ``module:function`` or ``module:Class.method``
        :param when: ``before`` or ``after`` that function
        :returns: the point, to wait for and to release
        """
        yield from self._armed(Point(self.cloud, name, where, when), 'hold')

    def _armed(self, point: Point, action: str) -> Iterator[Point]:
        with self.configured(point.service, **point.environment(action)):
            try:
                yield point
            finally:
                point.release()

    @contextlib.contextmanager
    def frozen(self, name: str) -> Iterator[None]:
        """Stop a process without ending it, as a machine that hangs does.

        :param name: of any process of the cloud, also of the database
        """
        self.cloud.processes.signal(name, signal.SIGSTOP)
        try:
            yield
        finally:
            self.cloud.processes.signal(name, signal.SIGCONT)

    @contextlib.contextmanager
    def broker_down(self) -> Iterator[None]:
        """Kill the message broker of all cells; it is back at the end."""
        with self._killed(broker):
            yield

    @contextlib.contextmanager
    def database_down(self) -> Iterator[None]:
        """Kill the database server of all cells; it is back at the end."""
        with self._killed(database):
            yield

    @contextlib.contextmanager
    def only_database(
        self, extra: Mapping[str, Mapping[str, str]] | None = None
    ) -> Iterator[None]:
        """Stop all services but the database; they run again at the end.

        Guests and what runs on the hosts besides services of OpenStack go on.

        :param extra: by name of a service, more for its environment then
        """
        layout, processes = self.cloud.layout, self.cloud.processes
        for name in (*reversed(self.cloud.services), broker.NAME, 'memcached'):
            processes.stop(name)
        try:
            yield
        finally:
            since = readiness.now(layout)
            broker.start(layout, processes, self.cloud.env)
            for name in self.cloud.services:
                self.cloud.start(name, **(extra or {}).get(name, {}))
            for api in lay.API_PORTS:
                readiness.wait_for_api(layout, api)
            readiness.wait_for_reports(layout, since)

    @contextlib.contextmanager
    def plain(self, *names: str) -> Iterator[None]:
        """Let services run without the plug-ins, which stay installed.

        :param names: their names in the table of services
        """
        with self.configured(*names, OS_DEFAULT__CONFIG_SOURCE=''):
            yield

    @contextlib.contextmanager
    def switched_off(self) -> Iterator[None]:
        """Take the two lines out of the configuration, and put them back.

        It counts for services that are started meanwhile; at the end all run
        with the plug-ins.
        """
        self.cloud.switch_plugins(False)
        try:
            yield
        finally:
            self.cloud.switch_plugins(True)
            self.restart(*self.carriers)

    @contextlib.contextmanager
    def uninstalled(self) -> Iterator[None]:
        """Uninstall the plug-ins; they are installed again at the end."""
        try:
            self.cloud.choose_plugins(plain=True)
            self.restart(*self.carriers)
            yield
        finally:
            self.cloud.choose_plugins(plain=False)
            self.restart(*self.carriers)

    @property
    def carriers(self) -> list[str]:
        """The names of all services that can carry the plug-ins."""
        return [
            service.name
            for service in self.cloud.services.values()
            if service.carries_plugins
        ]

    @contextlib.contextmanager
    def cell_database_down(self, cell: str) -> Iterator[None]:
        """Shut the database of one cell.

        :param cell: its name
        """
        user, layout = f'nova_{cell}', self.cloud.layout
        database.query(layout, f'alter user {user} account lock')
        database.query(layout, f'kill user {user}')
        try:
            yield
        finally:
            database.query(layout, f'alter user {user} account unlock')
            self._wait_for_reports()

    @contextlib.contextmanager
    def cell_broker_down(self, cell: str) -> Iterator[None]:
        """Shut the virtual host of one cell.

        :param cell: its name
        """
        limit = '{"max-connections": %d}'
        self._broker('set_vhost_limits', '-p', cell, limit % 0)
        self._broker('close_all_connections', '-p', cell, 'fault')
        try:
            yield
        finally:
            self._broker('set_vhost_limits', '-p', cell, limit % -1)
            self._wait_for_reports()

    def _broker(self, *command: str) -> None:
        broker.control(self.cloud.layout, self.cloud.env, *command)

    def _wait_for_reports(self) -> None:
        layout = self.cloud.layout
        readiness.wait_for_reports(layout, readiness.now(layout))

    @contextlib.contextmanager
    def _killed(self, server) -> Iterator[None]:
        processes = self.cloud.processes
        processes.stop(server.NAME, signal.SIGKILL)
        try:
            yield
        finally:
            server.start(self.cloud.layout, processes, self.cloud.env)
            self._wait_for_reports()

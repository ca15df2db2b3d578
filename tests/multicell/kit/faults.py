# SPDX-License-Identifier: Apache-2.0
"""Break the cloud on purpose, and mend it."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import signal

from tests.multicell import broker
from tests.multicell import readiness
from tests.multicell.kit.clients import Clients


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

    def restart(self, name: str) -> None:
        """Start a service that was killed, and wait for its report.

        :param name: its name in the table of services
        """
        since = readiness.now(self.cloud.layout)
        self.cloud.start(name)
        readiness.wait_for_reports(self.cloud.layout, since)

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
        """Kill the message broker; it is back at the end."""
        processes = self.cloud.processes
        processes.stop(broker.NAME, signal.SIGKILL)
        try:
            yield
        finally:
            since = readiness.now(self.cloud.layout)
            broker.start(self.cloud.layout, processes, self.cloud.env)
            readiness.wait_for_reports(self.cloud.layout, since)

# SPDX-License-Identifier: Apache-2.0
"""One server of a scenario, and what users and its guest see of it."""

from __future__ import annotations

import dataclasses
import time
import urllib.request

import openstack

from tests.embedded.invariants import leaks
from tests.multicell.errors import MulticellError
from tests.multicell.kit import observe
from tests.multicell.kit import wiring
from tests.multicell.kit.clients import Clients
from tests.multicell.waiting import wait_until

#: Seconds that an operation may take.
LIMIT = 240


@dataclasses.dataclass(frozen=True)
class Tick:
    """One line that the guest wrote: how often it had booted, and when."""

    boot: int
    second: int


class Server:
    """A server.

    :param clients: of the cloud
    :param uuid: the server's
    """

    def __init__(self, clients: Clients, uuid: str) -> None:
        self.clients = clients
        self.uuid = uuid

    # What the API says

    def show(self) -> dict:
        """Return the server as the compute API shows it."""
        return self.clients.compute('GET', f'/servers/{self.uuid}')['server']

    @property
    def host(self) -> str:
        """The host it is on."""
        return self.show()['OS-EXT-SRV-ATTR:host']

    @property
    def address(self) -> str:
        """Its IP address."""
        ((address,),) = self.show()['addresses'].values()
        return address['addr']

    @property
    def identity(self) -> tuple:
        """What must stay through every move: address, MAC, name, tags."""
        server = self.show()
        return (
            server['addresses'],
            server['name'],
            server['tags'],
            server['metadata'],
        )

    def migrations(self) -> list[dict]:
        """Return its migrations, newest first."""
        path = f'/os-migrations?instance_uuid={self.uuid}'
        return self.clients.compute('GET', path)['migrations']

    def wait_for_migration(self, status: str) -> None:
        """Wait for the status of the newest migration.

        :param status: as the API spells it
        """
        wait_until(
            lambda: (self.migrations() or [{}])[0].get('status') == status,
            f'the migration is {status}',
            LIMIT,
        )

    def events(self, name: str | None = None) -> list[dict]:
        """Return the events of its last action.

        :param name: only those of this name
        """
        path = f'/servers/{self.uuid}/os-instance-actions'
        action = self.clients.compute('GET', path)['instanceActions'][0]
        found = self.clients.compute('GET', f'{path}/{action["request_id"]}')
        return [
            event
            for event in found['instanceAction']['events']
            if name in (None, event['event'])
        ]

    def failures(self) -> list[str]:
        """Return the events of its last action that failed, with details."""
        return [
            f'{event["event"]}: {event.get("details")}'
            for event in self.events()
            if event['result'] == 'Error'
        ]

    # What a user does

    def act(self, action: str, arguments: dict | None = None) -> None:
        """Ask for an action and do not wait for its end.

        :param action: its name in the compute API
        :param arguments: its arguments
        """
        self.clients.compute(
            'POST', f'/servers/{self.uuid}/action', {action: arguments}
        )

    def wait_for(self, status: str, limit: float = LIMIT) -> Server:
        """Wait until the server has a status and no task.

        :param status: as the API spells it
        :param limit: seconds
        :returns: itself
        :raises: MulticellError; at once with the fault if the server ends in
            another final status
        """

        def arrived() -> bool:
            server = self.show()
            if server['OS-EXT-STS:task_state']:
                return False
            if server['status'] == 'ERROR' != status:
                raise MulticellError(
                    f'server is in ERROR: {server.get("fault")}; '
                    f'{self.failures()}'
                )
            return server['status'] == status

        wait_until(arrived, f'server {self.uuid} is {status}', limit)
        return self

    def migrate(self, host: str | None = None) -> float:
        """Cold migrate and wait for VERIFY_RESIZE.

        :param host: where to; None lets the scheduler choose
        :returns: seconds it took
        """
        began = time.monotonic()
        self.act('migrate', {'host': host} if host else None)
        self.wait_for('VERIFY_RESIZE')
        return time.monotonic() - began

    def live_migrate(self, **arguments: object) -> str:
        """Ask for a live migration and do not wait for its end.

        :param arguments: of the action; what is left out is Nova's to choose
        :returns: path of the migration, as the answer tells it
        """
        answer = self.clients.ask_compute(
            'POST',
            f'/servers/{self.uuid}/action',
            {'os-migrateLive': arguments},
        )
        location = answer.headers.get('Location', '')
        return location[location.find('/servers/') :]

    def confirm(self, status: str = 'ACTIVE') -> None:
        """Confirm a move.

        :param status: what to wait for
        """
        self.act('confirmResize')
        self.wait_for(status)
        self._wait_for_moves()

    def revert(self, status: str = 'ACTIVE') -> None:
        """Revert a move.

        :param status: what to wait for
        """
        self.act('revertResize')
        self.wait_for(status)
        self._wait_for_moves()

    def _wait_for_moves(self) -> None:
        # A confirm goes on in the background when the server is ACTIVE.
        wait_until(
            lambda: (
                self.migrations()[0]['status']
                not in ('confirming', 'reverting', 'finished')
            ),
            'the migration ends',
        )

    def attach(self, volume: str) -> None:
        """Attach a volume and wait for it.

        :param volume: its uuid
        """
        self.clients.compute(
            'POST',
            f'/servers/{self.uuid}/os-volume_attachments',
            {'volumeAttachment': {'volumeId': volume}},
        )
        storage = self.clients.sdk.block_storage
        wait_until(
            lambda: storage.get_volume(volume).status == 'in-use',
            'the volume is attached',
        )

    def detach(self, volume: str) -> None:
        """Detach a volume and wait until it is not the server's any more.

        :param volume: its uuid
        """
        path = f'/servers/{self.uuid}/os-volume_attachments/{volume}'
        self.clients.compute('DELETE', path)
        wait_until(
            lambda: volume not in self.volumes, 'the volume is detached'
        )

    @property
    def volumes(self) -> list[str]:
        """The uuids of its volumes."""
        path = f'/servers/{self.uuid}/os-volume_attachments'
        return [
            attachment['volumeId']
            for attachment in self.clients.compute('GET', path)[
                'volumeAttachments'
            ]
        ]

    def delete(self) -> None:
        """Delete the server and wait until it is gone."""
        self.clients.compute('DELETE', f'/servers/{self.uuid}')
        wait_until(self.is_gone, f'server {self.uuid} is gone')

    def is_gone(self) -> bool:
        """Tell whether the API does not know the server any more."""
        try:
            self.show()
        except openstack.exceptions.NotFoundException:
            return True
        return False

    # What the guest says

    def ask(self, path: str, limit: float = 90) -> str:
        """Ask the web server in the guest, until it answers.

        :param path: below its address
        :param limit: seconds
        :returns: the answer
        :raises: MulticellError with what the guest said on its console, and
            how it is connected
        """
        url = f'http://{self.address}/{path}'

        def answer() -> str | None:
            try:
                with urllib.request.urlopen(url, timeout=15) as found:
                    return found.read().decode()
            except OSError:
                return None

        try:
            return wait_until(answer, f'{url} answers', limit)
        except MulticellError as error:
            console = self.clients.sdk.compute.get_server_console_output(
                self.uuid, length=10
            )
            wires = wiring.describe(self.clients, self.uuid)
            raise MulticellError(
                f'{error}\n{console["output"]}{wires}'
            ) from error

    def ticks(self) -> list[Tick]:
        """Return what the guest wrote, once a second while it ran."""
        return [
            Tick(*map(int, line.split()))
            for line in self.ask('ticks').splitlines()
        ]

    def sums(self) -> dict[str, str]:
        """Return the checksums of the guest's disks, by their names."""
        return dict(
            line.split() for line in self.ask('cgi-bin/sums').splitlines()
        )

    def fill(self, disk: str) -> str:
        """Let the guest write a pattern to a disk.

        :param disk: its name in the guest
        :returns: the checksum
        """
        return self.ask(f'cgi-bin/fill?{disk}').split()[1]

    # What is left of it

    def leaks(self) -> list[str]:
        """Name everything that does not belong; see the one checker."""
        found = observe.snapshot(self.clients, self.uuid)
        return leaks(found) + observe.stray_files(self.clients, found)

    def settle(self, limit: float = 60) -> None:
        """Check that nothing is left or missing.

        What periodic work puts right gets a moment.

        :param limit: seconds
        :raises: MulticellError with what was found
        """
        found: list[str] = []

        def is_clean() -> bool:
            found[:] = self.leaks()
            return not found

        try:
            wait_until(is_clean, 'no leaks', limit, 1)
        except MulticellError:
            raise MulticellError('; '.join(found))


def downtime(ticks: list[Tick]) -> int:
    """Return the longest time that the guest did not write, in seconds.

    :param ticks: its ticks
    """
    seconds = [tick.second for tick in ticks]
    return max(
        (
            later - earlier
            for earlier, later in zip(seconds, seconds[1:], strict=False)
        ),
        default=0,
    )

# SPDX-License-Identifier: Apache-2.0
"""The story that the demonstration tells, on an embedded cloud."""

from __future__ import annotations

import functools
from importlib import metadata
import inspect
import os
import sys
from typing import Any

from nova import utils
from nova.tests.fixtures import notifications

from tests.demo import checks
from tests.demo import timeline
from tests.embedded import cloud

Server = dict[str, Any]


class Story(cloud.TwoCellCloud):
    """Two servers go to another cell; one stays, one comes back."""

    def setUp(self) -> None:
        """Start the cloud, with the timeline listening."""
        self.timeline: timeline.Timeline | None = None
        self.checks = checks.Checks()
        self._listen()
        super().setUp()
        self.timeline = timeline.Timeline(self)

    def runTest(self) -> None:
        """Tell the story, then sum it up."""
        print(describe_host(), flush=True)
        if os.environ.get('OS_DEFAULT__CONFIG_SOURCE'):
            self.checks.equal(
                'the host loaded nova_xcell through its config',
                True,
                plugins_loaded(),
            )
        try:
            self._first_server()
            self._second_server()
        except AssertionError as error:
            self.checks.empty('the story came to its end', [str(error)[:300]])
        self.checks.empty(
            'every step could be observed', self.timeline.problems
        )
        self._sum_up()

    def on_volume_check(self, host: str, volume_id: str, answer: bool) -> None:
        """Pass a hypervisor's answer on to the timeline.

        :param host: the host asked
        :param volume_id: the volume
        :param answer: what it said
        """
        if self.timeline:
            self.timeline.on_volume_check(host, volume_id, answer)

    @property
    def failed(self) -> int:
        """How many checks failed, once the story was told."""
        return self._failed

    def _listen(self) -> None:
        """Let the timeline hear every versioned notification."""
        original = notifications.FakeVersionedNotifier._notify

        @functools.wraps(original)
        def notify(notifier: Any, *args: Any, **kwargs: Any) -> None:
            original(notifier, *args, **kwargs)
            if self.timeline:
                sent = (
                    inspect.signature(original)
                    .bind(notifier, *args, **kwargs)
                    .arguments
                )
                self.timeline.on_notification(
                    notifier.publisher_id,
                    sent['event_type'],
                    notifier.versioned_notifications[-1]['payload'],
                )

        self.stub_out(
            'nova.tests.fixtures.notifications.FakeVersionedNotifier._notify',
            notify,
        )

    def _first_server(self) -> None:
        """The first chosen host fails, the next one takes the server."""
        check = self.checks
        self._title('A server with a data volume and a port, in cell1')
        server = self._boot('first')
        volume = self.volumes_of(server)[0]

        self._title(
            'Resize it; host2, the first choice in cell2, '
            'has no path to its volume'
        )
        self.make_volume_unreachable(volume, 'host2')
        server = self._act('resize', server)
        check.equal(
            'first: resized, waiting for the user',
            'VERIFY_RESIZE',
            server['status'],
        )
        check.equal(
            'first: on host3 in cell2, the next alternate',
            'host3',
            self._host(server),
        )
        check.equal(
            'first: host2 was tried and passed over for host3',
            ['host2', 'host3'],
            list(self.timeline.tried.get('first', ())),
        )
        self._check_leaks('first: nothing leaked on the way', server)

        if server['status'] == 'VERIFY_RESIZE':
            self._title('Confirm it')
            server = self._act('confirm', server)
            self._check_leaks('first: nothing leaked after confirm', server)
        check.equal(
            'first: confirmed, ACTIVE on host3',
            ('ACTIVE', 'host3'),
            (server['status'], self._host(server)),
        )
        self.mend()
        self._remove(server)

    def _second_server(self) -> None:
        """A move that the user takes back."""
        check = self.checks
        self._title('A second server, resized as well')
        server = self._act('resize', self._boot('second'))
        check.equal(
            'second: resized, waiting for the user',
            'VERIFY_RESIZE',
            server['status'],
        )
        self._check_leaks('second: nothing leaked on the way', server)

        if server['status'] == 'VERIFY_RESIZE':
            self._title('Revert it')
            server = self._act('revert', server)
            self._check_leaks('second: nothing leaked after revert', server)
        check.equal(
            'second: reverted, ACTIVE on host1 in cell1',
            ('ACTIVE', 'host1'),
            (server['status'], self._host(server)),
        )
        self._remove(server)

    def _boot(self, name: str) -> Server:
        self.timeline.say('user: boot', server=name)
        server = self.create_server(name, data_volume=True)
        self.timeline.look(
            f'=> {server["status"]}', server, self._host(server)
        )
        self.checks.equal(
            f'{name}: booted on host1 in cell1',
            ('ACTIVE', 'host1'),
            (server['status'], self._host(server)),
        )
        return server

    def _act(self, action: str, server: Server) -> Server:
        """Do what the user asks for and show how it ended."""
        self.timeline.say(f'user: {action}', server=server['name'])
        server = getattr(self, action)(server)
        self.timeline.look(
            f'=> {server["status"]}', server, self._host(server)
        )
        if 'fault' in server:
            print(
                f'            fault: {server["fault"]["message"]}', flush=True
            )
        return server

    def _remove(self, server: Server) -> None:
        """Delete a server: what no longer has an owner shows up then."""
        name = server['name']
        self._title(f'Delete {name}')
        self.timeline.say('user: delete', server=name)
        self.delete(server)
        self.checks.empty(
            f'{name}: deleted, and nothing of it is left',
            self.wait_for_no_leak(server, upkeep=True),
        )
        self.timeline.look('looked for leaks', server)

    def _check_leaks(self, claim: str, server: Server) -> None:
        self.checks.empty(claim, self.wait_for_no_leak(server))
        self.timeline.look('looked for leaks', server)

    def _host(self, server: Server) -> str:
        return server['OS-EXT-SRV-ATTR:host'] or ''

    def _title(self, text: str) -> None:
        print(f'\n{text}', flush=True)

    def _sum_up(self) -> None:
        print('\nSummary', flush=True)
        for line in self.checks.lines():
            print(line)
        for name, hosts in self.timeline.tried.items():
            print(
                f'Hosts tried for {name}: '
                + ', '.join(f'{host} ({word})' for host, word in hosts.items())
            )
        total, failed = len(self.checks.done), self.checks.failed
        # The host's base class clears public attributes when it is done.
        self._failed = failed
        print(f'{total - failed} checks passed, {failed} failed', flush=True)


def describe_host() -> str:
    """Say on what the story runs.

    :returns: the versions of the host and whether our plug-ins were loaded
    """
    mode = 'native threads' if _threading() else 'eventlet'
    return (
        f'Nova {metadata.version("nova")}, Placement '
        f'{metadata.version("openstack-placement")}, {mode}; '
        f'nova_xcell is {"loaded" if plugins_loaded() else "NOT loaded"}'
    )


def plugins_loaded() -> bool:
    """Say whether the host has loaded our plug-ins.

    :returns: True when it did
    """
    # Looked up, never imported: loading it is the host's part.
    return 'nova_xcell.loader' in sys.modules


def _threading() -> bool:
    # Nova 31 knows eventlet only.
    mode = getattr(utils, 'concurrency_mode_threading', lambda: False)
    return mode()

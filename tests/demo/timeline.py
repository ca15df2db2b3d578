# SPDX-License-Identifier: Apache-2.0
"""A timeline of what happens to servers, printed while it happens.

Driven by Nova's versioned notifications and by the hypervisors' answers to
volume checks: at each of them a snapshot is compared with the one before.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from tests.embedded import observe

#: Sent with every save of a record: of interest only with what it changed.
QUIET_EVENT = 'instance.update'

#: The notification by which a destination says that it was chosen.
CHOSEN_EVENT = 'instance.resize_prep.start'


class Timeline:
    """Prints steps, and below each what changed since the one before."""

    def __init__(self, cloud: Any) -> None:
        self.cloud = cloud
        #: Server name -> host -> what it was heard to say; in order.
        self.tried: dict[str, dict[str, str]] = {}
        #: What went wrong while looking, rather than in the cloud.
        self.problems: list[str] = []
        self._names: dict[str, str] = {}
        self._last: dict[str, observe.Snapshot] = {}
        self._start = time.monotonic()
        # Services report from their own threads.
        self._lock = threading.RLock()

    def say(self, step: str, host: str = '', server: str = '') -> None:
        """Print one step.

        :param step: what happens
        :param host: where, if it happens on one host
        :param server: the name of the server it happens to
        """
        cell = (self.cloud.cell_of(host) or '') if host else ''
        line = (
            f'{time.monotonic() - self._start:5.1f}s  {step:<34} '
            f'{cell:<6} {host:<6} {server}'
        )
        print(line.rstrip(), flush=True)

    def look(self, step: str, server: dict[str, Any], host: str = '') -> None:
        """Print one step and what changed for a server.

        :param step: what happens
        :param server: the server, as the API shows it
        :param host: where, if it happens on one host
        """
        with self._lock:
            self._names[server['id']] = server['name']
            self._step(step, server['id'], host)

    def on_notification(
        self, publisher: str, event: str, payload: dict[str, Any]
    ) -> None:
        """Take a versioned notification.

        :param publisher: `service:host`
        :param event: its type
        :param payload: its serialized payload
        """
        data = payload.get('nova_object.data', {})
        if not event.startswith('instance.') or 'uuid' not in data:
            return
        with self._lock:
            name = self._names.setdefault(data['uuid'], data['display_name'])
            host = publisher.partition(':')[2]
            if self.cloud.cell_of(host) is None:
                host = ''
            if event == CHOSEN_EVENT:
                self.tried.setdefault(name, {}).setdefault(host, 'chosen')
            self._step(event, data['uuid'], host)

    def on_volume_check(self, host: str, volume: str, answer: bool) -> None:
        """Take a hypervisor's answer to a volume check.

        :param host: the host asked
        :param volume: the volume
        :param answer: what it said
        """
        with self._lock:
            for server, seen in self._last.items():
                if any(
                    attachment.volume == volume
                    for attachment in seen.attachments.values()
                ):
                    hosts = self.tried.setdefault(self._names[server], {})
                    hosts[host] = (
                        'reaches the volume'
                        if answer
                        else 'cannot reach the volume'
                    )
                    word = 'yes' if answer else 'NO'
                    self._step(f'can_connect_volume says {word}', server, host)

    def _step(self, step: str, server: str, host: str) -> None:
        # Runs inside the services: whatever fails here must not fail there.
        try:
            seen = observe.snapshot(self.cloud, server)
        except Exception as error:
            self.problems.append(f'{step}: {type(error).__name__}: {error}')
            return
        changes = observe.diff(self._last.get(server), seen)
        self._last[server] = seen
        if changes or step != QUIET_EVENT:
            self.say(step, host, self._names[server])
            for change in changes:
                print(f'            {change}', flush=True)

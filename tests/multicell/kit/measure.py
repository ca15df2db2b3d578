# SPDX-License-Identifier: Apache-2.0
"""Measure a move to the other cell; ``python -m`` prints the figures as JSON.

The databases are asked directly and as another user than the services', so
that looking at a move does not add to what it costs.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import re
import sys
import time

from tests.multicell import layout as lay
from tests.multicell.kit.clients import Clients
from tests.multicell.kit.observe import TEMPORARY_IMAGE_SUFFIX
from tests.multicell.kit.resources import Resources
from tests.multicell.kit.servers import downtime
from tests.multicell.kit.servers import LIMIT
from tests.multicell.kit.servers import Server
from tests.multicell.waiting import wait_until

#: MiB of data on the root disk.
DATA = 32
#: Seconds for which the statements of periodic work are counted.
IDLE = 20

STATE = (
    'select vm_state, task_state from instances '
    'where uuid = %s and deleted = 0 and hidden = 0'
)
STATEMENTS = (
    'select user, select_commands + update_commands as number '
    'from information_schema.user_statistics'
)
#: Glance keeps the rows of images that are deleted.
UPLOADED = (
    'select images.id, images.size from images join image_properties '
    'on image_properties.image_id = images.id '
    'where image_properties.name = "instance_uuid" and value = %s '
    f'and images.name like "%%{TEMPORARY_IMAGE_SUFFIX}"'
)
#: A line of wsgi.py's log.
DOWNLOADED = re.compile(r'"GET /v2/images/([-0-9a-f]+)/file \S+" 200 (\d+)')


@dataclasses.dataclass(frozen=True)
class Figures:
    """What a move took.

    :ivar kind: of the server
    :ivar verify_resize: seconds from the request to VERIFY_RESIZE
    :ivar downtime: seconds that the guest was silent, by its own ticks
    :ivar confirm: seconds from the request to the end of the confirm
    :ivar uploaded: bytes to Glance
    :ivar downloaded: bytes from Glance
    :ivar statements: SQL statements of the move to VERIFY_RESIZE, without
        those of periodic work, by database
    :ivar confirm_statements: the same of the confirm
    """

    kind: str
    verify_resize: float
    downtime: int
    confirm: float
    uploaded: int
    downloaded: int
    statements: dict[str, int]
    confirm_statements: dict[str, int]


class Statements:
    """Counts SQL statements of the services.

    :param clients: of the cloud
    """

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        clients.sql('mysql', 'set global userstat = 1')
        began = time.monotonic()
        before = self._read()
        time.sleep(IDLE)
        spent = self._read() - before
        seconds = time.monotonic() - began
        self._idle = {name: n / seconds for name, n in spent.items()}

    def _read(self) -> collections.Counter[str]:
        rows = self.clients.sql('mysql', STATEMENTS)
        return collections.Counter(
            {
                row['user']: int(row['number'])
                for row in rows
                if row['user'] != 'root'
            }
        )

    @contextlib.contextmanager
    def counted(self, found: dict[str, int]):
        """Count those of the body.

        :param found: gets the numbers by database
        """
        before, began = self._read(), time.monotonic()
        yield
        seconds = time.monotonic() - began
        for name, number in (self._read() - before).items():
            idle = self._idle.get(name, 0) * seconds
            found[name] = max(0, round(number - idle))


def move(clients: Clients, kind: str) -> Figures:
    """Move a new server to the other cell and confirm.

    :param clients: of the cloud
    :param kind: ``image-backed`` or ``volume-backed``
    """
    resources = Resources(clients)
    try:
        server = resources.server(
            'host1a', volume_backed=kind == 'volume-backed'
        )
        server.ask(f'cgi-bin/grow?{DATA}')
        counter = Statements(clients)
        log = clients.cloud.processes.log_file('glance-api')
        offset = log.stat().st_size
        there: dict[str, int] = {}
        with counter.counted(there):
            verify_resize = _until(
                server, 'migrate', {'host': 'host2a'}, 'resized'
            )
        silent = downtime(server.ticks())
        confirm: dict[str, int] = {}
        with counter.counted(confirm):
            confirmed = _until(server, 'confirmResize', None, 'active')
        images = {
            row['id']: row['size']
            for row in clients.sql('glance', UPLOADED, server.uuid)
        }
        with log.open('rb') as file:
            file.seek(offset)
            downloads = DOWNLOADED.findall(file.read().decode())
        return Figures(
            kind=kind,
            verify_resize=verify_resize,
            downtime=silent,
            confirm=confirmed,
            uploaded=sum(images.values()),
            downloaded=sum(
                int(n) for image, n in downloads if image in images
            ),
            statements=there,
            confirm_statements=confirm,
        )
    finally:
        resources.release()


def _until(
    server: Server, action: str, arguments: dict | None, vm_state: str
) -> float:
    """Ask for an action; return the seconds until the server is at rest."""

    def is_there() -> bool:
        rows = [
            row
            for cell in lay.CELLS
            for row in server.clients.sql(f'nova_{cell}', STATE, server.uuid)
        ]
        return rows == [{'vm_state': vm_state, 'task_state': None}]

    began = time.monotonic()
    server.act(action, arguments)
    wait_until(is_there, f'{action} ends in {vm_state}', LIMIT, 0.1)
    return round(time.monotonic() - began, 1)


def main(kinds: list[str]) -> int:
    """Measure a move of a server of each kind.

    :param kinds: ``image-backed``, ``volume-backed``
    :returns: the exit code
    """
    clients = Clients()
    Resources(clients).prepare()
    figures = [dataclasses.asdict(move(clients, kind)) for kind in kinds]
    print(json.dumps(figures))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

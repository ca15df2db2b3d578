# SPDX-License-Identifier: Apache-2.0
"""Where a move that something broke may end, and nowhere else.

It is finished, or the server is as it was, or it is in ERROR and a plain hard
reboot brings it back; without an operator's hand, and with nothing left.
"""

from __future__ import annotations

import time

import openstack

from tests.multicell.errors import MulticellError
from tests.multicell.kit import servers
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.waiting import wait_until

#: Status of a server at rest -> status of its migration.
_ENDS = {'VERIFY_RESIZE': 'finished', 'ACTIVE': 'error', 'ERROR': 'error'}

#: Seconds in which a move ends. The agents of Neutron may need longer than
#: Nova waits for them.
LIMIT = 2 * servers.LIMIT

#: Seconds that something is away.
OUTAGE = 30


def outage(server: Server) -> None:
    """Wait as long as something is to be away, or until the move is over.

    :param server: the server that moves
    """
    try:
        wait_until(lambda: _at_end(server), 'the move is over', OUTAGE, 1)
    except MulticellError:
        pass


def of_move(context: Context, server: Server, sums: dict[str, str]) -> None:
    """Wait for the end of a move from host1a to host2a and judge it.

    After it the server moves for good, to see that nothing is in the way.

    :param context: of the scenario
    :param server: the server
    :param sums: checksums of its disks before the move
    """
    began = time.monotonic()
    status = wait_until(lambda: _at_end(server), 'the move is over', LIMIT, 1)
    context.note(f'{status} after {time.monotonic() - began:.0f} s')
    if status == 'ERROR':
        server.act('reboot', {'type': 'HARD'})
        server.wait_for('ACTIVE')
    arrived = status == 'VERIFY_RESIZE'
    expect(server.host, 'host2a' if arrived else 'host1a', 'host')
    expect(server.sums(), sums, 'data')
    server.settle(servers.LIMIT)
    if not arrived:
        move(context, server)
    confirm(server)


def _at_end(server: Server) -> str | None:
    try:
        shown = server.show()
        status = shown['status']
        if shown.get('OS-EXT-STS:task_state') or status not in _ENDS:
            return None
        ended = server.migrations()[0]['status'] == _ENDS[status]
    except openstack.exceptions.SDKException:
        # While something is away, so may be the answer.
        return None
    return status if ended else None


def of_decision(
    context: Context,
    server: Server,
    sums: dict[str, str],
    host: str,
    status: str,
) -> None:
    """Wait for the end of a confirm or a revert and judge it.

    :param context: of the scenario
    :param server: the server
    :param sums: checksums of its disks before
    :param host: where it has to be
    :param status: of its migration at the end
    """
    began = time.monotonic()
    server.wait_for_migration(status)
    server.wait_for('ACTIVE')
    context.note(f'{status} after {time.monotonic() - began:.0f} s')
    expect(server.host, host, 'host')
    expect(server.sums(), sums, 'data')
    server.settle(servers.LIMIT)

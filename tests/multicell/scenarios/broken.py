# SPDX-License-Identifier: Apache-2.0
"""Moves to cell2 while something breaks."""

from __future__ import annotations

from tests.multicell.kit import servers
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario
from tests.multicell.waiting import wait_until

#: The source compute, about to make the snapshot; both hosts are prepared.
SNAPSHOT = 'nova.compute.manager:ComputeManager._snapshot_for_resize'
#: Glance, with the first bytes of an image.
UPLOAD = 'glance_store._drivers.filesystem:Store.add'


def _comes_to_an_end(
    context: Context, server: Server, sums: dict[str, str]
) -> None:
    """Wait until the move is over, one way or the other; then move for good.

    The agents of Neutron may need longer than Nova waits for them.
    """
    status = wait_until(
        lambda: _end(server), 'the move is over', 2 * servers.LIMIT, 1
    )
    context.note(status)
    expect(server.sums(), sums, 'data')
    server.settle()
    if status == 'ACTIVE':
        expect(server.host, 'host1a', 'host')
        move(context, server)
    confirm(server)


def _end(server: Server) -> str | None:
    ends = {'VERIFY_RESIZE': 'finished', 'ACTIVE': 'error'}
    status = server.show()['status']
    if server.show()['OS-EXT-STS:task_state'] or status not in ends:
        return None
    ended = server.migrations()[0]['status'] == ends[status]
    return status if ended else None


@scenario(needs_plugins=True)
def dead_host_is_passed_over(context: Context) -> None:
    """A host that has just died costs a minute, not the move."""
    server = context.resources.server('host1a')
    # With more free memory, host2a is the first choice.
    context.resources.server('host2b')
    with context.faults.disabled('host1a', 'host1b'):
        with context.faults.killed('nova-compute-host2a'):
            seconds = server.migrate()
    context.note(f'VERIFY_RESIZE after {seconds:.1f} s')
    expect(server.host, 'host2b', 'host')
    server.settle()
    confirm(server)


@scenario(needs_plugins=True)
def glance_dies_in_mid_upload(context: Context) -> None:
    """The server stays where it is, and can move later."""
    server = context.resources.server('host1a')
    sums = server.sums()
    with context.faults.killed_at('glance-api', UPLOAD) as point:
        server.act('migrate', {'host': 'host2a'})
        point.wait()
    server.wait_for_migration('error')
    server.wait_for('ACTIVE')
    expect(server.host, 'host1a', 'host')
    expect(server.sums(), sums, 'data')
    server.settle()
    move(context, server)
    confirm(server)


@scenario(needs_plugins=True)
def broker_restarts(context: Context) -> None:
    """A broker that is gone for a while delays a move."""
    server = context.resources.server('host1a')
    sums = server.sums()
    with context.faults.held_at('nova-compute-host1a', SNAPSHOT) as point:
        server.act('migrate', {'host': 'host2a'})
        point.wait()
        with context.faults.broker_down():
            point.release()
        _comes_to_an_end(context, server, sums)


@scenario(needs_plugins=True)
def database_restarts(context: Context) -> None:
    """So does a database server."""
    server = context.resources.server('host1a')
    sums = server.sums()
    with context.faults.held_at('nova-compute-host1a', SNAPSHOT) as point:
        server.act('migrate', {'host': 'host2a'})
        point.wait()
        with context.faults.database_down():
            pass
        point.release()
        _comes_to_an_end(context, server, sums)

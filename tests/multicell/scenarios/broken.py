# SPDX-License-Identifier: Apache-2.0
"""Moves to cell2 while something breaks."""

from __future__ import annotations

from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario

#: The source compute, about to make the snapshot; both hosts are prepared.
SNAPSHOT = 'nova.compute.manager:ComputeManager._snapshot_for_resize'
#: Glance, with the first bytes of an image.
UPLOAD = 'glance_store._drivers.filesystem:Store.add'


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


@scenario()
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


@scenario()
def broker_restarts(context: Context) -> None:
    """A broker that is gone for a while delays a move."""
    server = context.resources.server('host1a')
    sums = server.sums()
    with context.faults.held_at('nova-compute-host1a', SNAPSHOT) as point:
        server.act('migrate', {'host': 'host2a'})
        point.wait()
        with context.faults.broker_down():
            point.release()
        server.wait_for('VERIFY_RESIZE')
    expect(server.sums(), sums, 'data')
    server.settle()
    confirm(server)


@scenario()
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
        server.wait_for('VERIFY_RESIZE')
    expect(server.sums(), sums, 'data')
    server.settle()
    confirm(server)

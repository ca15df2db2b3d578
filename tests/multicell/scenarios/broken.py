# SPDX-License-Identifier: Apache-2.0
"""Moves to cell2 while something breaks."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tests.multicell.scenarios import ends
from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario

#: The source compute, about to make the snapshot; both hosts are prepared.
SNAPSHOT = 'nova.compute.manager:ComputeManager._snapshot_for_resize'
#: The conductor, with the guest powered off and nothing of it in cell2.
FINISH = (
    'nova.conductor.tasks.cross_cell_migrate:FinishResizeAtDestTask._execute'
)
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
        ends.of_move(context, server, sums)


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
        ends.of_move(context, server, sums)


@scenario(needs_plugins=True)
def cell_database_restarts(context: Context) -> None:
    """The database of the cell that the server goes to is away."""
    _finish_without(context, context.faults.cell_database_down('cell2'))


@scenario(needs_plugins=True)
def cell_broker_restarts(context: Context) -> None:
    """So is its broker."""
    _finish_without(context, context.faults.cell_broker_down('cell2'))


@scenario(needs_plugins=True)
def libvirtd_restarts(context: Context) -> None:
    """The hypervisor's daemon of the destination is away."""
    _finish_without(context, context.faults.killed('libvirtd-host2a'))


@scenario(needs_plugins=True)
def source_libvirtd_restarts(context: Context) -> None:
    """The hypervisor's daemon of the source is away."""
    _move_without(
        context,
        context.faults.killed('libvirtd-host1a'),
        'nova-compute-host1a',
        SNAPSHOT,
    )


@scenario(needs_plugins=True)
def glance_is_away_at_the_end(context: Context) -> None:
    """The destination does not get the image of the root disk."""
    _finish_without(context, context.faults.killed('glance-api'))


@scenario(needs_plugins=True)
def source_broker_restarts(context: Context) -> None:
    """The broker of the cell that the server comes from is away."""
    _move_without(
        context,
        context.faults.cell_broker_down('cell1'),
        'nova-compute-host1a',
        SNAPSHOT,
    )


def _finish_without(context: Context, fault: AbstractContextManager) -> None:
    """Let something be away when the guest is to start at the destination."""
    _move_without(context, fault, 'nova-conductor-super', FINISH)


def _move_without(
    context: Context, fault: AbstractContextManager, service: str, where: str
) -> None:
    """Let something be away from a point of a move on."""
    server = context.resources.server('host1a')
    sums = server.sums()
    with context.faults.held_at(service, where) as point:
        server.act('migrate', {'host': 'host2a'})
        point.wait()
        with fault:
            point.release()
            ends.outage(server)
    ends.of_move(context, server, sums)

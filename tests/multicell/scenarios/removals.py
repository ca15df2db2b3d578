# SPDX-License-Identifier: Apache-2.0
"""The plug-ins are taken away; a plain host goes on with what they began."""

from __future__ import annotations

from tests.multicell.kit import manage
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.moves import moved
from tests.multicell.scenarios.moves import revert
from tests.multicell.scenarios.moves import with_data
from tests.multicell.scenarios.rebuilds import new_image
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario
from tests.multicell.scenarios.within_cell import live_migrate
from tests.multicell.waiting import wait_until

#: In the middle of a move: the source's guest is off, there is no other yet.
MIDDLE = (
    'nova.conductor.tasks.cross_cell_migrate:PrepResizeAtSourceTask._execute'
)


@scenario(needs_plugins=True)
def uninstalled_in_verify_resize(context: Context) -> None:
    """Three servers wait for a decision; a plain host carries out each."""
    servers = [moved(context) for _number in range(3)]
    to_confirm, to_revert, to_delete = servers
    sums = [server.sums() for server in servers]
    with context.faults.uninstalled():
        _read_everything(context, servers)
        confirm(to_confirm)
        expect(to_confirm.sums(), sums[0], 'data')
        revert(to_revert, sums[1])
        to_delete.delete()
        to_delete.settle()
        _read_everything(context, servers[:2])
        to_confirm.migrate('host2b')
        confirm(to_confirm)
        expect(to_confirm.sums(), sums[0], 'data')
    move(context, to_revert)
    confirm(to_revert)


@scenario(needs_plugins=True)
def uninstalled_after_use(context: Context) -> None:
    """A plain host migrates and rebuilds what the plug-ins did before."""
    flavor = context.resources.flavor(
        {'compute:live_migration_auto_converge': 'true'}
    )
    migrated = context.resources.server('host1a', flavor=flavor)
    live_migrate(migrated, 'host1b')
    rebuilt = context.resources.server('host1a', volume_backed=True)
    _rebuild(context, rebuilt)
    with context.faults.uninstalled():
        _read_everything(context, [migrated, rebuilt])
        live_migrate(migrated, 'host1a')
        _rebuild(context, rebuilt)
        migrated.delete()
        migrated.settle()
    _rebuild(context, rebuilt)


@scenario(needs_plugins=True)
def switched_off_in_a_move(context: Context) -> None:
    """The command still heals the move, with no service that would do it."""
    server = with_data(context)
    identity, sums = server.identity, server.sums()
    with context.faults.switched_off():
        with context.faults.killed_at(
            'nova-conductor-super', MIDDLE, 'after'
        ) as point:
            server.act('migrate', {'host': 'host2a'})
            point.wait()
        # All services are plain from here on.
        context.faults.restart(*context.faults.carriers)
        wait_until(
            lambda: _healed(context, server), 'it is healed', interval=5
        )
        server.wait_for('ACTIVE')
        expect(server.host, 'host1a', 'host')
        expect(server.identity, identity, 'identity')
        expect(server.sums(), sums, 'data')
        server.settle()
    move(context, server)
    confirm(server)


def _healed(context: Context, server: Server) -> bool:
    """Run the command, and tell whether that has ended the move.

    Hosts without the plug-ins cannot say whether they work on a move, and a
    conductor without them could wait for one as long as a call may take. That
    long it is left alone.
    """
    manage.run(
        context.clients,
        'cross-cell',
        'heal',
        OS_DEFAULT__LONG_RPC_TIMEOUT='10',
    )
    return server.show()['OS-EXT-STS:task_state'] is None


def _rebuild(context: Context, server: Server) -> None:
    """Let a server get a new image on its volume."""
    server.act('rebuild', {'imageRef': new_image(context)})
    server.wait_for('ACTIVE')
    expect(server.ticks()[-1].boot, 1, 'boots of the guest')
    server.settle()


def _read_everything(context: Context, servers: list[Server]) -> None:
    """Read each record of some servers as a plain host shows it."""
    ask = context.clients.compute
    listed = {
        found['id']
        for found in ask('GET', '/servers/detail?all_tenants=1')['servers']
    }
    for server in servers:
        expect(server.uuid in listed, True, 'in the list of servers')
        server.migrations()
        server.events()

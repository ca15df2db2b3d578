# SPDX-License-Identifier: Apache-2.0
"""What has nothing to do with the plug-ins works as before."""

from __future__ import annotations

from tests.multicell.kit.servers import downtime
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario


def live_migrate(server: Server, host: str) -> None:
    """Live migrate, and check that the guest runs on there."""
    boot = server.ticks()[-1].boot
    server.live_migrate(host=host, block_migration='auto')
    server.wait_for_migration('completed')
    server.wait_for('ACTIVE')
    expect(server.host, host, 'host')
    expect(server.ticks()[-1].boot, boot, 'boots of the guest')
    server.settle()


@scenario()
def resize_within_cell(context: Context) -> None:
    """A cold migration to the other host of the cell, confirmed."""
    server = context.resources.server('host1a')
    sums = server.sums()
    seconds = server.migrate('host1b')
    context.note(f'VERIFY_RESIZE after {seconds:.1f} s')
    expect(server.sums(), sums, 'data')
    server.confirm()
    expect(server.host, 'host1b', 'host')
    server.settle()


@scenario(core=True)
def live_migration(context: Context) -> None:
    """To the other host of the cell, without a boot."""
    server = context.resources.server('host1a')
    live_migrate(server, 'host1b')
    context.note(f'guest silent for {downtime(server.ticks())} s')


@scenario()
def rebuild(context: Context) -> None:
    """The same server gets a new root disk."""
    server = context.resources.server('host1a')
    sums, identity = server.sums(), server.identity
    image = server.show()['image']['id']
    server.act('rebuild', {'imageRef': image})
    server.wait_for('ACTIVE')
    expect(server.sums()['root'] != sums['root'], True, 'a new root disk')
    expect(server.identity, identity, 'identity')
    server.settle()

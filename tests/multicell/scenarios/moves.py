# SPDX-License-Identifier: Apache-2.0
"""Moves from cell1 to cell2."""

from __future__ import annotations

from tests.multicell.kit import observe
from tests.multicell.kit.servers import downtime
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario

#: The event of the volume check, once a host.
VOLUME_CHECK = 'compute_can_connect_volumes'


def _move(context: Context, server: Server, host: str = 'host2a') -> None:
    """Migrate to the other cell, and check that everything has arrived."""
    identity, sums = server.identity, server.sums()
    seconds = server.migrate(host)
    context.note(f'VERIFY_RESIZE after {seconds:.1f} s')
    expect(server.host, host, 'host')
    expect(server.identity, identity, 'identity')
    expect(server.sums(), sums, 'data')
    context.note(f'guest silent for {downtime(server.ticks())} s')
    server.settle()


def _is_only_on(context: Context, server: Server, host: str) -> None:
    server.settle()
    expect(observe.disks(context.clients, server.uuid), [host], 'files')


@scenario()
def migrate_and_confirm(context: Context) -> None:
    """An image-backed server with a data volume moves for good."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    server.fill('vdb')
    _move(context, server)
    server.confirm()
    expect(server.migrations()[0]['status'], 'confirmed', 'migration')
    _is_only_on(context, server, 'host2a')
    server.ticks()


@scenario()
def migrate_and_revert(context: Context) -> None:
    """The same, and back."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    server.fill('vdb')
    sums = server.sums()
    _move(context, server)
    server.revert()
    expect(server.host, 'host1a', 'host')
    expect(server.sums(), sums, 'data')
    _is_only_on(context, server, 'host1a')


@scenario()
def resize_and_confirm(context: Context) -> None:
    """A resize that the scheduler sends to the other cell."""
    compute = context.clients.sdk.compute
    server = context.resources.server('host1a')
    with context.faults.disabled('host1a', 'host1b'):
        server.act('resize', {'flavorRef': compute.find_flavor('large').id})
        server.wait_for('VERIFY_RESIZE')
    expect(server.host[:5], 'host2', 'cell')
    server.settle()
    server.confirm()
    expect(server.show()['flavor']['original_name'], 'large', 'flavor')
    _is_only_on(context, server, server.host)


@scenario()
def volume_backed(context: Context) -> None:
    """A server whose root disk is a volume."""
    server = context.resources.server('host1a', volume_backed=True)
    _move(context, server)
    server.confirm()
    _is_only_on(context, server, 'host2a')


@scenario()
def stopped(context: Context) -> None:
    """A stopped server stays stopped; its data moves."""
    server = context.resources.server('host1a')
    sums = server.sums()
    server.act('os-stop')
    server.wait_for('SHUTOFF')
    server.migrate('host2a')
    server.settle()
    server.confirm('SHUTOFF')
    _is_only_on(context, server, 'host2a')
    server.act('os-start')
    server.wait_for('ACTIVE')
    expect(server.sums(), sums, 'data')


@scenario()
def delete_in_verify_resize(context: Context) -> None:
    """Deleting a server that waits for confirm cleans both cells."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    server.migrate('host2a')
    server.delete()
    server.settle()
    expect(observe.disks(context.clients, server.uuid), [], 'files')


@scenario(needs_plugins=True)
def alternate_takes_it(context: Context) -> None:
    """A host that cannot reach the volume is passed over."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    server.fill('vdb')
    sums = server.sums()
    # With more free memory, host2a is the first choice.
    context.resources.server('host2b')
    faults = context.faults
    with faults.disabled('host1a', 'host1b'):
        with faults.storage_unreachable('host2a'):
            seconds = server.migrate()
    context.note(f'VERIFY_RESIZE after {seconds:.1f} s')
    expect(server.host, 'host2b', 'host')
    tried = [event['host'] for event in server.events(VOLUME_CHECK)]
    expect(sorted(tried), ['host2a', 'host2b'], 'hosts that were tried')
    expect(server.sums(), sums, 'data')
    server.settle()
    server.confirm()
    _is_only_on(context, server, 'host2b')


@scenario(needs_plugins=True)
def no_host_reaches_the_volume(context: Context) -> None:
    """The server stays as it was, with the reason, and can move later."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    boot = server.ticks()[-1].boot
    with context.faults.storage_unreachable('host2a'):
        server.act('migrate', {'host': 'host2a'})
        server.wait_for_migration('error')
        server.wait_for('ACTIVE')
    expect(server.host, 'host1a', 'host')
    expect(server.ticks()[-1].boot, boot, 'boots of the guest')
    reasons = ' '.join(server.failures())
    expect('cannot be connected' in reasons, True, reasons)
    server.settle()
    _move(context, server)
    server.confirm()
    _is_only_on(context, server, 'host2a')

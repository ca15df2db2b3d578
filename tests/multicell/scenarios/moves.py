# SPDX-License-Identifier: Apache-2.0
"""Moves from cell1 to cell2."""

from __future__ import annotations

from tests.multicell.kit.servers import downtime
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario

#: The event of the volume check, once a host.
VOLUME_CHECK = 'compute_can_connect_volumes'


def move(context: Context, server: Server, host: str = 'host2a') -> None:
    """Migrate to the other cell, and check that everything has arrived."""
    identity, sums = server.identity, server.sums()
    seconds = server.migrate(host)
    context.note(f'VERIFY_RESIZE after {seconds:.1f} s')
    expect(server.host, host, 'host')
    expect(server.identity, identity, 'identity')
    expect(server.sums(), sums, 'data')
    context.note(f'guest silent for {downtime(server.ticks())} s')
    server.settle()


def with_data(context: Context) -> Server:
    """Return a server with data on a volume."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    server.fill('vdb')
    return server


def moved(context: Context) -> Server:
    """Return one that waits for a decision."""
    server = with_data(context)
    move(context, server)
    return server


def confirm(server: Server, status: str = 'ACTIVE') -> None:
    """Confirm, and check that the server is only where it went."""
    host, identity = server.host, server.identity
    server.confirm(status)
    expect(server.migrations()[0]['status'], 'confirmed', 'migration')
    expect(server.host, host, 'host')
    expect(server.identity, identity, 'identity')
    server.settle()


def revert(server: Server, sums: dict[str, str]) -> None:
    """Revert, and check that the server is back.

    :param server: that was moved from host1a
    :param sums: checksums of its disks before
    """
    server.revert()
    expect(server.host, 'host1a', 'host')
    expect(server.sums(), sums, 'data')
    server.settle()


@scenario(core=True)
def migrate_and_confirm(context: Context) -> None:
    """An image-backed server with a data volume moves for good."""
    server = with_data(context)
    move(context, server)
    confirm(server)
    server.ticks()


@scenario(core=True)
def migrate_and_revert(context: Context) -> None:
    """The same, and back."""
    server = with_data(context)
    identity, sums = server.identity, server.sums()
    move(context, server)
    revert(server, sums)
    expect(server.identity, identity, 'identity')


@scenario()
def resize_and_confirm(context: Context) -> None:
    """A resize that the scheduler sends to the other cell."""
    _resize(context, context.resources.server('host1a'))


@scenario()
def resize_volume_backed(context: Context) -> None:
    """The same with a root disk that is a volume."""
    _resize(context, context.resources.server('host1a', volume_backed=True))


def _resize(context: Context, server: Server) -> None:
    flavor = context.clients.sdk.compute.find_flavor('large')
    identity, sums = server.identity, server.sums()
    with context.faults.disabled('host1a', 'host1b'):
        server.act('resize', {'flavorRef': flavor.id})
        server.wait_for('VERIFY_RESIZE')
    expect(server.host[:5], 'host2', 'cell')
    expect(server.identity, identity, 'identity')
    expect(server.sums(), sums, 'data')
    server.settle()
    confirm(server)
    expect(server.show()['flavor']['original_name'], 'large', 'flavor')


@scenario()
def volume_backed(context: Context) -> None:
    """A server whose root disk is a volume moves, back, and for good."""
    server = context.resources.server('host1a', volume_backed=True)
    sums = server.sums()
    move(context, server)
    server.revert()
    expect(server.sums(), sums, 'data')
    server.settle()
    move(context, server)
    confirm(server)


@scenario()
def stopped(context: Context) -> None:
    """A stopped server stays stopped; its data moves."""
    server = context.resources.server('host1a')
    sums = server.sums()
    server.act('os-stop')
    server.wait_for('SHUTOFF')
    server.migrate('host2a')
    server.settle()
    confirm(server, 'SHUTOFF')
    server.act('os-start')
    server.wait_for('ACTIVE')
    expect(server.sums(), sums, 'data')


@scenario(core=True)
def delete_in_verify_resize(context: Context) -> None:
    """Deleting a server that waits for confirm cleans both cells."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    server.migrate('host2a')
    server.delete()
    server.settle()


@scenario(needs_plugins=True, core=True)
def alternate_takes_it(context: Context) -> None:
    """A host that cannot reach the volume is passed over."""
    server = with_data(context)
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
    confirm(server)


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
    move(context, server)
    confirm(server)


@scenario(needs_plugins=True)
def auto_confirm(context: Context) -> None:
    """A move that has waited long enough is confirmed by itself."""
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    with context.faults.configured(
        'nova-conductor-super', OS_DEFAULT__RESIZE_CONFIRM_WINDOW='1'
    ):
        server.migrate('host2a')
        server.wait_for_migration('confirmed')
        server.wait_for('ACTIVE')
    expect(server.host, 'host2a', 'host')
    server.settle()
    server.ticks()


@scenario(needs_plugins=True)
def attach_while_resized(context: Context) -> None:
    """A volume that comes before a decision is there after it."""
    server = context.resources.server('host1a')
    volumes: list[str] = []
    for disk, decide in (('vdb', server.revert), ('vdc', server.confirm)):
        move(context, server)
        volumes.append(context.resources.volume())
        server.attach(volumes[-1])
        server.fill(disk)
        sums = server.sums()
        server.settle()
        decide()
        expect(sorted(server.volumes), sorted(volumes), 'volumes')
        expect(server.sums(), sums, 'data')
        server.settle()


@scenario(needs_plugins=True)
def detach_while_resized(context: Context) -> None:
    """A volume that goes before a decision stays away, and becomes free."""
    server = context.resources.server('host1a')
    volumes = [context.resources.volume() for _ in range(2)]
    for volume in volumes:
        server.attach(volume)
    for decide in (server.revert, server.confirm):
        move(context, server)
        gone = volumes.pop()
        server.detach(gone)
        decide()
        expect(sorted(server.volumes), sorted(volumes), 'volumes')
        # The source had it as well, for a revert.
        context.resources.wait_for_volume(gone)
        server.settle()

# SPDX-License-Identifier: Apache-2.0
"""A custom resource class in use is renamed, and goes to children."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from tests.multicell.kit.reshaping import NEW
from tests.multicell.kit.reshaping import OLD
from tests.multicell.kit.reshaping import Reshaping
from tests.multicell.kit.servers import downtime
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario

_HOST = 'host1a'


@contextlib.contextmanager
def _used(context: Context) -> Iterator[tuple[Reshaping, Server]]:
    """Let a server have one of the four that a host has of a class."""
    reshaping = Reshaping(context.clients, context.faults, _HOST)
    reshaping.describe(4)
    try:
        reshaping.restart()
        flavor = context.resources.flavor({f'resources:{OLD}': '1'})
        server = context.resources.server(_HOST, flavor=flavor)
        expect(reshaping.totals(), {_HOST: {OLD: 4}}, 'inventories')
        try:
            yield reshaping, server
        finally:
            # Without its class on the node, nova-compute would not start.
            server.delete()
    finally:
        reshaping.forget()


def _expect_children(
    reshaping: Reshaping, server: Server, before: dict
) -> None:
    """The server has one of one child, and the rest of the node as before."""
    expect(
        reshaping.totals(),
        {f'{_HOST}_part{index}': {NEW: 2} for index in (0, 1)},
        'inventories',
    )
    held = reshaping.held(server.uuid)
    wanted = {**before[_HOST]}
    del wanted[OLD]
    expect(held.pop(_HOST), wanted, 'what it has of the node')
    expect(list(held.values()), [{NEW: 1}], 'what it has of children')


def _expect_as_before(
    reshaping: Reshaping, server: Server, before: dict
) -> None:
    expect(reshaping.totals(), {_HOST: {OLD: 4}}, 'inventories')
    expect(reshaping.held(server.uuid), before, 'what it has')


@scenario(needs_plugins=True)
def reshape_offline(context: Context) -> None:
    """Everything but the database is stopped; the guests run (RP-07)."""
    with _used(context) as (reshaping, server):
        boot = server.ticks()[-1].boot
        before = reshaping.held(server.uuid)
        rules = ('--rules', reshaping.rules, '--node', _HOST)
        kept = ('--undo-file', reshaping.undo_file)
        own = {reshaping.service: reshaping.environment}
        with context.faults.only_database(own):
            reshaping.command(*rules, *kept)
            _expect_children(reshaping, server, before)
            output = reshaping.command(*rules, *kept)
            expect(
                output.splitlines()[-1],
                f'{_HOST}: nothing to do',
                'the second time',
            )
            reshaping.describe(0)
        # The children are nobody's but Placement's; nothing is put back.
        _expect_children(reshaping, server, before)
        with context.faults.only_database(own):
            reshaping.command('--undo', reshaping.undo_file)
            _expect_as_before(reshaping, server, before)
            reshaping.describe(4)
        # Nor by a nova-compute that reports the old class again.
        _expect_as_before(reshaping, server, before)
        ticks = server.ticks()
        expect(ticks[-1].boot, boot, 'boots of the guest')
        context.note(f'guest silent for {downtime(ticks)} s')
        server.settle()


@scenario(needs_plugins=True)
def reshape_at_start(context: Context) -> None:
    """nova-compute does it, and only once (RP-02, RP-08)."""
    with _used(context) as (reshaping, server):
        before = reshaping.held(server.uuid)
        reshaping.describe(0)
        reshaping.restart(with_rules=True)
        _expect_children(reshaping, server, before)
        reshaping.restart(with_rules=True)
        _expect_children(reshaping, server, before)
        undo_file = reshaping.live_undo_file()
        context.faults.kill(reshaping.service)
        reshaping.command('--undo', undo_file)
        _expect_as_before(reshaping, server, before)
        reshaping.describe(4)
        reshaping.restart()
        _expect_as_before(reshaping, server, before)
        server.settle()

# SPDX-License-Identifier: Apache-2.0
"""One service at a time runs without the plug-ins, for good.

Each line of the table is a scenario.
"""

from __future__ import annotations

import functools

from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario

#: Name of the scenario -> services. Without them in the super-conductor no
#: server can move beside this Neutron, with them or not; see
#: :mod:`tests.multicell.environment`.
PLAIN = {
    'plain-api': ('nova-api',),
    'plain-scheduler': ('nova-scheduler',),
    'plain-cell-conductors': ('nova-conductor-cell1', 'nova-conductor-cell2'),
    'plain-placement': ('placement-api',),
    'plain-source': ('nova-compute-host1a',),
    'plain-dest': ('nova-compute-host2a',),
}


def _there_and_back(services: tuple[str, ...], context: Context) -> None:
    server = context.resources.server('host1a')
    server.attach(context.resources.volume())
    server.fill('vdb')
    sums = server.sums()
    with context.faults.plain(*services):
        move(context, server)
        server.revert()
        expect(server.host, 'host1a', 'host')
        expect(server.sums(), sums, 'data')
        server.settle()
        move(context, server)
        confirm(server)
        expect(server.sums(), sums, 'data')
        server.delete()
        server.settle()


for name, services in PLAIN.items():
    scenario(needs_plugins=True, name=name)(
        functools.partial(_there_and_back, services)
    )

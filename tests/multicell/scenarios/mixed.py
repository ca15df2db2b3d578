# SPDX-License-Identifier: Apache-2.0
"""One service runs without the plug-ins, or with an older version of them.

Each line of a table is a scenario. The older version is a revision that is
named in the environment; without it there are only the scenarios of the first
table.
"""

from __future__ import annotations

from collections.abc import Iterable
import functools
import os

from tests.multicell import environment
from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.moves import revert
from tests.multicell.scenarios.moves import with_data
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


#: Environment variable, a revision as git knows it.
OLDER_VARIABLE = 'NOVA_XCELL_MULTICELL_OLDER'

OLDER = {
    'older-api': ('nova-api',),
    'older-conductor': ('nova-conductor-super',),
    'older-source': ('nova-compute-host1a',),
    'older-dest': ('nova-compute-host2a',),
}


def _plain(services: Iterable[str], context: Context) -> None:
    with context.faults.plain(*services):
        _there_and_back(context)


def _older(services: Iterable[str], context: Context) -> None:
    folder = environment.unpack_older_plugin(
        context.clients.layout, os.environ[OLDER_VARIABLE]
    )
    with context.faults.configured(*services, PYTHONPATH=str(folder)):
        _there_and_back(context)


def _there_and_back(context: Context) -> None:
    server = with_data(context)
    sums = server.sums()
    move(context, server)
    revert(server, sums)
    move(context, server)
    confirm(server)
    expect(server.sums(), sums, 'data')
    server.delete()
    server.settle()


for table, run in (
    (PLAIN, _plain),
    (OLDER if os.environ.get(OLDER_VARIABLE) else {}, _older),
):
    for name, services in table.items():
        scenario(needs_plugins=True, name=name)(
            functools.partial(run, services)
        )

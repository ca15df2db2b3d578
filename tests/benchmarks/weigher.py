# SPDX-License-Identifier: Apache-2.0
"""What weighing many hosts costs, with the host's weigher and with ours.

``python -m tests.benchmarks.weigher [ROUNDS]`` lets each of them weigh 10,000
hosts in 10 cells in turn, as the scheduler does it for one request.
"""

from __future__ import annotations

import collections
import sys
import time

from tests import switch

switch.start()

from oslo_utils import uuidutils  # noqa: E402

from nova import config as nova_config  # noqa: E402
from nova import objects  # noqa: E402
import nova.conf  # noqa: E402
from nova.scheduler import host_manager  # noqa: E402
from nova.scheduler import weights  # noqa: E402
from nova.scheduler.weights import cross_cell as host_module  # noqa: E402

HOSTS = 10000
CELLS = {uuidutils.generate_uuid(): 'cell%d' % number for number in range(10)}

#: What is weighed -> value of [xcell] cell_weights.
CASES = {
    'boot': '',
    'move': '',
    'move, 1 cell with a weight': 'cell3:draining',
    'move, 10 cells with a weight': ','.join(
        '%s:%d' % (name, number + 1)
        for number, name in enumerate(CELLS.values())
    ),
}


def hosts() -> list[host_manager.HostState]:
    """Make hosts that are spread over the cells and in an aggregate each."""
    uuids = list(CELLS)
    states = []
    for number in range(HOSTS):
        name = 'host%d' % number
        state = host_manager.HostState(name, name, uuids[number % len(uuids)])
        state.aggregates = [objects.Aggregate(metadata={})]
        states.append(state)
    return states


def request(move: bool) -> objects.RequestSpec:
    """Make the request that hosts are weighed for.

    :param move: a move that may cross cells, instead of a boot
    """
    if not move:
        return objects.RequestSpec(requested_destination=None)
    return objects.RequestSpec(
        requested_destination=objects.Destination(
            cell=objects.CellMapping(uuid=next(iter(CELLS))),
            allow_cross_cell_move=True,
        )
    )


def weighers() -> dict[str, weights.BaseHostWeigher]:
    """Return the host's weigher and ours."""
    ours = host_module.CrossCellWeigher()
    # Read from the API database once in the life of a scheduler.
    ours._cell_names = dict(CELLS)
    (host,) = type(ours).__bases__
    return {'host': host(), 'ours': ours}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    nova_config.parse_args(['nova'], configure_db=False, init_rpc=False)
    objects.register_all()
    states = hosts()
    handler = weights.HostWeightHandler()
    print(
        '%-30s %12s %12s %7s'
        % ('%d hosts' % HOSTS, 'host, ms', 'ours, ms', 'ratio')
    )
    for case, cell_weights in CASES.items():
        nova.conf.CONF.set_override(
            'cell_weights',
            [item for item in cell_weights.split(',') if item],
            'xcell',
        )
        spec = request(case != 'boot')
        seconds = collections.defaultdict(list)
        for _round in range(rounds):
            for name, weigher in weighers().items():
                begin = time.process_time()
                handler.get_weighed_objects([weigher], states, spec)
                seconds[name].append(time.process_time() - begin)
        host, ours = (min(seconds[name]) * 1000 for name in ('host', 'ours'))
        print('%-30s %12.1f %12.1f %7.2f' % (case, host, ours, host / ours))


if __name__ == '__main__':
    main()

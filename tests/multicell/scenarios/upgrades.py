# SPDX-License-Identifier: Apache-2.0
"""The host goes to its next release while servers move."""

from __future__ import annotations

from tests.multicell.scenarios import ends
from tests.multicell.scenarios.moves import confirm
from tests.multicell.scenarios.moves import moved
from tests.multicell.scenarios.moves import revert
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario
from tests.multicell.scenarios.removals import MIDDLE


@scenario(needs_plugins=True, on_older='nova33')
def host_upgraded(context: Context) -> None:
    """Two servers wait for a decision, one is cut off in its move.

    The cloud has the newest Nova afterwards.
    """
    cloud, faults = context.clients.cloud, context.faults
    to_confirm, to_revert = moved(context), moved(context)
    sums = [server.sums() for server in (to_confirm, to_revert)]
    cut_off = context.resources.server('host1a')
    cut_off_sums = cut_off.sums()
    with faults.killed_at('nova-conductor-super', MIDDLE, 'after') as point:
        cut_off.act('migrate', {'host': 'host2a'})
        point.wait()
        cloud.upgrade()
        faults.restart(*faults.carriers)
    ends.of_move(context, cut_off, cut_off_sums)
    confirm(to_confirm)
    expect(to_confirm.sums(), sums[0], 'data')
    revert(to_revert, sums[1])

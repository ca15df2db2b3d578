# SPDX-License-Identifier: Apache-2.0
"""A service dies at a step of a move, as by ``kill -9``, and is started anew.

Each line of the tables is a scenario.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import functools

from tests.multicell.scenarios import ends
from tests.multicell.scenarios.moves import move
from tests.multicell.scenarios.moves import with_data
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import scenario


@dataclasses.dataclass(frozen=True)
class Death:
    """Where a service dies.

    :param service: its name in the table of services
    :param where: the function
    :param when: ``before`` or ``after`` it
    """

    service: str
    where: str
    when: str


def _conductor(when: str, method: str) -> Death:
    module = 'nova.conductor.tasks.cross_cell_migrate'
    return Death('nova-conductor-super', f'{module}:{method}', when)


def _compute(host: str, when: str, method: str) -> Death:
    where = f'nova.compute.manager:ComputeManager.{method}'
    return Death(f'nova-compute-{host}', where, when)


_source = functools.partial(_compute, 'host1a')
_dest = functools.partial(_compute, 'host2a')

MOVES = {
    'conductor-dies-with-the-copy': _conductor(
        'before', 'CrossCellMigrationTask._prep_resize_at_dest'
    ),
    'conductor-dies-when-dest-is-ready': _conductor(
        'after', 'PrepResizeAtDestTask._execute'
    ),
    'conductor-dies-when-source-is-off': _conductor(
        'after', 'PrepResizeAtSourceTask._execute'
    ),
    'conductor-dies-with-guest-at-dest': _conductor(
        'after', 'FinishResizeAtDestTask._finish_snapshot_based_resize_at_dest'
    ),
    'conductor-dies-when-mapping-has-moved': _conductor(
        'after', 'FinishResizeAtDestTask._update_instance_mapping'
    ),
    'dest-dies-when-it-prepares': _dest(
        'before', '_send_prep_resize_notifications'
    ),
    'source-dies-before-snapshot': _source('before', '_snapshot_for_resize'),
    'source-dies-without-guest': _source(
        'after', '_terminate_volume_connections'
    ),
    'dest-dies-before-spawn': _dest(
        'before', '_finish_snapshot_based_resize_at_dest_spawn'
    ),
    'dest-dies-after-spawn': _dest(
        'after', '_finish_snapshot_based_resize_at_dest_spawn'
    ),
}

CONFIRMS = {
    'conductor-dies-before-confirm': _conductor(
        'before', 'ConfirmResizeTask._cleanup_source_host'
    ),
    'conductor-dies-in-confirm': _conductor(
        'after', 'ConfirmResizeTask._cleanup_source_host'
    ),
    'source-dies-in-confirm': _source(
        'before', '_confirm_snapshot_based_resize_at_source'
    ),
}

REVERTS = {
    'conductor-dies-before-revert': _conductor(
        'before', 'RevertResizeTask._update_instance_mapping'
    ),
    'conductor-dies-in-revert': _conductor(
        'after', 'RevertResizeTask._update_instance_mapping'
    ),
    'dest-dies-in-revert': _dest(
        'after', '_revert_snapshot_based_resize_at_dest'
    ),
    'source-dies-in-revert': _source(
        'before', '_finish_revert_snapshot_based_resize_at_source'
    ),
}


def _in_move(death: Death, context: Context) -> None:
    server = context.resources.server('host1a')
    sums = server.sums()
    _act(death, context, lambda: server.act('migrate', {'host': 'host2a'}))
    ends.of_move(context, server, sums)


def _in_confirm(death: Death, context: Context) -> None:
    _in_decision(death, context, 'confirmResize', 'host2a', 'confirmed')


def _in_revert(death: Death, context: Context) -> None:
    _in_decision(death, context, 'revertResize', 'host1a', 'reverted')


def _in_decision(
    death: Death, context: Context, action: str, host: str, status: str
) -> None:
    server = with_data(context)
    sums = server.sums()
    move(context, server)
    _act(death, context, lambda: server.act(action))
    ends.of_decision(context, server, sums, host, status)


def _act(death: Death, context: Context, act: Callable[[], None]) -> None:
    with context.faults.killed_at(*dataclasses.astuple(death)) as point:
        act()
        point.wait()


for deaths, run in (
    (MOVES, _in_move),
    (CONFIRMS, _in_confirm),
    (REVERTS, _in_revert),
):
    for name, death in deaths.items():
        scenario(needs_plugins=True, name=name)(functools.partial(run, death))

# SPDX-License-Identifier: Apache-2.0
"""Confirm moves that have waited for ``resize_confirm_window`` (XC-15).

The host leaves that to the destination's nova-compute, which in a cell has no
way to the API database. Here it is done where the move is seen as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from oslo_log import log as logging

from nova import objects
from nova.compute import api as compute_api
from nova.compute import vm_states
import nova.conf

from nova_xcell.tasks import cells
from nova_xcell.tasks import lease

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


def run(context) -> None:
    """Confirm what has waited long enough, in every cell that answers.

    :param context: admin context
    """
    if CONF.resize_confirm_window == 0:
        return
    for cell in cells.each(context):
        try:
            cell_context = cells.targeted(context, cell)
            for migration in _waiting(cell_context):
                _confirm(cell_context, migration)
        except Exception as exc:
            LOG.warning(
                'The moves to cell %s cannot be confirmed now: %s',
                cell.identity,
                exc,
            )


def _waiting(context) -> Iterator[objects.Migration]:
    for migration in objects.MigrationList.get_by_filters(
        context, {'status': 'finished'}
    ):
        if migration.cross_cell_move and lease.is_abandoned(
            migration, CONF.resize_confirm_window
        ):
            yield migration


def _confirm(context, migration: objects.Migration) -> None:
    instance = objects.Instance.get_by_uuid(
        context,
        migration.instance_uuid,
        expected_attrs=['metadata', 'system_metadata', 'flavor'],
    )
    if instance.hidden or instance.vm_state != vm_states.RESIZED:
        return
    if instance.task_state is not None or not lease.take(
        migration, is_source=False
    ):
        return
    LOG.info('Confirming a move to another cell.', instance=instance)
    try:
        compute_api.API().confirm_resize(
            context, instance, migration=migration
        )
    except Exception as exc:
        # Looked at again after another window.
        LOG.warning(
            'The move could not be confirmed: %s', exc, instance=instance
        )

# SPDX-License-Identifier: Apache-2.0
"""What a user decides about a move, confirm or revert, is brought to its end.

A task that fails has no way back: what the user wants is tried again here,
and by :mod:`nova_xcell.tasks.reconcile` until it is done.
"""

from __future__ import annotations

import contextlib

from oslo_log import log as logging

from nova import objects
from nova.conductor.tasks import cross_cell_migrate

from nova_xcell.tasks import attempts
from nova_xcell.tasks import cells
from nova_xcell.tasks import goal
from nova_xcell.tasks import lease
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import reconcile
from nova_xcell.tasks import remote
from nova_xcell.tasks import revert_resize
from nova_xcell.tasks import services

LOG = logging.getLogger(__name__)


class ConfirmResizeTask(cross_cell_migrate.ConfirmResizeTask):
    """Confirms a move whatever the source host does (XC-13, XC-18)."""

    def __init__(self, *args, **kwargs):
        """See the host's class; it gets a patient client of the hosts."""
        super().__init__(*args, **kwargs)
        self.compute_rpcapi = remote.ComputeAPI()

    def _execute(self):
        with driving(self.context, self.migration):
            try:
                super()._execute()
            except Exception as exc:
                LOG.warning(
                    'The confirm has failed (%s); trying to finish it.',
                    attempts.reason_of(exc),
                    instance=self.instance,
                )
                _finish(self.context, self.migration, goal.Goal.CONFIRM)

    def rollback(self, ex):
        """Leave the rest to the reconciler: there is no way back."""
        LOG.error(
            'The confirm is not finished (%s); it will be.',
            attempts.reason_of(ex),
            instance=self.instance,
        )


class RevertResizeTask(revert_resize.RevertResizeTask):
    """Reverts a move to its end (XC-14)."""

    def __init__(self, *args, **kwargs):
        """See the host's class; it gets a patient client of the hosts."""
        super().__init__(*args, **kwargs)
        self.compute_rpcapi = remote.ComputeAPI()

    def _execute(self):
        with driving(self.context, self.migration):
            try:
                super()._execute()
            except Exception as exc:
                LOG.warning(
                    'The revert has failed (%s); trying to finish it.',
                    attempts.reason_of(exc),
                    instance=self.instance,
                )
                _finish(self.context, self.migration, goal.Goal.REVERT)

    def rollback(self, ex):
        """Leave the rest to the reconciler."""
        LOG.error(
            'The revert is not finished (%s); it will be.',
            attempts.reason_of(ex),
            instance=self.instance,
        )


@contextlib.contextmanager
def driving(context, migration: objects.Migration):
    """Keep the reconciler from taking over what runs here."""
    contexts = {}
    for host in filter(
        None, (migration.source_compute, migration.dest_compute)
    ):
        cell = objects.HostMapping.get_by_host(context, host).cell_mapping
        contexts[cell.uuid] = cells.targeted(context, cell)
    with lease.held(contexts.values(), migration.uuid):
        yield


def _finish(context, migration: objects.Migration, wanted: goal.Goal) -> None:
    move = xcell_move.Move(context, migration.instance_uuid, migration.uuid)
    reconcile.carry_out(move, services.Services.connect(), wanted)

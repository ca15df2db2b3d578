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


class _Decision:
    """A task of the host that is driven to its end."""

    #: Where the move has to go.
    wanted: goal.Goal
    #: What the user has asked for, in the log.
    name: str

    def __init__(self, *args, **kwargs) -> None:
        """See the host's class; it gets a patient client of the hosts."""
        super().__init__(*args, **kwargs)
        self.compute_rpcapi = remote.ComputeAPI()

    def _execute(self) -> None:
        with driving(self.context, self.migration):
            try:
                super()._execute()
            except Exception as exc:
                LOG.warning(
                    'The %s has failed (%s); trying to finish it.',
                    self.name,
                    attempts.reason_of(exc),
                    instance=self.instance,
                )
                self._finish()

    def _finish(self) -> None:
        move = xcell_move.Move(
            self.context, self.migration.instance_uuid, self.migration.uuid
        )
        reconcile.carry_out(move, services.Services.connect(), self.wanted)
        # nova-api may have given up waiting.
        reconcile.end_delete(move)

    def rollback(self, ex) -> None:
        """Leave the rest to the reconciler.

        The host's sets a server to ERROR that only has to be waited for.
        """
        LOG.error(
            'The %s is not finished (%s); it will be.',
            self.name,
            attempts.reason_of(ex),
            instance=self.instance,
        )


class ConfirmResizeTask(_Decision, cross_cell_migrate.ConfirmResizeTask):
    """A confirm that does not need the source host (XC-13, XC-18)."""

    wanted = goal.Goal.CONFIRM
    name = 'confirm'


class RevertResizeTask(_Decision, revert_resize.RevertResizeTask):
    """A revert that waits for the hosts it needs (XC-14)."""

    wanted = goal.Goal.REVERT
    name = 'revert'


@contextlib.contextmanager
def driving(context, migration: objects.Migration):
    """Keep the reconciler from taking over what runs here."""
    hosts = {
        'source': migration.source_compute,
        'target': migration.dest_compute,
    }
    contexts = {
        half: cells.targeted(
            context,
            objects.HostMapping.get_by_host(context, host).cell_mapping,
        )
        for half, host in hosts.items()
        if host
    }
    with lease.held(migration.uuid, **contexts):
        yield

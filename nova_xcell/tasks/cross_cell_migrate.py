# SPDX-License-Identifier: Apache-2.0
"""The move to another cell, with the next host if one cannot take the server.

The host's MigrationTask finds this module where it looks for its own of that
name, see :mod:`nova_xcell.seams`.
"""

from __future__ import annotations

from oslo_log import log as logging
from oslo_serialization import jsonutils

from nova.compute import task_states
from nova.conductor.tasks import cross_cell_migrate
from nova import exception as nova_exception
from nova.i18n import _
from nova import objects
from nova.scheduler.client import report
from nova.scheduler import utils as scheduler_utils

from nova_xcell.tasks import attempts
from nova_xcell.tasks import dest_claim
from nova_xcell.tasks import instance_copy

LOG = logging.getLogger(__name__)


class CrossCellMigrationTask(cross_cell_migrate.CrossCellMigrationTask):
    """Tries the alternates of the selected host, and carries everything over.

    See spec cross-cell-resize, "(Super)Conductor".
    """

    def _setup_target_cell_db(self):
        """Create the server's records in the target cell (XC-06).

        :returns: nova.objects.Migration and CellMapping of the target cell
        """
        original = self.instance
        self.instance = instance_copy.prepare(original)
        try:
            return super()._setup_target_cell_db()
        finally:
            self.instance = original

    def _prep_resize_at_dest(self, target_cell_migration):
        """Prepare the selected host or, if it fails, an alternate (XC-09).

        :param target_cell_migration: nova.objects.Migration of the target
            cell
        :returns: that migration, with the host that took the server
        :raises: nova.exception.MigrationPreCheckError with the reason of
            every host that was tried
        """
        tried = attempts.Attempts()
        while True:
            try:
                return super()._prep_resize_at_dest(target_cell_migration)
            except Exception as exc:
                if not self._next_host_may_help():
                    raise
                failure = exc
            host = self.host_selection.service_host
            LOG.warning('Host %s cannot take the server: %s', host, failure,
                        instance=self.instance)
            tried.failed(host, failure)
            self._clean_failed_host(target_cell_migration, failure, tried)
            selection = self._claim_next_alternate(tried)
            if selection is None:
                raise self._give_up(tried, _(
                    'No host of the target cell can take the server'), failure)
            LOG.info('Trying alternate host %s.', selection.service_host,
                     instance=self.instance)
            self.host_selection = selection

    def _next_host_may_help(self) -> bool:
        """Tell whether a failure is the host's, and the move still wanted."""
        if 'PrepResizeAtDestTask' in self._completed_tasks:
            # The host was fine; what failed came after.
            return False
        try:
            instance = objects.Instance.get_by_uuid(
                self.context, self.instance.uuid, expected_attrs=[])
        except nova_exception.InstanceNotFound:
            return False
        return instance.task_state == task_states.RESIZE_PREP

    def _clean_failed_host(
        self, target_cell_migration: objects.Migration, failure: Exception,
        tried: attempts.Attempts,
    ) -> None:
        """Take back what the host's own rollback leaves of a failed host.

        Bindings and attachments are gone already.
        """
        claim = dest_claim.DestClaim(
            self._target_cell_context, self._target_cell_instance,
            self.flavor, target_cell_migration, self.host_selection,
            self.compute_rpcapi)
        if not claim.drop(attempts.outcome_unknown(failure)):
            raise self._give_up(tried, _(
                'Host %s did not answer in time, and may still claim '
                'resources for the server; no other host was tried') %
                self.host_selection.service_host, failure)
        self._release_allocation()

    def _release_allocation(self) -> None:
        """Remove what the server holds in placement for the failed host.

        The source's resources are held by the migration meanwhile. A claim
        would be merged with what is left here.
        """
        report.report_client_singleton().delete_allocation_for_instance(
            self.context, self.instance.uuid)

    def _claim_next_alternate(
        self, tried: attempts.Attempts,
    ) -> objects.Selection | None:
        """Claim the resources of the next alternate that has them.

        :param tried: gets the alternates that have not
        :returns: its Selection, None if there is no alternate left
        """
        while self.alternate_hosts:
            selection = self.alternate_hosts.pop(0)
            if selection.cell_uuid != self.host_selection.cell_uuid:
                tried.failed(selection.service_host, _(
                    'it is not in the cell of the selected host'))
            elif self._claim(selection):
                scheduler_utils.fill_provider_mapping(
                    self.request_spec, selection)
                return selection
            else:
                tried.failed(selection.service_host, _(
                    'its resources could not be claimed in placement'))
        return None

    def _claim(self, selection: objects.Selection) -> bool:
        if not selection.allocation_request:
            # As everywhere in the host: a scheduler without placement.
            return True
        return scheduler_utils.claim_resources(
            self.context.elevated(), report.report_client_singleton(),
            self.request_spec, self.instance.uuid,
            jsonutils.loads(selection.allocation_request),
            selection.allocation_request_version)

    @staticmethod
    def _give_up(
        tried: attempts.Attempts, conclusion: str, cause: Exception,
    ) -> nova_exception.MigrationPreCheckError:
        error = nova_exception.MigrationPreCheckError(
            reason=tried.summary(conclusion))
        error.__cause__ = cause
        return error

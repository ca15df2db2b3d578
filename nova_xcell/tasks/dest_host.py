# SPDX-License-Identifier: Apache-2.0
"""One destination host of a move: does it answer, and what does it hold.

An answer that did not come in time says nothing about what the host did
(XC-19). Before another host is tried the outcome is established, and a claim
that was made after all is dropped.
"""

from __future__ import annotations

import time

from oslo_log import log as logging
import oslo_messaging as messaging
from oslo_utils import timeutils

from nova import exception as nova_exception
from nova import objects
import nova.conf
from nova.i18n import _

from nova_xcell import exception
from nova_xcell.compute import endpoint
from nova_xcell.tasks import remote

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

#: Seconds between two questions to a host that is still at work.
POLL_INTERVAL = 1.0

#: The event that nova-compute records around the preparation.
PREP_EVENT = 'compute_prep_snapshot_based_resize_at_dest'


class DestHost:
    """A host that is tried as the destination of a move.

    :param context: auth context targeted at the cell of the host
    :param instance: the server's record in that cell
    :param flavor: the flavor that is to be claimed
    :param migration: nova.objects.Migration in that cell
    :param selection: nova.objects.Selection of the host
    :param compute_rpcapi: nova.compute.rpcapi.ComputeAPI
    """

    def __init__(
        self,
        context,
        instance: objects.Instance,
        flavor: objects.Flavor,
        migration: objects.Migration,
        selection: objects.Selection,
        compute_rpcapi,
    ) -> None:
        self.context = context
        self.instance = instance
        self.flavor = flavor
        self.migration_uuid = migration.uuid
        self.host = selection.service_host
        self.nodename = selection.nodename
        self.compute_rpcapi = compute_rpcapi
        self.xcell_api = endpoint.ComputeXcellAPI()
        self.has_plugin = False
        #: Whether anything was asked of the host that can leave a trace.
        self.chosen = False

    def choose(self, needs_plugin: bool = False) -> None:
        """Make sure that the host answers, and name it in the migration.

        A request to prepare waits in the queue of a host that is gone for as
        long as ``long_rpc_timeout``. So it is only sent to one that is there,
        and the host compares the migration with its own name before it works
        on a request.

        :param needs_plugin: whether a nova-compute without the plug-ins could
            not take the server, because of its ports (XC-24)
        :raises: nova.exception.MigrationPreCheckError
        """
        if not self._is_up():
            raise nova_exception.MigrationPreCheckError(
                reason=_('its nova-compute service is down')
            )
        try:
            self.xcell_api.ping(self.context, self.host)
            self.has_plugin = True
        except exception.PeerWithoutPlugin:
            LOG.debug(
                'nova-compute on %s does not carry nova-xcell.',
                self.host,
                instance=self.instance,
            )
            if needs_plugin:
                raise nova_exception.MigrationPreCheckError(
                    reason=_(
                        'its nova-compute does not carry nova-xcell, which '
                        'ports with a resource request need'
                    )
                )
        except messaging.MessagingTimeout:
            raise nova_exception.MigrationPreCheckError(
                reason=_('its nova-compute service does not answer')
            )
        self._name_in_migration(self.host)
        self.chosen = True

    def drop_claim(self, outcome_unknown: bool) -> bool:
        """Drop what the host claimed, waiting until it has settled.

        :param outcome_unknown: False if the host has answered, or was not
            asked to prepare. What is left is dropped then if the host can be
            reached; if not, its periodic audit does it.
        :returns: True if it is certain that the host does not work on the
            move any more; False if that is still open after
            ``[xcell] prep_settle_timeout``
        """
        if not self.chosen:
            return True
        timer = timeutils.StopWatch(CONF.xcell.prep_settle_timeout).start()
        while not self._try_to_drop_claim(outcome_unknown):
            if timer.expired():
                return False
            time.sleep(POLL_INTERVAL)
        # The host's resource tracker counts what names the host.
        self._name_in_migration(None)
        return True

    def _try_to_drop_claim(self, outcome_unknown: bool) -> bool:
        if not self.has_plugin:
            return not outcome_unknown or self._drop_on_plain_host()
        try:
            settled = self.xcell_api.abandon_prep_at_dest(
                self.context,
                self.host,
                self.instance,
                self.flavor,
                self.nodename,
                self.migration_uuid,
            )
            return settled or not outcome_unknown
        except Exception:
            LOG.warning(
                'Host %s does not tell whether it still prepares a '
                'cross-cell move.',
                self.host,
                instance=self.instance,
                exc_info=True,
            )
            # What a dead nova-compute was working on died with it, and one
            # that starts again finds that it is not named any more.
            return not outcome_unknown or not self._is_up()

    def _is_up(self) -> bool:
        return remote.is_up(self.context, self.host)

    def _drop_on_plain_host(self) -> bool:
        """Do what the host's own calls can do without those of the plug-ins.

        :returns: True if the preparation has ended and its claim is dropped
        """
        result = self._prep_result()
        if result is None:
            return False
        instance = objects.Instance.get_by_uuid(
            self.context,
            self.instance.uuid,
            expected_attrs=['flavor', 'migration_context', 'resources'],
        )
        if result == 'Success' and instance.migration_context:
            # The host's method drops a claim of the flavor it is shown.
            instance.flavor = self.flavor
            try:
                self.compute_rpcapi.drop_move_claim_at_destination(
                    self.context, instance, self.host
                )
            except messaging.MessagingException:
                # Not safe to repeat: it would be subtracted twice. The
                # periodic audit of the host counts anew.
                LOG.warning(
                    'Host %s did not tell whether it dropped a claim.',
                    self.host,
                    instance=self.instance,
                )
            instance.drop_migration_context()
        return True

    def _prep_result(self) -> str | None:
        """Return how the preparation ended, None if it has not."""
        action = objects.InstanceAction.get_by_request_id(
            self.context, self.instance.uuid, self.context.request_id
        )
        if action is None:
            return None
        for event in objects.InstanceActionEventList.get_by_action(
            self.context, action.id
        ):
            if (
                event.event == PREP_EVENT
                and event.host == self.host
                and event.finish_time
            ):
                return event.result
        return None

    def _name_in_migration(self, host: str | None) -> None:
        """Write which host is tried into the record of the target cell.

        Without a node the host's resource tracker does not count it yet.
        """
        migration = objects.Migration.get_by_uuid(
            self.context, self.migration_uuid
        )
        migration.dest_compute = host
        migration.dest_node = None
        migration.dest_host = None
        migration.dest_compute_id = None
        migration.save()

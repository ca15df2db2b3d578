# SPDX-License-Identifier: Apache-2.0
"""Make sure that a destination host that failed holds nothing of the move.

An answer that did not come in time says nothing about what the host did
(XC-19). Before another host is tried the outcome is established, and a claim
that was made after all is dropped.
"""

from __future__ import annotations

import time

from oslo_log import log as logging
import oslo_messaging as messaging
from oslo_utils import timeutils

import nova.conf
from nova import exception as nova_exception
from nova import objects
from nova import servicegroup

from nova_xcell.compute import endpoint
from nova_xcell import exception

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

#: Seconds between two questions to a host that is still at work.
POLL_INTERVAL = 1.0

#: The event that nova-compute records around the preparation.
PREP_EVENT = 'compute_prep_snapshot_based_resize_at_dest'


class DestClaim:
    """The claim that one destination host may hold for a move.

    :param context: auth context targeted at the cell of the host
    :param instance: the server's record in that cell
    :param flavor: the flavor that was to be claimed
    :param migration: nova.objects.Migration in that cell
    :param selection: nova.objects.Selection of the host
    :param compute_rpcapi: nova.compute.rpcapi.ComputeAPI
    """

    def __init__(
        self, context, instance: objects.Instance, flavor: objects.Flavor,
        migration: objects.Migration, selection: objects.Selection,
        compute_rpcapi,
    ) -> None:
        self.context = context
        self.instance = instance
        self.flavor = flavor
        self.migration = migration
        self.host = selection.service_host
        self.nodename = selection.nodename
        self.compute_rpcapi = compute_rpcapi
        self.xcell_api = endpoint.ComputeXcellAPI()

    def drop(self, outcome_unknown: bool) -> bool:
        """Drop the claim, waiting until the host has settled if need be.

        :param outcome_unknown: False if the host has answered; only a host
            without the plug-ins makes a difference
        :returns: True if it is certain that the host holds nothing; False if
            it still does not answer after ``[xcell] prep_settle_timeout``
        """
        timer = timeutils.StopWatch(CONF.xcell.prep_settle_timeout).start()
        while True:
            # What a dead nova-compute had claimed died with it, and the
            # request expires in the queue when its caller's time is over.
            if not self._host_is_up():
                return self._forget_host()
            try:
                settled = self.xcell_api.abandon_prep_at_dest(
                    self.context, self.host, self.instance, self.flavor,
                    self.nodename, self.migration)
            except exception.PeerWithoutPlugin:
                settled = not outcome_unknown or self._drop_on_plain_host()
            except messaging.MessagingTimeout:
                LOG.warning('Host %s does not answer whether it still '
                            'prepares a cross-cell move.', self.host,
                            instance=self.instance)
                settled = False
            if settled:
                return self._forget_host()
            if timer.expired():
                return False
            time.sleep(POLL_INTERVAL)

    def _host_is_up(self) -> bool:
        try:
            service = objects.Service.get_by_compute_host(
                self.context, self.host)
        except nova_exception.ComputeHostNotFound:
            return False
        return servicegroup.API().service_is_up(service)

    def _drop_on_plain_host(self) -> bool:
        """Do without the plug-ins' call what the host's own calls can do.

        :returns: True if the preparation has ended and its claim is dropped
        """
        result = self._prep_result()
        if result is None:
            return False
        instance = objects.Instance.get_by_uuid(
            self.context, self.instance.uuid,
            expected_attrs=['flavor', 'migration_context', 'resources'])
        if result == 'Success' and instance.migration_context:
            # The host's method drops a claim of the flavor it is shown.
            instance.flavor = self.flavor
            self.compute_rpcapi.drop_move_claim_at_destination(
                self.context, instance, self.host)
            instance.drop_migration_context()
        return True

    def _prep_result(self) -> str | None:
        """Return how the preparation ended, None if it has not."""
        action = objects.InstanceAction.get_by_request_id(
            self.context, self.instance.uuid, self.context.request_id)
        if action is None:
            return None
        for event in objects.InstanceActionEventList.get_by_action(
                self.context, action.id):
            if (event.event == PREP_EVENT and event.host == self.host and
                    event.finish_time):
                return event.result
        return None

    def _forget_host(self) -> bool:
        """Stop the host's resource tracker from counting the migration."""
        migration = objects.Migration.get_by_uuid(
            self.context, self.migration.uuid)
        migration.dest_compute = None
        migration.dest_node = None
        migration.dest_host = None
        migration.dest_compute_id = None
        migration.save()
        return True

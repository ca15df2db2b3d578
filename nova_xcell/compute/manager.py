# SPDX-License-Identifier: Apache-2.0
"""ComputeManager of a host that servers may move to from another cell."""

from __future__ import annotations

import functools

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import exception as nova_exception
from nova import objects
from nova import utils
from nova.compute import resource_tracker
from nova.compute import task_states
from nova.compute import utils as compute_utils
import nova.conf
from nova.i18n import _

from nova_xcell import exception
from nova_xcell.compute import claims
from nova_xcell.compute import disk_check
from nova_xcell.compute import endpoint
from nova_xcell.compute import port_providers
from nova_xcell.compute import preparations
from nova_xcell.compute import tracked_moves
from nova_xcell.compute import volume_check
from nova_xcell.tasks import dest_bindings
from nova_xcell.tasks import lease

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

#: Name of the instance action event of the volume check.
VOLUME_CHECK_EVENT = 'compute_can_connect_volumes'
#: Extra spec of flavors that ask for PCI devices.
PCI_ALIAS = 'pci_passthrough:alias'


class ComputeManager(tracked_moves.ComputeManager):
    """The host's manager; named to it through ``nova.service``."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.network_api = port_providers.API()
        self.xcell_preparations = preparations.Preparations()
        self.additional_endpoints.append(endpoint.XcellEndpoint(self))

    def _init_instance(self, context, instance):
        """Look after a server of this host when nova-compute starts.

        The hidden record of a server is none: the server lives in another
        cell, or is not here yet. Its ports are not to be plugged here. A
        guest that was off for a move is started by the conductor that undoes
        the move; the ports of one that is started before that, as the host
        does, may stay without network.

        :param context: auth context of the service
        :param instance: the server's record in this cell
        """
        if instance.hidden:
            LOG.info(
                'Leaving the hidden record of a server in another cell alone.',
                instance=instance,
            )
            return
        if (
            instance.task_state == task_states.RESIZE_MIGRATING
            and self._xcell_is_driven(context, instance)
        ):
            LOG.info(
                'Leaving the guest to the nova-conductor that moves it.',
                instance=instance,
            )
            return
        super()._init_instance(context, instance)

    @staticmethod
    def _xcell_is_driven(context, instance: objects.Instance) -> bool:
        move = lease.last_move(context, instance.uuid)
        return move is not None and not lease.is_abandoned(
            move, CONF.xcell.abandoned_after
        )

    @messaging.expected_exceptions(nova_exception.MigrationPreCheckError)
    def prep_snapshot_based_resize_at_dest(
        self, ctxt, instance, flavor, nodename, migration, limits
    ):
        """Claim resources for a move, and make sure its volumes are in reach.

        See the host's method. What follows it here is the second half of the
        spec's "Prep resize at dest": the source has not been touched, so a
        volume this host cannot reach costs nothing but the next alternate.

        :param ctxt: user auth request context
        :param instance: the server's record in this cell
        :param flavor: nova.objects.Flavor it gets
        :param nodename: name of the compute node of this host
        :param migration: nova.objects.Migration in this cell
        :param limits: nova.objects.SchedulerLimits
        :returns: nova.objects.MigrationContext made by the claim
        :raises: nova.exception.MigrationPreCheckError; nothing of the move is
            left on this host then
        """
        drop_claim = functools.partial(
            self.xcell_drop_claim_at_dest,
            ctxt,
            instance,
            flavor,
            nodename,
            migration.uuid,
        )
        try:
            with self.xcell_preparations.running(migration.uuid, drop_claim):
                self._xcell_refuse_if_overtaken(ctxt, migration.uuid)
                disk_check.check_destination(ctxt, self.driver, instance)
                with claims.following(
                    self._xcell_allocations(ctxt, instance, flavor)
                ):
                    super().prep_snapshot_based_resize_at_dest(
                        ctxt, instance, flavor, nodename, migration, limits
                    )
                try:
                    claims.forget_providers(instance)
                    self._xcell_check_volumes(ctxt, instance)
                except Exception:
                    drop_claim()
                    raise
                return instance.migration_context
        except exception.PreparationAbandoned as exc:
            LOG.info(
                'Not preparing for a move to this host: %s',
                exc,
                instance=instance,
            )
            raise nova_exception.MigrationPreCheckError(reason=str(exc))

    def _xcell_refuse_if_overtaken(self, ctxt, migration_uuid: str) -> None:
        """Refuse a request that waited until the move went on without us.

        A claim would overwrite that of the host the migration names now. A
        conductor without the plug-ins names none before the claim.

        :raises: :class:`~nova_xcell.exception.PreparationAbandoned`
        """
        try:
            migration = objects.Migration.get_by_uuid(ctxt, migration_uuid)
        except nova_exception.MigrationNotFound:
            raise exception.PreparationAbandoned(migration=migration_uuid)
        if (
            migration.status != 'pre-migrating'
            or migration.dest_compute not in (None, self.host)
        ):
            raise exception.PreparationAbandoned(migration=migration_uuid)

    def _xcell_allocations(
        self, ctxt, instance: objects.Instance, flavor: objects.Flavor
    ) -> dict[str, dict]:
        """Return what a server has in placement, if the claim has to know.

        :raises: nova.exception.MigrationPreCheckError, as when the host asks
        """
        if PCI_ALIAS not in flavor.extra_specs:
            return {}
        try:
            return self.reportclient.get_allocs_for_consumer(
                ctxt, instance.uuid
            )['allocations']
        except Exception:
            LOG.warning(
                'Placement does not say which devices are allocated.',
                instance=instance,
                exc_info=True,
            )
            raise nova_exception.MigrationPreCheckError(
                reason=_('Placement does not say which devices are allocated')
            )

    def _xcell_check_volumes(self, ctxt, instance: objects.Instance) -> None:
        with compute_utils.EventReporter(
            ctxt, VOLUME_CHECK_EVENT, self.host, instance.uuid
        ):
            volume_check.check_volumes(
                ctxt, self.driver, self.volume_api, instance
            )

    def _prep_snapshot_based_resize_at_source(
        self, ctxt, instance, migration, snapshot_id=None
    ):
        """Leave the source, if everything can be taken along (XC-26).

        See the host's method.

        :param ctxt: user auth request context
        :param instance: the server's record in this cell
        :param migration: nova.objects.Migration in this cell
        :param snapshot_id: image for the root disk, None if it is a volume
        """
        disk_check.check_source(ctxt, self.driver, instance)
        super()._prep_snapshot_based_resize_at_source(
            ctxt, instance, migration, snapshot_id=snapshot_id
        )
        disk_check.note_what_is_left(self.driver, instance)

    def confirm_snapshot_based_resize_at_source(
        self, ctxt, instance, migration
    ):
        """Confirm a move on its source, and end it for Neutron as well.

        See the host's method, and :mod:`nova_xcell.tasks.dest_bindings`: the
        mark on the destination's bindings is only needed while there are
        those of the source.

        :param ctxt: user auth request context
        :param instance: the server's record in this cell
        :param migration: nova.objects.Migration in this cell
        """
        super().confirm_snapshot_based_resize_at_source(
            ctxt, instance, migration
        )
        vifs = instance.get_network_info()
        if not any(map(dest_bindings.is_wired_by_agent, vifs)):
            return
        moved = instance.obj_clone()
        moved.host = migration.dest_compute
        try:
            self.network_api.setup_networks_on_host(ctxt, moved, teardown=True)
        except Exception:
            # Harmless where the server is; its next move replaces it.
            LOG.warning(
                'The profile of the port bindings on host %s still names '
                'that host as the target of a move.',
                migration.dest_compute,
                instance=instance,
                exc_info=True,
            )

    def xcell_drop_claim_at_dest(
        self,
        ctxt,
        instance: objects.Instance,
        flavor: objects.Flavor,
        nodename: str,
        migration_uuid: str,
    ) -> None:
        """Drop what a preparation claimed on this host, if it did.

        Does what MoveClaim.abort() does; the claim itself is long gone.

        :param ctxt: user auth request context
        :param instance: the server's record in this cell
        :param flavor: the flavor that was claimed
        :param nodename: name of the compute node of this host
        :param migration_uuid: the migration that was claimed for
        """
        if not self._xcell_has_claim(instance.uuid, migration_uuid):
            return
        try:
            # The claim's devices and NUMA cells are in the migration context,
            # which a caller that got no answer does not have.
            instance = objects.Instance.get_by_uuid(
                ctxt,
                instance.uuid,
                expected_attrs=[
                    'flavor',
                    'migration_context',
                    'pci_devices',
                    'resources',
                    'system_metadata',
                ],
            )
        except nova_exception.InstanceNotFound:
            # The periodic audit of the tracker drops it.
            return
        self.rt.drop_move_claim(ctxt, instance, nodename, flavor=flavor)
        instance.drop_migration_context()
        LOG.info(
            'Dropped the claim of a cross-cell move to this host.',
            instance=instance,
        )

    # The tracker's audit empties its books and fills them again.
    @utils.synchronized(resource_tracker.COMPUTE_RESOURCE_SEMAPHORE, fair=True)
    def _xcell_has_claim(
        self, instance_uuid: str, migration_uuid: str
    ) -> bool:
        tracked = self.rt.tracked_migrations.get(instance_uuid)
        return tracked is not None and tracked.uuid == migration_uuid

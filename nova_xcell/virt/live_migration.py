# SPDX-License-Identifier: Apache-2.0
"""LibvirtDriver that says why a live migration cannot be, or was not, done."""

from __future__ import annotations

import nova.conf

from nova_xcell import action_events
from nova_xcell.live import facts

CONF = nova.conf.CONF


class LiveMigrations:
    """Goes before the host's LibvirtDriver."""

    def check_can_live_migrate_destination(
        self,
        context,
        instance,
        src_compute_info,
        dst_compute_info,
        block_migration=False,
        disk_over_commit=False,
    ):
        """Check whether a server can come to this host.

        See the host's method. From microversion 2.25 on the host does not
        look at the disk at all (LM-02). The source, with the plug-ins or
        without, is asked to compare what the disks really hold with what is
        really free here; it does so for a block migration only.

        :param context: auth context
        :param instance: nova.objects.Instance
        :param src_compute_info: see the host's method
        :param dst_compute_info: see the host's method
        :param block_migration: see the host's method
        :param disk_over_commit: None from microversion 2.25 on
        :returns: nova.objects.LibvirtLiveMigrateData
        """
        data = super().check_can_live_migrate_destination(
            context,
            instance,
            src_compute_info,
            dst_compute_info,
            block_migration,
            disk_over_commit,
        )
        if disk_over_commit is None:
            free_mb = self._get_local_gb_info()['free'] * 1024
            data.disk_available_mb = int(free_mb - CONF.reserved_host_disk_mb)
            data.disk_over_commit = True
        return data

    def _live_migration_operation(
        self,
        context,
        instance,
        dest,
        block_migration,
        migrate_data,
        guest,
        device_names,
    ):
        """Run a live migration.

        See the host's method. Its error ends in the log only; it is noted in
        the instance action as well, where the API finds it (LM-04).

        :param context: auth context
        :param instance: nova.objects.Instance
        :param dest: see the host's method
        :param block_migration: see the host's method
        :param migrate_data: see the host's method
        :param guest: see the host's method
        :param device_names: see the host's method
        """
        try:
            return super()._live_migration_operation(
                context,
                instance,
                dest,
                block_migration,
                migrate_data,
                guest,
                device_names,
            )
        except Exception as exc:
            # The host logs the error itself.
            action_events.record(
                context, instance, facts.FAILED_EVENT, str(exc), 'Error'
            )
            raise

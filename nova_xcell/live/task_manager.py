# SPDX-License-Identifier: Apache-2.0
"""ComputeTaskManager that takes a live migration over from nova-api."""

from __future__ import annotations

from nova_xcell.live import handed


class LiveMigrations:
    """Goes before the host's ComputeTaskManager."""

    def _live_migrate(
        self,
        context,
        instance,
        scheduler_hint,
        block_migration,
        disk_over_commit,
        request_spec,
    ):
        """Live-migrate a server, with the migration that nova-api has made.

        See the host's method.

        :param context: auth context targeted at the cell of the server
        :param instance: the server
        :param scheduler_hint: dictionary with the destination, and the uuid
            of the migration if nova-api has made one
        :param block_migration: see the host's method
        :param disk_over_commit: see the host's method
        :param request_spec: see the host's method
        """
        with handed.over(scheduler_hint):
            return super()._live_migrate(
                context,
                instance,
                scheduler_hint,
                block_migration,
                disk_over_commit,
                request_spec,
            )

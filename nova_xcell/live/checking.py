# SPDX-License-Identifier: Apache-2.0
"""nova-conductor notes how a host can take a server."""

from __future__ import annotations

from nova.conductor.tasks import live_migrate

from nova_xcell import action_events
from nova_xcell.live import facts

# What the host has; looked up before the seam replaces it.
_host_checks = live_migrate.LiveMigrationTask._call_livem_checks_on_host


def checks(self, destination, provider_mapping):
    """Check whether a host can take a server, and note how (LM-04).

    See the host's method.

    :param destination: name of the host
    :param provider_mapping: see the host's method
    """
    _host_checks(self, destination, provider_mapping)
    data = self.migrate_data
    if data and 'block_migration' in data:
        block_migration = data.block_migration
    else:
        block_migration = self.block_migration
    if block_migration is not None:
        action_events.record(
            self.context,
            self.instance,
            facts.MODE_EVENT,
            facts.mode_details(
                self.migration.uuid, block_migration, destination
            ),
        )

# SPDX-License-Identifier: Apache-2.0
"""nova-conductor notes how a host can take a server."""

from __future__ import annotations

from oslo_log import log as logging
from oslo_utils import timeutils

from nova import objects
from nova.conductor.tasks import live_migrate
import nova.conf

from nova_xcell.live import facts

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

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
        _note_mode(self, block_migration, destination)


def _note_mode(
    task: live_migrate.LiveMigrationTask, block_migration: bool, host: str
) -> None:
    now = timeutils.utcnow()
    try:
        objects.InstanceActionEvent(
            task.context,
            event=facts.MODE_EVENT,
            host=CONF.host,
            start_time=now,
            finish_time=now,
            result='Success',
            details=facts.mode_details(
                task.migration.uuid, block_migration, host
            ),
        ).create(task.instance.uuid, task.context.request_id)
    except Exception:
        LOG.warning(
            'The storage mode of the live migration could not be recorded in '
            'the instance action; block_migration is %s.',
            block_migration,
            instance=task.instance,
            exc_info=True,
        )

# SPDX-License-Identifier: Apache-2.0
"""ConductorManager that looks after moves nobody drives."""

from __future__ import annotations

from oslo_service import periodic_task

from nova.conductor import manager
import nova.conf

from nova_xcell.tasks import reconcile
from nova_xcell.tasks import services

CONF = nova.conf.CONF


class ConductorManager(manager.ConductorManager):
    """The host's manager; named to it through ``nova.service``."""

    @periodic_task.periodic_task(spacing=CONF.xcell.reconcile_interval)
    def xcell_reconcile(self, context):
        """Bring moves to an end whose conductor has died (XC-27).

        :param context: admin context
        """
        if CONF.api_database.connection is None:
            # The conductor of a cell sees one half of a move only.
            return
        reconcile.Reconciler(context, services.Services.connect()).run()

# SPDX-License-Identifier: Apache-2.0
"""ConductorManager that looks after moves nobody drives."""

from __future__ import annotations

from oslo_service import periodic_task

from nova.conductor import manager
import nova.conf

from nova_xcell.tasks import auto_confirm
from nova_xcell.tasks import endpoint
from nova_xcell.tasks import reconcile
from nova_xcell.tasks import services

CONF = nova.conf.CONF


class ConductorManager(manager.ConductorManager):
    """The host's manager; named to it through ``nova.service``."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.additional_endpoints.append(endpoint.XcellEndpoint())

    @periodic_task.periodic_task(spacing=CONF.xcell.reconcile_interval)
    def xcell_reconcile(self, context):
        """Bring moves to an end whose conductor has died (XC-27).

        :param context: admin context
        """
        if _sees_all_cells():
            reconcile.Reconciler(context, services.Services.connect()).run()

    @periodic_task.periodic_task
    def xcell_confirm(self, context):
        """Confirm moves that have waited long enough (XC-15).

        :param context: admin context
        """
        if _sees_all_cells():
            auto_confirm.run(context)


def _sees_all_cells() -> bool:
    # The conductor of a cell sees one half of a move only.
    return CONF.api_database.connection is not None

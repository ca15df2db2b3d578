# SPDX-License-Identifier: Apache-2.0
"""What the steps of a move work with."""

from __future__ import annotations

import dataclasses

from nova.image import glance
from nova.scheduler.client import report
from nova.volume import cinder

from nova_xcell.compute import endpoint
from nova_xcell.tasks import dest_bindings
from nova_xcell.tasks import remote


@dataclasses.dataclass(frozen=True)
class Services:
    """Clients of the services that keep something of a server."""

    compute: remote.ComputeAPI
    xcell: endpoint.ComputeXcellAPI
    network: dest_bindings.BindingAPI
    volume: cinder.API
    image: glance.API

    @classmethod
    def connect(cls) -> Services:
        """Return clients as the configuration says."""
        return cls(
            compute=remote.ComputeAPI(ping=True),
            xcell=endpoint.ComputeXcellAPI(),
            network=dest_bindings.BindingAPI(),
            volume=cinder.API(),
            image=glance.API(),
        )

    @property
    def placement(self) -> report.SchedulerReportClient:
        """The client of Placement, one a process."""
        return report.report_client_singleton()

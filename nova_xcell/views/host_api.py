# SPDX-License-Identifier: Apache-2.0
"""The API's view of hosts and of what is on them."""

from __future__ import annotations

from nova import objects
from nova.compute import api


class HostAPI(api.HostAPI):
    """The host's HostAPI; controllers find it under that name."""

    def instance_get_all_by_host(self, context, host_name):
        """Return the servers on a host.

        The hidden record of a server that was moved away is not one of them,
        as after a resize within the cell.

        :param context: auth context of the request
        :param host_name: the host
        """
        found = super().instance_get_all_by_host(context, host_name)
        return objects.InstanceList(
            objects=[server for server in found if not server.hidden]
        )

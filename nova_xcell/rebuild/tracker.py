# SPDX-License-Identifier: Apache-2.0
"""A failed rebuild does not take a server's own allocations away (VR-06).

The host deletes what a server has on a node that it was to be evacuated to.
It does so as well when the server is not evacuated but rebuilt where it is.
"""

from __future__ import annotations

from oslo_log import log as logging

from nova.compute import resource_tracker

LOG = logging.getLogger(__name__)

# What the host has; looked up before the seam replaces it. The class names
# itself in super(), so that it cannot be extended.
_host_delete = (
    resource_tracker.ResourceTracker.delete_allocation_for_evacuated_instance
)


def delete_allocation_for_evacuated_instance(
    self, context, instance, node, node_type='source'
):
    """Delete what a server has on a node that it is not on.

    See the host's method.

    :param context: auth context
    :param instance: the server
    :param node: name of the compute node
    :param node_type: what the node is in the evacuation
    """
    if instance.host == self.host and instance.node == node:
        LOG.info(
            'Keeping the allocations of the server on its own node.',
            instance=instance,
        )
        return None
    return _host_delete(self, context, instance, node, node_type=node_type)

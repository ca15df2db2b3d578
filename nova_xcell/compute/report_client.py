# SPDX-License-Identifier: Apache-2.0
"""SchedulerReportClient that reads and sends no more than a reshape needs.

These are functions, and not a class that goes before the host's: others have
extended that before ours could take its place, among them Nova's own tests.
"""

from __future__ import annotations

from concurrent import futures
import functools

from nova.scheduler.client import report

from nova_xcell.compute import asked_allocations

#: Requests at the same time.
_WORKERS = 8

# What the host has; looked up before the seams replace it.
_host_set_up_and_do_reshape = (
    report.SchedulerReportClient._set_up_and_do_reshape
)
_host_reshape = report.SchedulerReportClient._reshape


def get_allocations_for_provider_tree(self, context, nodename):
    """Return what the consumers of a node have.

    See the host's method. They are read when somebody looks at them, and not
    each time the node is reported (RP-01).

    :param context: auth context
    :param nodename: name of the node
    :returns: by UUID of the consumer
    """
    return asked_allocations.AskedAllocations(
        functools.partial(_read_allocations, self, context, nodename)
    )


def _read_allocations(
    client: report.SchedulerReportClient, context, nodename: str
) -> dict[str, dict]:
    """Read them, several at the same time."""
    uuids = client._provider_tree.get_provider_uuids(name_or_uuid=nodename)
    with futures.ThreadPoolExecutor(_WORKERS) as pool:
        found = pool.map(
            functools.partial(
                client.get_allocations_for_resource_provider, context
            ),
            uuids,
        )
        consumers = sorted(
            {uuid for each in found for uuid in each.allocations}
        )
        return dict(
            zip(
                consumers,
                pool.map(
                    functools.partial(client.get_allocs_for_consumer, context),
                    consumers,
                ),
                strict=True,
            )
        )


def set_up_and_do_reshape(self, context, old_tree, new_tree, allocations):
    """Reshape a tree.

    See the host's method. What is not in the new tree is taken for removed,
    and its inventories are wiped. From Nova 34 on the new tree is that of one
    node, while the old one has all that were ever looked at: other nodes, and
    sharing providers (RP-05).

    :param context: auth context
    :param old_tree: nova.compute.provider_tree.ProviderTree
    :param new_tree: the same, or a part of it
    :param allocations: by UUID of the consumer
    """
    scope = getattr(new_tree, 'scope_rp_uuid', None)
    if scope is not None:
        old_tree = old_tree.subtree(scope)
    _host_set_up_and_do_reshape(self, context, old_tree, new_tree, allocations)


def reshape(self, context, inventories, allocations):
    """Send a reshape.

    See the host's method. Providers and consumers that do not change are left
    out (RP-05).

    :param context: auth context
    :param inventories: by UUID of the provider
    :param allocations: by UUID of the consumer
    :returns: the response
    """
    changed = {
        uuid: each
        for uuid, each in inventories.items()
        if not self._provider_tree.exists(uuid)
        or self._provider_tree.has_inventory_changed(uuid, each['inventories'])
    }
    if isinstance(allocations, asked_allocations.AskedAllocations):
        allocations = allocations.changed()
    # Placement takes no request without a provider.
    return _host_reshape(self, context, changed or inventories, allocations)

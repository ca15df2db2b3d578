# SPDX-License-Identifier: Apache-2.0
"""ResourceTracker of a node that is reshaped."""

from __future__ import annotations

from nova import exception as host_exception

from nova_xcell import exception


class Reshapes:
    """Goes before the host's ResourceTracker."""

    def _update_to_placement(self, context, compute_node, startup):
        """Report a node.

        See the host's method. Of a reshape at start-up that fails, nothing
        but ReshapeFailed makes the host end; whatever else it is, a conflict
        that does not pass for example, it would go on with a tree that is
        not reshaped (RP-03).

        :param context: auth context
        :param compute_node: nova.objects.ComputeNode
        :param startup: whether the service starts
        :raises: nova.exception.ReshapeFailed
        """
        try:
            super()._update_to_placement(context, compute_node, startup)
        except host_exception.ReshapeFailed:
            raise
        except Exception as exc:
            if not startup or not (
                isinstance(exc, host_exception.PlacementReshapeConflict)
                or getattr(self.driver, '_xcell_is_reshaping', False)
            ):
                raise
            raise host_exception.ReshapeFailed(
                error='node %s could not be reshaped, and without that '
                'nova-compute must not run: %s. Start nova-compute again when '
                'Placement answers and no servers come or go, or take the '
                'rules away for now.'
                % (
                    compute_node.hypervisor_hostname,
                    exception.one_line(exc),
                )
            ) from exc

    def _merge_provider_configs(self, provider_configs, provider_tree):
        """Add what provider config files say of a node.

        See the host's method. It takes every inventory in the tree for one
        of the driver, which a file must not define. One that a reshape has
        kept for allocations only is the file's, under its new name.

        :param provider_configs: by name or UUID of the provider
        :param provider_tree: nova.compute.provider_tree.ProviderTree
        """
        carried = getattr(self.driver, '_xcell_carried', {})
        kept = {
            uuid: provider_tree.data(uuid).inventory
            for uuid in carried
            if provider_tree.exists(uuid)
        }
        for uuid, inventories in kept.items():
            provider_tree.update_inventory(
                uuid, _without(inventories, carried[uuid])
            )
        super()._merge_provider_configs(provider_configs, provider_tree)
        for uuid, inventories in kept.items():
            provider_tree.update_inventory(
                uuid, {**inventories, **provider_tree.data(uuid).inventory}
            )


def _without(inventories: dict, names: set[str]) -> dict:
    return {
        name: inventory
        for name, inventory in inventories.items()
        if name not in names
    }

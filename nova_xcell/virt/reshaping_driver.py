# SPDX-License-Identifier: Apache-2.0
"""LibvirtDriver whose provider tree follows the rules of an operator."""

from __future__ import annotations

import copy
import os

import os_traits
from oslo_log import log as logging
from oslo_utils import timeutils

from nova import exception as host_exception
import nova.conf

from nova_xcell import exception
from nova_xcell.reshaper import live
from nova_xcell.reshaper import rules_file
from nova_xcell.reshaper import tree as tree_module
from nova_xcell.reshaper import undo
from nova_xcell.reshaper import undo_file

CONF = nova.conf.CONF

LOG = logging.getLogger(__name__)


class Reshapes:
    """Goes before the host's LibvirtDriver.

    :ivar _xcell_is_reshaping: whether the host is told to reshape; for the
        resource tracker, which then takes no failure for a passing one
    :ivar _xcell_carried: by UUID of the provider, classes that nobody but the
        rules has put there; what provider config files say goes before them
    """

    def __init__(self, virtapi, read_only=False):
        super().__init__(virtapi, read_only)
        self._xcell_is_reshaping = False
        self._xcell_carried: dict[str, set[str]] = {}
        self._xcell_told: set[str] = set()
        self._xcell_undo_file: undo_file.UndoFile | None = None
        try:
            self._xcell_rules = rules_file.load(CONF.xcell.reshape_rules)
        except exception.XcellError as exc:
            LOG.critical('nova-xcell: %s', exc)
            # The host takes no exception of a driver for a reason to end.
            raise SystemExit('nova-xcell: %s' % exception.one_line(exc))

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        """Report the host, and apply the rules to that (RP-08).

        See the host's method. Allocations are handed over at start-up only,
        after the first call has said that they are needed (RP-02).

        :param provider_tree: nova.compute.provider_tree.ProviderTree
        :param nodename: name of the node
        :param allocations: by UUID of the consumer; None if not known
        :raises: nova.exception.ReshapeNeeded without allocations, if some of
            them have to change
        :raises: nova.exception.ReshapeFailed if the rules cannot be applied;
            nothing is changed then
        """
        self._xcell_is_reshaping = allocations is not None
        self._xcell_carried = {}
        root = provider_tree.data(nodename).uuid
        rules = [
            rule for rule in self._xcell_rules if rule.is_for(nodename, root)
        ]
        if not rules:
            super().update_provider_tree(provider_tree, nodename, allocations)
            return
        before = _read(provider_tree, root)
        try:
            provider_tree.update_inventory(root, live.presented(before, rules))
            super().update_provider_tree(provider_tree, nodename, allocations)
            tree = _read(provider_tree, root, before)
            self._xcell_reshape(tree, rules, provider_tree, allocations)
        except Exception:
            # Whoever calls again has to see what Placement has.
            for key, provider in before.providers.items():
                if provider_tree.exists(key):
                    provider_tree.update_inventory(key, provider.inventories)
            raise
        # Nova looks for the providers of devices there.
        self.provider_tree = copy.deepcopy(provider_tree)

    def _xcell_reshape(self, tree, rules, provider_tree, allocations) -> None:
        if allocations is not None:
            live.add_allocations(tree, allocations)
        applied = live.apply(tree, rules)
        plan = applied.plan
        if applied.needs_reshape and allocations is None:
            LOG.info(
                'The rules of %s change allocations of node %s, asking for a '
                'reshape.',
                CONF.xcell.reshape_rules,
                tree.name,
            )
            raise host_exception.ReshapeNeeded()
        if plan.problems:
            raise host_exception.ReshapeFailed(
                error='the rules of %s cannot be applied to node %s, nothing '
                'was changed: %s. See what "nova-xcell-manage reshape plan" '
                'says of the node, mend it or the rules, and start '
                'nova-compute again.'
                % (
                    CONF.xcell.reshape_rules,
                    tree.name,
                    live.explained(plan),
                )
            )
        self._xcell_tell(plan.notes)
        if applied.needs_reshape:
            self._xcell_keep(undo.record(plan))
            live.take_over(plan, allocations)
            LOG.info(
                'Node %s is reshaped: %d providers and %d consumers change. '
                'What is needed to undo it is in %s.',
                tree.name,
                len({key for key, _ in plan.touched}),
                len(plan.changes),
                self._xcell_undo_file.path,
            )
        for key, name in plan.carried:
            self._xcell_carried.setdefault(key, set()).add(name)
        _write(applied, provider_tree)

    def _xcell_tell(self, notes: list[str]) -> None:
        """Log notes once, and not whenever the host is reported."""
        for note in set(notes) - self._xcell_told:
            LOG.warning('%s', note)
        self._xcell_told |= set(notes)

    def _xcell_keep(self, record: dict) -> None:
        try:
            if self._xcell_undo_file is None:
                folder = CONF.xcell.reshape_undo_dir or os.path.join(
                    CONF.state_path, 'xcell-reshape'
                )
                os.makedirs(folder, mode=0o700, exist_ok=True)
                self._xcell_undo_file = undo_file.UndoFile(
                    os.path.join(
                        folder,
                        '%s-%s.json'
                        % (
                            record['root'],
                            timeutils.utcnow().strftime('%Y%m%dT%H%M%S.%fZ'),
                        ),
                    )
                )
            self._xcell_undo_file.keep(record)
        except OSError as exc:
            raise host_exception.ReshapeFailed(
                error='what is needed to undo the reshape cannot be kept, so '
                'nothing was changed: %s. See [xcell] reshape_undo_dir.' % exc
            )


def _write(applied: live.Reported, provider_tree) -> None:
    """Change a provider tree of the host as the rules want it."""
    for new in applied.plan.new:
        provider_tree.new_child(new.name, new.parent, uuid=new.uuid)
    for key, inventories in applied.inventories.items():
        provider_tree.update_inventory(key, inventories)
    for key, traits in applied.plan.traits.items():
        provider_tree.add_traits(key, *traits)


def _read(provider_tree, root: str, before=None) -> tree_module.Tree:
    """Return the tree of a node.

    :param provider_tree: of the host
    :param root: UUID
    :param before: what Placement has; None if that is the provider tree
    """
    uuids = provider_tree.get_provider_uuids(root)
    tree = tree_module.Tree(root, {})
    for key in uuids:
        data = provider_tree.data(key)
        known = before.providers.get(key) if before else None
        inventories = {
            name: dict(inventory) for name, inventory in data.inventory.items()
        }
        tree.providers[key] = tree_module.Provider(
            key,
            data.name,
            data.generation,
            data.parent_uuid,
            inventories,
            traits=frozenset(data.traits),
        )
        if before is not None:
            tree.providers[key].inventories = (
                known.inventories if known else {}
            )
            tree.providers[key].reported = inventories
    for key in set(provider_tree.get_provider_uuids()) - set(uuids):
        data = provider_tree.data(key)
        if os_traits.MISC_SHARES_VIA_AGGREGATE in data.traits:
            tree.sharing[key] = tree_module.Provider(
                key, data.name, data.generation, None, data.inventory
            )
    return tree

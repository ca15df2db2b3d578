# SPDX-License-Identifier: Apache-2.0
"""Rules applied to what a host reports (RP-08)."""

import copy
import unittest

import hypothesis
from hypothesis import strategies as st

from nova_xcell.reshaper import live
from nova_xcell.reshaper import rules as rules_module
from tests.unit import reshape_trees
from tests.unit.reshape_trees import inventory
from tests.unit.reshape_trees import key
from tests.unit.reshape_trees import NODE


def rules(text):
    return rules_module.parse('version: 1\nrules:\n' + text)


HALVES = rules(
    """
- split:
    resource_classes: [VCPU, MEMORY_MB]
    to: {count: 2, name: '{node}_numa{index}'}
"""
)

TOLD = rules(
    """
- move:
    resource_class: VCPU
    to:
    - {name: a, inventories: {VCPU: {total: 6}}}
    - {name: b, inventories: {VCPU: {total: 2}}}
"""
)

RENAMED = rules('- rename: {resource_class: CUSTOM_OLD, to: CUSTOM_NEW}')


def reported(tree, **changes):
    """Let a host report its root anew, and the rest as it is."""
    for provider in tree.providers.values():
        provider.reported = copy.deepcopy(provider.inventories)
    for name, inventories in changes.items():
        tree.providers[
            NODE if name == 'root' else key(name)
        ].reported = inventories
    return tree


class TestApply(unittest.TestCase):
    def host(self, cpus=8, memory=64):
        return {
            'VCPU': inventory(cpus),
            'MEMORY_MB': inventory(memory),
            'DISK_GB': inventory(5),
        }

    def test_reported_again(self):
        """Nothing is moved; the children are as they were."""
        tree = reshape_trees.tree(self.host(), {'a': {'VCPU': 2}})
        after = reshape_trees.applied(live.apply(reported(tree), HALVES).plan)
        applied = live.apply(reported(after, root=self.host()), HALVES)
        self.assertFalse(applied.needs_reshape)
        self.assertEqual([], applied.plan.problems)
        # What is written over what was reported is what Placement has.
        self.assertEqual({NODE}, set(applied.inventories))
        self.assertEqual(
            after.providers[NODE].inventories, applied.inventories[NODE]
        )

    def test_reported_with_other_totals(self):
        after = reshape_trees.applied(
            live.apply(reported(reshape_trees.tree(self.host())), HALVES).plan
        )
        applied = live.apply(reported(after, root=self.host(10)), HALVES)
        self.assertFalse(applied.needs_reshape)
        self.assertEqual(
            [5, 5],
            [
                inventories['VCPU']['total']
                for uuid, inventories in applied.inventories.items()
                if uuid != NODE
            ],
        )

    def test_totals_of_the_rule_stay(self):
        after = reshape_trees.applied(
            live.apply(reported(reshape_trees.tree(self.host())), TOLD).plan
        )
        applied = live.apply(reported(after, root=self.host(10)), TOLD)
        self.assertEqual([], applied.plan.problems)
        self.assertIn('keep what they have', applied.plan.notes[0])
        self.assertEqual({NODE}, set(applied.inventories))

    def test_totals_of_a_rule_for_a_new_host(self):
        """There is nothing to keep, so it is wrong (RP-03)."""
        tree = reshape_trees.tree({})
        applied = live.apply(reported(tree, root=self.host(10)), TOLD)
        self.assertEqual(
            ['total'], [each.kind for each in applied.plan.problems]
        )
        self.assertIn('it has 10', live.explained(applied.plan))

    def test_new_host(self):
        tree = reshape_trees.tree({})
        applied = live.apply(reported(tree, root=self.host()), HALVES)
        self.assertFalse(applied.needs_reshape)
        self.assertEqual(2, len(applied.plan.new))
        self.assertEqual({'DISK_GB'}, set(applied.inventories[NODE]))

    def test_reported_under_the_new_name(self):
        """Its inventory is what the host says, the allocations move."""
        tree = reshape_trees.tree(
            {'CUSTOM_OLD': inventory(4)}, {'a': {'CUSTOM_OLD': 3}}
        )
        applied = live.apply(
            reported(tree, root={'CUSTOM_NEW': inventory(5)}), RENAMED
        )
        self.assertTrue(applied.needs_reshape)
        self.assertEqual({}, applied.inventories)
        self.assertEqual(
            {NODE: {'CUSTOM_NEW': 3}}, applied.plan.changes[key('a')].after
        )
        self.assertEqual(set(), applied.plan.carried)

    def test_not_reported_at_all(self):
        """Whoever made the inventory may have more to say."""
        tree = reshape_trees.tree(
            {'CUSTOM_OLD': inventory(4)}, {'a': {'CUSTOM_OLD': 3}}
        )
        applied = live.apply(reported(tree, root={}), RENAMED)
        self.assertEqual({(NODE, 'CUSTOM_NEW')}, applied.plan.carried)
        self.assertEqual(
            {NODE: {'CUSTOM_NEW': inventory(4)}}, applied.inventories
        )

    def test_children_that_the_host_reports_itself(self):
        tree = reshape_trees.tree(
            {'VGPU': inventory(4)},
            {'a': {'VGPU': 3}},
            {'node_pci_0': {}, 'node_pci_1': {}},
        )
        applied = live.apply(
            reported(
                tree,
                root={},
                node_pci_0={'VGPU': inventory(1)},
                node_pci_1={'VGPU': inventory(3)},
            ),
            rules(
                """
- move: {resource_class: VGPU, to: {existing: '{node}_pci_*'}}
"""
            ),
        )
        self.assertEqual([], applied.plan.problems)
        self.assertEqual({}, applied.inventories)
        self.assertEqual(
            {key('node_pci_1'): {'VGPU': 3}},
            applied.plan.changes[key('a')].after,
        )

    def test_presented_to_the_driver(self):
        """As if nothing had been moved, for the ratio and for PCPU."""
        tree = reshape_trees.tree(
            {'DISK_GB': inventory(5)},
            {},
            {
                'node_numa0': {'VCPU': inventory(4, allocation_ratio=3.0)},
                'node_numa1': {'VCPU': inventory(4, allocation_ratio=3.0)},
            },
        )
        found = live.presented(tree, HALVES)
        self.assertEqual({'VCPU', 'DISK_GB'}, set(found))
        self.assertEqual(
            (8, 3.0),
            (found['VCPU']['total'], found['VCPU']['allocation_ratio']),
        )
        self.assertEqual({'DISK_GB'}, set(live.presented(tree, RENAMED)))


class TestAllocations(unittest.TestCase):
    def test_there_and_back(self):
        """In the form of the host; others' providers stay (RP-05)."""
        tree = reshape_trees.tree({'CUSTOM_OLD': inventory(4)})
        there = {
            NODE: {'generation': 1, 'resources': {'CUSTOM_OLD': 2}},
            key('o'): {'generation': 4, 'resources': {'CUSTOM_OLD': 2}},
        }
        allocations = {
            key('a'): {
                'allocations': there,
                'project_id': 'p',
                'user_id': 'u',
                'consumer_generation': 3,
            },
            # Deleted since its provider was asked.
            key('gone'): {'allocations': {}},
        }
        live.add_allocations(tree, allocations)
        live.take_over(live.apply(reported(tree), RENAMED).plan, allocations)
        self.assertEqual(
            {
                NODE: {'generation': 1, 'resources': {'CUSTOM_NEW': 2}},
                key('o'): {'generation': 4, 'resources': {'CUSTOM_OLD': 2}},
            },
            allocations[key('a')]['allocations'],
        )
        self.assertEqual({'allocations': {}}, allocations[key('gone')])

    def test_explained(self):
        """RP-09: each consumer is named, up to a limit."""
        tree = reshape_trees.tree(
            {'VCPU': inventory(8), 'MEMORY_MB': inventory(8)},
            {'a': {'VCPU': 5}, 'b': {'MEMORY_MB': 5}},
        )
        plan = live.apply(reported(tree), HALVES).plan
        text = live.explained(plan)
        self.assertIn(key('a'), text)
        self.assertIn(key('b'), text)
        self.assertTrue(live.explained(plan, 1).endswith('; and 1 more'))


class TestProperties(unittest.TestCase):
    @hypothesis.given(
        st.lists(st.integers(1, 4), max_size=6), st.integers(2, 16)
    )
    @hypothesis.settings(
        deadline=None,
        max_examples=60,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    def test_again_and_again(self, amounts, total):
        """RP-08: what is reported a second time changes nothing."""
        report = {'VCPU': inventory(total), 'MEMORY_MB': inventory(total)}
        tree = reshape_trees.tree(
            report,
            {
                'c%d' % number: {'VCPU': amount, 'MEMORY_MB': 1}
                for number, amount in enumerate(amounts)
            },
        )
        applied = live.apply(reported(tree), HALVES)
        hypothesis.assume(not applied.plan.problems)
        after = reshape_trees.applied(applied.plan)
        again = live.apply(reported(after, root=report), HALVES)
        self.assertFalse(again.needs_reshape)
        self.assertEqual([], again.plan.problems)
        for uuid, provider in after.providers.items():
            self.assertEqual(
                provider.inventories,
                again.inventories.get(uuid, provider.reported),
            )

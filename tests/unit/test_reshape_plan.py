# SPDX-License-Identifier: Apache-2.0
"""Plans of reshapes, and their undoing (RP-05, RP-06, RP-09, RP-11)."""

import collections
import copy
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from nova_xcell.reshaper import plan as plans
from nova_xcell.reshaper import rules as rules_module
from nova_xcell.reshaper import tree as trees
from nova_xcell.reshaper import undo
from tests.unit import reshape_trees
from tests.unit.reshape_trees import inventory
from tests.unit.reshape_trees import key
from tests.unit.reshape_trees import NODE


def rules(text):
    return rules_module.parse('version: 1\nrules:\n' + text)


GPUS = rules("""
- move:
    resource_class: VGPU
    to:
    - {name: '{node}_gpu0', inventories: {VGPU: {total: 4}}}
    - {name: '{node}_gpu1', inventories: {VGPU: {total: 2}}}
""")
CELLS = rules("""
- split:
    resource_classes: [VCPU, MEMORY_MB]
    to: {count: 2, name: '{node}_NUMA{index}', traits: [HW_NUMA_ROOT]}
""")
ANYWHERE = rules("""
- move:
    resource_class: VGPU
    divisible: true
    to: {count: 3, name: '{node}_gpu{index}'}
""")
RENAMED = rules('- rename: {resource_class: CUSTOM_GPU, to: VGPU}\n')


@ddt.ddt
class TestPlan(unittest.TestCase):
    def problems(self, *args):
        plan = plans.make(*args)
        return [(each.kind, each.consumer) for each in plan.problems]

    def test_move(self):
        tree = reshape_trees.tree(
            {'VGPU': inventory(6), 'VCPU': inventory(8)},
            {
                'a': {'VGPU': 2, 'VCPU': 1},
                'b': {'VGPU': 4},
                'other': {'VCPU': 4},
            },
        )
        before = copy.deepcopy(tree)
        plan = plans.make(tree, GPUS)
        self.assertEqual(before, tree)
        self.assertEqual([], plan.problems)
        gpus = {new.name: new.uuid for new in plan.new}
        payload = plan.payload(dict.fromkeys(gpus.values(), 0))
        self.assertEqual(
            {
                NODE: {
                    'resource_provider_generation': 7,
                    'inventories': {'VCPU': inventory(8)},
                },
                gpus['node_gpu0']: {
                    'resource_provider_generation': 0,
                    'inventories': {'VGPU': inventory(4)},
                },
                gpus['node_gpu1']: {
                    'resource_provider_generation': 0,
                    'inventories': {'VGPU': inventory(2)},
                },
            },
            payload['inventories'],
        )
        # Neither the one that has none, nor a key without resources.
        self.assertEqual(
            {
                key('a'): {
                    NODE: {'resources': {'VCPU': 1}},
                    gpus['node_gpu1']: {'resources': {'VGPU': 2}},
                },
                key('b'): {gpus['node_gpu0']: {'resources': {'VGPU': 4}}},
            },
            {
                consumer: change['allocations']
                for consumer, change in payload['allocations'].items()
            },
        )

    def test_split_keeps_together(self):
        tree = reshape_trees.tree(
            {'VCPU': inventory(8), 'MEMORY_MB': inventory(8)},
            {
                'a': {'VCPU': 4, 'MEMORY_MB': 1},
                'b': {'VCPU': 3, 'MEMORY_MB': 3},
                'c': {'VCPU': 1, 'MEMORY_MB': 1},
            },
        )
        found = reshape_trees.applied(plans.make(tree, CELLS))
        for consumer in found.consumers.values():
            ((_, amounts),) = consumer.allocations.items()
            self.assertEqual({'VCPU', 'MEMORY_MB'}, set(amounts))
        self.assertEqual(
            {'node_NUMA0', 'node_NUMA1'},
            {
                provider.name
                for provider in found.providers.values()
                if 'HW_NUMA_ROOT' in provider.traits
            },
        )

    def test_hint(self):
        hinted = rules(
            """
- move:
    resource_class: VGPU
    to: {count: 2, name: 'gpu{index}'}
    consumers: {%s: gpu1, %s: gpu9}
"""
            % (key('a'), key('b'))
        )
        tree = reshape_trees.tree(
            {'VGPU': inventory(4)}, {'a': {'VGPU': 1}, 'b': {'VGPU': 1}}
        )
        plan = plans.make(tree, hinted)
        self.assertEqual(
            [('no-child', key('b'))],
            [(each.kind, each.consumer) for each in plan.problems],
        )
        ((place, _),) = plan.changes[key('a')].after.items()
        self.assertEqual('gpu1', plan.names[place])

    def test_rules_compose(self):
        tree = reshape_trees.tree(
            {'CUSTOM_GPU': inventory(6)}, {'a': {'CUSTOM_GPU': 3}}
        )
        plan = plans.make(tree, RENAMED + GPUS)
        found = reshape_trees.applied(plan)
        ((place, amounts),) = found.consumers[key('a')].allocations.items()
        self.assertEqual(({'VGPU': 3}, 'node_gpu0'),
                         (amounts, plan.names[place]))  # fmt: skip
        back = undo.make(undo.record(plan), found)
        self.assertEqual(
            reshape_trees.contents(tree),
            reshape_trees.contents(reshape_trees.applied(back)),
        )

    def test_only_a_search_finds_the_way(self):
        """Neither the fullest nor the emptiest child first would do."""
        amounts = (9, 8, 6, 6, 6, 3, 3, 2, 2)
        tree = reshape_trees.tree(
            {'VGPU': inventory(45)},
            {
                'consumer%d' % index: {'VGPU': amount}
                for index, amount in enumerate(amounts)
            },
        )
        plan = plans.make(
            tree,
            rules("""
- move: {resource_class: VGPU, to: {count: 3, name: 'gpu{index}'}}
"""),
        )
        self.assertEqual([], plan.problems)
        reshape_trees.applied(plan)

    def test_existing_children(self):
        tree = reshape_trees.tree(
            {'VGPU': inventory(5)},
            {'a': {'VGPU': 2}},
            {'node_pci_0': {}, 'node_pci_1': {}, 'other': {}},
        )
        plan = plans.make(
            tree,
            rules("""
- move: {resource_class: VGPU, to: {existing: '{node}_pci_*'}}
"""),
        )
        found = reshape_trees.applied(plan)
        self.assertEqual(
            [3, 2],
            [
                found.providers[key(name)].inventories['VGPU']['total']
                for name in ('node_pci_0', 'node_pci_1')
            ],
        )

    def test_reported_again_by_the_host(self):
        """The class is on the root again, and the children are in use."""
        tree = reshape_trees.tree(
            {'VGPU': inventory(6)},
            {
                'a': {key('node_gpu0'): {'VGPU': 3}},
                'b': {'VGPU': 2},
            },
            {
                'node_gpu0': {'VGPU': inventory(4)},
                'node_gpu1': {'VGPU': inventory(2)},
            },
        )
        plan = plans.make(tree, GPUS)
        found = reshape_trees.applied(plan)
        self.assertEqual({NODE}, set(plan.inventories))
        self.assertEqual({key('b')}, set(plan.changes))
        back = undo.make(undo.record(plan), found)
        self.assertEqual(
            reshape_trees.contents(tree),
            reshape_trees.contents(reshape_trees.applied(back)),
        )

    @ddt.data(
        ({'VGPU': inventory(6)}, {'big': {'VGPU': 5}}, [('fit', 'big')]),
        (
            {'VGPU': inventory(6)},
            {'a': {'VGPU': 3}, 'b': {'VGPU': 3}},
            [('capacity', 'a')],
        ),
        # Over-committed, which the children would not be.
        (
            {'VGPU': inventory(6)},
            {'a': {'VGPU': 4}, 'b': {'VGPU': 2}, 'c': {'VGPU': 1}},
            [('capacity', 'c')],
        ),
        (
            {'VGPU': inventory(6, step_size=2)},
            {'a': {'VGPU': 3}},
            [('fit', 'a')],
        ),
        (
            {'VGPU': inventory(6, max_unit=2)},
            {'a': {'VGPU': 3}},
            [('fit', 'a')],
        ),
        (
            {'VGPU': inventory(6, min_unit=2)},
            {'a': {'VGPU': 1}},
            [('fit', 'a')],
        ),
        # Placement checks all that a consumer in the request has.
        (
            {'VGPU': inventory(6), 'VCPU': inventory(8, max_unit=2)},
            {'a': {'VGPU': 1, 'VCPU': 4}, 'b': {'VCPU': 4}},
            [('unit', 'a')],
        ),
        ({'VGPU': inventory(7)}, {}, [('total', None)]),
        ({'VGPU': inventory(6, reserved=6)}, {}, []),
    )
    @ddt.unpack
    def test_problems_are_named(self, inventories, consumers, expected):
        """RP-09."""
        self.assertEqual(
            [(kind, name and key(name)) for kind, name in expected],
            self.problems(reshape_trees.tree(inventories, consumers), GPUS),
        )

    def test_over_committed_elsewhere_is_no_worse(self):
        tree = reshape_trees.tree(
            {'VGPU': inventory(6), 'VCPU': inventory(2)},
            {'a': {'VGPU': 1, 'VCPU': 1}, 'b': {'VCPU': 2}},
        )
        reshape_trees.applied(plans.make(tree, GPUS))

    def test_over_committed_rename(self):
        """Placement compares with the use of the new name, which is none."""
        tree = reshape_trees.tree(
            {'CUSTOM_GPU': inventory(1)},
            {'a': {'CUSTOM_GPU': 1}, 'b': {'CUSTOM_GPU': 1}},
        )
        self.assertEqual(
            {('capacity', key('a')), ('capacity', key('b'))},
            set(self.problems(tree, RENAMED)),
        )

    def test_consumer_in_a_move(self):
        """What it has of another host is sent as it is."""
        tree = reshape_trees.tree(
            {'VGPU': inventory(6)},
            {'a': {NODE: {'VGPU': 1}, key('host2'): {'VGPU': 1}}},
        )
        plan = plans.make(tree, GPUS)
        found = reshape_trees.applied(plan)
        self.assertEqual(
            {'VGPU': 1}, found.consumers[key('a')].allocations[key('host2')]
        )
        self.assertIn(key('host2'), plan.notes[0])

    def test_sharing_provider(self):
        """RP-11."""
        tree = reshape_trees.tree({'VCPU': inventory(1)})
        tree.sharing[key('nfs')] = trees.Provider(
            key('nfs'), 'nfs', 1, None, {'VGPU': inventory(1)}
        )
        self.assertEqual([('sharing', None)], self.problems(tree, GPUS))

    def test_read_in_different_states(self):
        tree = reshape_trees.tree({'VGPU': inventory(6)}, {'a': {'VGPU': 1}})
        tree.providers[NODE].allocations_generation = 8
        self.assertEqual([('generation', None)], self.problems(tree, GPUS))
        tree = reshape_trees.tree({'VGPU': inventory(6)}, {'a': {'VGPU': 1}})
        tree.consumers[key('a')].allocations = {NODE: {'VGPU': 2}}
        self.assertEqual([('generation', key('a'))], self.problems(tree, GPUS))

    def test_children_of_others(self):
        tree = reshape_trees.tree(
            {'VGPU': inventory(6)}, {}, {'node_gpu0': {'VGPU': inventory(1)}}
        )
        self.assertEqual([('already', None)], self.problems(tree, GPUS))
        tree = reshape_trees.tree(
            {'VGPU': inventory(1), 'CUSTOM_GPU': inventory(1)}
        )
        self.assertEqual([('already', None)], self.problems(tree, RENAMED))

    def test_other_node(self):
        (rule,) = GPUS
        tree = reshape_trees.tree({'VGPU': inventory(7)})
        self.assertTrue(
            plans.make(
                tree,
                rules(
                    '- {nodes: [gpu*], rename: {resource_class: VGPU,'
                    ' to: PGPU}}'
                ),
            ).is_empty  # fmt: skip
        )
        self.assertEqual({NODE}, plans.concerned(tree, RENAMED + rules(
            '- rename: {resource_class: VGPU, to: PGPU}')))  # fmt: skip
        self.assertEqual(set(), plans.concerned(tree, RENAMED))


class TestUndo(unittest.TestCase):
    def setUp(self):
        self.before = reshape_trees.tree(
            {'VGPU': inventory(6), 'VCPU': inventory(8)}, {'a': {'VGPU': 2}}
        )
        self.plan = plans.make(self.before, GPUS)
        self.record = undo.record(self.plan)
        self.after = reshape_trees.applied(self.plan)
        self.gpu0 = self.plan.new[0].uuid

    def test_provider_is_gone(self):
        del self.after.providers[reshape_trees.NODE]
        plan = undo.make(self.record, self.after)
        self.assertIn(
            'provider node is gone',
            [problem.reason for problem in plan.problems],
        )

    def test_origin_that_is_no_provider_of_the_tree(self):
        """Of a consumer that came later; nobody has to know where to."""
        self.record['origins'] = [
            [*there[:2], reshape_trees.key('elsewhere'), there[3]]
            for there in self.record['origins']
        ]
        self.record['consumers'] = {}
        self.assertFalse(undo.make(self.record, self.after).is_empty)

    def test_nothing_to_undo(self):
        """The reshape was not sent, or was undone."""
        self.assertTrue(undo.make(self.record, self.before).is_empty)
        self.assertEqual(set(), undo.concerned(self.record, self.before))

    def test_servers_that_came_later(self):
        for name in 'bc':
            self.after.consumers[key(name)] = trees.Consumer(
                key(name), 1, 'p', 'u', {self.gpu0: {'VGPU': 1}}
            )
        del self.after.consumers[key('a')]
        reshape_trees.read(self.after)
        found = reshape_trees.applied(undo.make(self.record, self.after))
        self.assertEqual(
            {NODE: {'VGPU': 1}}, found.consumers[key('b')].allocations
        )

    def test_inventory_that_changed_later(self):
        self.after.providers[self.gpu0].inventories['VGPU']['total'] = 3
        plan = undo.make(self.record, self.after)
        self.assertEqual(['changed'], [each.kind for each in plan.problems])

    def test_other_classes_stay(self):
        self.after.providers[NODE].inventories['VCPU'] = inventory(9)
        found = reshape_trees.applied(undo.make(self.record, self.after))
        self.assertEqual(
            {'VCPU': inventory(9), 'VGPU': inventory(6)},
            found.providers[NODE].inventories,
        )


@strategies.composite
def _trees(draw):
    number = strategies.integers
    names = draw(
        strategies.sets(
            strategies.sampled_from(
                ['VCPU', 'MEMORY_MB', 'VGPU', 'CUSTOM_GPU']
            ),
            min_size=1,
        )
    )
    inventories = {}
    for name in sorted(names):
        total = draw(number(2, 24))
        inventories[name] = inventory(
            total,
            reserved=draw(number(0, 2)),
            step_size=draw(strategies.sampled_from([1, 1, 2])),
            allocation_ratio=draw(strategies.sampled_from([1.0, 1.5, 16.0])),
        )
    consumers = draw(
        strategies.lists(
            strategies.dictionaries(
                strategies.sampled_from(sorted(names)),
                number(1, 6),
                min_size=1,
            ),
            max_size=8,
        )
    )
    return reshape_trees.tree(
        inventories,
        {'consumer%d' % index: each for index, each in enumerate(consumers)},
    )


_RULES = strategies.lists(
    strategies.sampled_from(
        [
            *CELLS,
            *ANYWHERE,
            *RENAMED,
            *rules("""
- move: {resource_class: VGPU, to: {count: 2, name: '{provider}_gpu{index}'}}
- split:
    resource_classes: [VCPU, MEMORY_MB]
    together: false
    to: {count: 2, name: '{node}_cell{index}'}
- rename: {resource_class: VCPU, to: PCPU}
"""),
        ]
    ),
    min_size=1,
    max_size=4,
)


def _by_class(found, names):
    """Return the totals of each class, and what each consumer has of it."""
    total = collections.Counter()
    for provider in found.providers.values():
        for name, each in provider.inventories.items():
            total[names.get(name, name)] += each['total']
    held = collections.Counter()
    for consumer in found.consumers.values():
        for amounts in consumer.allocations.values():
            for name, amount in amounts.items():
                held[consumer.uuid, names.get(name, name)] += amount
    return total, held


class TestProperties(unittest.TestCase):
    @hypothesis.settings(
        max_examples=80, deadline=None, derandomize=True, database=None
    )
    @hypothesis.given(_trees(), _RULES)
    def test_kept_undone_and_done_once(self, tree, wanted):
        plan = plans.make(tree, wanted)
        hypothesis.assume(not plan.problems)
        after = reshape_trees.applied(plan)
        names = {'CUSTOM_GPU': 'VGPU', 'VCPU': 'PCPU'}
        # Totals per class and consumer are conserved.
        self.assertEqual(_by_class(tree, names), _by_class(after, names))
        # Only what changes is sent.
        for consumer, change in plan.changes.items():
            self.assertNotEqual(
                tree.consumers[consumer].allocations, change.after
            )
        # To undo it leads back.
        back = undo.make(undo.record(plan), after)
        self.assertEqual([], back.problems)
        self.assertEqual(
            reshape_trees.contents(tree),
            reshape_trees.contents(reshape_trees.applied(back)),
        )

    @hypothesis.settings(
        max_examples=50, deadline=None, derandomize=True, database=None
    )
    @hypothesis.given(_trees(), strategies.sampled_from(
        [CELLS, GPUS, ANYWHERE, RENAMED, RENAMED + GPUS]))  # fmt: skip
    def test_planned_twice(self, tree, wanted):
        plan = plans.make(tree, wanted)
        hypothesis.assume(not plan.problems)
        again = plans.make(reshape_trees.applied(plan), wanted)
        self.assertTrue(again.is_empty, again)

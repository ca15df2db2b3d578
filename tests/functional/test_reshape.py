# SPDX-License-Identifier: Apache-2.0
"""Reshapes against a real Placement (RP-01, RP-04, RP-05, RP-06)."""

from unittest import mock

from keystoneauth1 import adapter
from keystoneauth1 import exceptions
from keystoneauth1 import session
from oslo_utils.fixture import uuidsentinel as uuids

from nova import test
from nova.tests.functional import fixtures as func_fixtures

from nova_xcell.reshaper import client
from nova_xcell.reshaper import placement
from nova_xcell.reshaper import rules

RULES = b"""
version: 1
rules:
- rename: {resource_class: CUSTOM_GPU, to: VGPU}
- move:
    resource_class: VGPU
    to: {count: 2, name: '{node}_gpu{index}', traits: [CUSTOM_A40]}
"""


class ReshapeTest(test.TestCase):
    """A node with four GPUs, and consumers that have some of them."""

    # Only that of Placement, which brings its own.
    USES_DB_SELF = True

    def setUp(self):
        super().setUp()
        fixture = self.useFixture(func_fixtures.PlacementFixture())
        self.placement_config = fixture.conf_fixture.conf
        self.adapter = adapter.Adapter(
            session.Session(auth=None),
            service_type='placement',
            endpoint_override=fixture.endpoint,
            additional_headers={'x-auth-token': fixture.token},
        )
        self.placement = placement.Placement(self.adapter)
        self.client = client.Client(self.placement)
        self.rules = rules.parse(RULES)
        self.records = []
        self.placement.put('/resource_classes/CUSTOM_GPU')
        self.make_node('node')
        self.make_node('other')
        self.allocate(uuids.busy, {'node': {'VCPU': 1, 'CUSTOM_GPU': 2}})
        self.allocate(uuids.plain, {'node': {'VCPU': 2}})
        # A live migration that is under way.
        self.allocate(
            uuids.moving,
            {'node': {'CUSTOM_GPU': 1}, 'other': {'CUSTOM_GPU': 1}},
        )

    def make_node(self, name):
        key = getattr(uuids, name)
        self.placement.post('/resource_providers', {'uuid': key, 'name': name})
        self.placement.put(
            '/resource_providers/%s/inventories' % key,
            {
                'resource_provider_generation': 0,
                'inventories': {
                    'VCPU': {'total': 8},
                    'CUSTOM_GPU': {'total': 4},
                },
            },
        )

    def allocate(self, consumer, amounts, generation=None):
        self.placement.put(
            '/allocations/%s' % consumer,
            {
                'project_id': uuids.project,
                'user_id': uuids.user,
                'consumer_generation': generation,
                'allocations': {
                    getattr(uuids, name): {'resources': each}
                    for name, each in amounts.items()
                },
            },
        )

    def state(self, name='node'):
        """Return inventories by name of the provider, and allocations."""
        tree = placement.read_tree(self.placement, getattr(uuids, name))
        placement.read_allocations(self.placement, tree, tree.providers)
        return {
            provider.name: (provider.inventories, provider.allocations)
            for provider in tree.providers.values()
        }

    def apply(self):
        return self.client.apply(uuids.node, self.rules, self.records.append)


class TestClient(ReshapeTest):
    def test_there_and_back(self):
        before, other = self.state(), self.state('other')
        plan = self.apply()
        self.assertEqual([], plan.problems)
        after = self.state()
        self.assertEqual({'node', 'node_gpu0', 'node_gpu1'}, set(after))
        self.assertEqual({'VCPU'}, set(after['node'][0]))
        self.assertEqual(
            [2, 2],
            [after['node_gpu%d' % n][0]['VGPU']['total'] for n in (0, 1)],
        )
        self.assertEqual(
            {uuids.busy: {'VCPU': 1}, uuids.plain: {'VCPU': 2}},
            after['node'][1],
        )
        # Other trees stay as they are (RP-05).
        self.assertEqual(other, self.state('other'))
        gpu = next(new.uuid for new in plan.new)
        self.assertEqual(
            ['CUSTOM_A40'],
            self.placement.get('/resource_providers/%s/traits' % gpu)[
                'traits'
            ],
        )
        (record,) = self.records
        self.client.undo(record)
        self.assertEqual(before, self.state())
        self.assertEqual(other, self.state('other'))
        # Again, that does nothing.
        self.assertTrue(self.client.undo(record).is_empty)

    def test_only_needed_requests(self):
        """RP-01: consumers that do not change are not read."""
        self.placement.requests = 0
        plan = self.client.plan(uuids.node, self.rules)
        self.assertEqual({uuids.busy, uuids.moving}, set(plan.changes))
        # The tree, its aggregates, an inventory, its allocations, and two
        # consumers.
        self.assertEqual(6, self.placement.requests)
        self.apply()
        self.placement.requests = 0
        self.assertTrue(self.apply().is_empty)
        # No allocations at all: the tree, its aggregates, 3 inventories.
        self.assertEqual(5, self.placement.requests)

    def between(self, what):
        """Do something once between planning and the request."""
        original = self.placement.post
        todo = [what]

        def post(url, body):
            if url == '/reshaper' and todo:
                todo.pop()()
            return original(url, body)

        self.replace_post(post)

    def replace_post(self, post):
        patch = mock.patch.object(self.placement, 'post', post)
        patch.start()
        self.addCleanup(patch.stop)

    def test_planned_again_after_a_conflict(self):
        """RP-04: a server comes at the same time."""
        before = self.state()
        self.between(
            lambda: self.allocate(uuids.late, {'node': {'CUSTOM_GPU': 1}})
        )
        plan = self.apply()
        self.assertIn(uuids.late, plan.changes)
        self.client.undo(self.records[-1])
        self.assertEqual({'node'}, set(self.state()))
        self.assertEqual(before['node'][0], self.state()['node'][0])

    def test_server_that_goes_at_the_same_time(self):
        self.between(
            lambda: self.placement.delete('/allocations/' + uuids.busy)
        )
        self.assertEqual({uuids.moving}, set(self.apply().changes))

    def test_problems_change_nothing(self):
        """RP-09."""
        self.allocate(
            uuids.busy, {'node': {'VCPU': 1, 'CUSTOM_GPU': 3}}, generation=1
        )
        before = self.state()
        plan = self.apply()
        self.assertEqual(
            [uuids.busy], [problem.consumer for problem in plan.problems]
        )
        self.assertEqual(before, self.state())
        self.assertEqual([], self.records)

    def test_refused_by_placement(self):
        """What was created for the request is removed."""
        before = self.state()
        original = self.placement.post

        def post(url, body):
            if url == '/reshaper':
                body['inventories'][uuids.node]['inventories'] = {}
            return original(url, body)

        self.replace_post(post)
        error = self.assertRaises(placement.PlacementError, self.apply)
        self.assertIn('409', str(error))
        self.assertNotIsInstance(error, placement.Conflict)
        self.assertEqual(before, self.state())

    def test_answer_that_gets_lost(self):
        """Whoever asks again finds that all is done."""
        original = self.adapter.request

        def request(url, method, **kwargs):
            response = original(url, method, **kwargs)
            if url == '/reshaper':
                raise exceptions.ConnectTimeout('lost')
            return response

        with mock.patch.object(self.adapter, 'request', request):
            error = self.assertRaises(placement.PlacementError, self.apply)
        self.assertIn('lost', str(error))
        self.assertIn('node_gpu1', self.state())
        self.assertTrue(self.apply().is_empty)
        self.client.undo(self.records[0])
        self.assertEqual({'node'}, set(self.state()))

    def test_nodes(self):
        self.assertEqual(
            {uuids.node: 'node', uuids.other: 'other'},
            placement.nodes(self.placement, []),
        )
        for name in ('other', uuids.other):
            self.assertEqual(
                {uuids.other: 'other'},
                placement.nodes(self.placement, [name]),
            )
        for name in ('nobody', uuids.nobody):
            self.assertRaises(
                placement.UnknownNode, placement.nodes, self.placement, [name]
            )

# SPDX-License-Identifier: Apache-2.0
"""Devices of a claim come from the providers in placement (XC-25)."""

import contextvars
import threading
import unittest
from unittest import mock

from nova import exception as nova_exception
from nova import objects
from nova.compute import claims as host_claims
from nova.compute import provider_tree

from nova_xcell.compute import claims
from nova_xcell.compute import placed_devices

CARD = 'CUSTOM_PCI_8086_1533'


def request(name, count=1, resource_class=CARD, *traits):
    return placed_devices.Request(
        name, count, resource_class, frozenset(traits)
    )


def provider(uuid, amount=1, resource_class=CARD, *traits):
    return placed_devices.Provider(
        uuid, {resource_class: amount}, frozenset(traits)
    )


class TestWays(unittest.TestCase):
    def check(self, expected, requests, providers):
        self.assertCountEqual(
            expected, list(placed_devices.ways(requests, providers))
        )

    def test_one_device(self):
        self.check([{'a': ['p']}], [request('a')], [provider('p')])

    def test_several_of_one_request(self):
        """Devices of one request are all the same: there is one way."""
        self.check(
            [{'a': ['p', 'p', 'q']}],
            [request('a', 3)],
            [provider('p', 2), provider('q')],
        )

    def test_either_way(self):
        self.check(
            [{'a': ['p'], 'b': ['q']}, {'a': ['q'], 'b': ['p']}],
            [request('a'), request('b')],
            [provider('p'), provider('q')],
        )

    def test_resource_classes(self):
        self.check(
            [{'a': ['q'], 'b': ['p']}],
            [request('a', 1, 'GPU'), request('b', 1, 'NIC')],
            [provider('p', 1, 'NIC'), provider('q', 1, 'GPU')],
        )

    def test_traits(self):
        """One that asks for nothing special leaves it to the other."""
        self.check(
            [{'a': ['p'], 'b': ['q']}],
            [request('a'), request('b', 1, CARD, 'FAST')],
            [provider('p'), provider('q', 1, CARD, 'FAST')],
        )

    def test_something_does_not_fit(self):
        for requests, providers in (
            ([request('a')], []),
            ([], [provider('p')]),
            ([request('a', 2)], [provider('p')]),
            ([request('a')], [provider('p', 2)]),
            ([request('a')], [provider('p', 1, 'GPU')]),
            ([request('a', 1, CARD, 'FAST')], [provider('p')]),
        ):
            with self.subTest(requests=requests, providers=providers):
                self.check([], requests, providers)

    def test_first_way_comes_at_once(self):
        """Of very many ways, only those that are asked for are made."""
        names = [str(number) for number in range(16)]
        found = placed_devices.ways(
            [request('a', 1, CARD, 'FAST'), *map(request, names)],
            [*map(provider, names), provider('p', 1, CARD, 'FAST')],
        )
        self.assertEqual(['p'], next(found)['a'])


class TestMoveClaim(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        objects.register_all()

    def setUp(self):
        self.tree = provider_tree.ProviderTree()
        self.tree.new_root('host', 'host')
        for uuid in ('p', 'q'):
            self.tree.new_child(uuid, 'host', uuid=uuid)
            self.tree.update_traits(uuid, ['COMPUTE_MANAGED_PCI_DEVICE'])
        self.requests = objects.InstancePCIRequests(
            requests=[
                self.make_request('a', 'card'),
                self.make_request('b', 'card'),
                # That of a port, which the claim leaves alone.
                self.make_request('c', None),
            ]
        )
        self.tries = []
        #: The way in which the devices can be claimed.
        self.good = None
        self.enterContext(
            mock.patch.object(host_claims.MoveClaim, '__init__', self.test)
        )

    @staticmethod
    def make_request(name, alias):
        return objects.InstancePCIRequest(
            request_id=name,
            alias_name=alias,
            count=1,
            spec=[{'vendor_id': '8086', 'product_id': '1533'}],
        )

    def test(self, *args, **kwargs):
        self.tries.append(self.wanted())
        if self.good not in (None, self.tries[-1]):
            raise nova_exception.ComputeResourcesUnavailable(reason='NUMA')

    test.__test__ = False

    def wanted(self):
        return [
            request.spec[0].get('rp_uuids')
            for request in self.requests.requests
        ]

    def claim(self, *uuids):
        allocations = {
            'host': {'resources': {'VCPU': 2}},
            'host2': {'resources': {CARD: 5}},
            **{uuid: {'resources': {CARD: 1}} for uuid in uuids},
        }
        with claims.following(allocations):
            self.claim_as_told()

    def claim_as_told(self):
        claims.MoveClaim(
            None,
            mock.Mock(),
            'node',
            None,
            None,
            mock.Mock(provider_tree=self.tree),
            None,
            self.requests,
            None,
        )

    def test_host_claims_otherwise(self):
        """A move within the cell, an evacuation, a boot."""
        with mock.patch.object(host_claims, 'MoveClaim') as claim:
            self.assertIs(claim, claims.MoveClaim)
        self.assertIs(host_claims.Claim, claims.Claim)

    def test_follows(self):
        self.claim('p', 'q')
        self.assertEqual([['p', 'q', None]], self.tries)

    def test_other_way(self):
        self.good = ['q', 'p', None]
        self.claim('p', 'q')
        self.assertEqual([['p', 'q', None], self.good], self.tries)
        self.assertEqual(self.good, self.wanted())

    def test_no_way(self):
        """Another device is not taken: the next host is tried."""
        self.good = ['r', 'r', None]
        with self.assertRaises(nova_exception.ComputeResourcesUnavailable):
            self.claim('p', 'q')
        self.assertEqual(2, len(self.tries))

    def test_cannot_be_shared_out(self):
        with self.assertLogs(claims.LOG.logger, 'WARNING'):
            self.claim('p')
        self.assertEqual([[None] * 3], self.tries)

    def test_devices_are_not_in_placement(self):
        with self.assertNoLogs(claims.LOG.logger, 'WARNING'):
            self.claim()
        self.assertEqual([[None] * 3], self.tries)

    def test_other_moves(self):
        """Only a claim that is told allocations follows them."""
        self.claim_as_told()
        self.assertEqual([[None] * 3], self.tries)

    def test_other_threads(self):
        """Preparations that run at once do not see each other's."""
        with claims.following({'p': {'resources': {CARD: 1}}}):
            thread = threading.Thread(
                # As the threads of a pool are started.
                target=contextvars.Context().run,
                args=(self.claim_as_told,),
            )
            thread.start()
            thread.join()
        self.assertEqual([[None] * 3], self.tries)

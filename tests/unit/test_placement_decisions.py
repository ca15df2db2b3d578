# SPDX-License-Identifier: Apache-2.0
"""RP-04, RP-10: what a reshape changes in Placement."""

import unittest

from nova_xcell.placement import decisions


class TestChunks(unittest.TestCase):
    def test_order_and_size(self):
        self.assertEqual(
            [[1, 2], [3, 4], [5]], list(decisions.chunks(range(1, 6), 2))
        )

    def test_nothing(self):
        self.assertEqual([], list(decisions.chunks([])))


class TestByValue(unittest.TestCase):
    def test_keys_in_common(self):
        self.assertEqual(
            {8: ['a', 'c'], 4: ['b']},
            decisions.by_value({'a': 8, 'b': 4, 'c': 8}),
        )


class TestFirstConflict(unittest.TestCase):
    def test_as_expected(self):
        self.assertIsNone(
            decisions.first_conflict({'old': 3, 'new': None}, {'old': 3})
        )

    def test_first_of_several(self):
        for expected, given in (
            ('stale', {'new': None, 'stale': 2, 'other': 9}),
            ('gone', {'gone': 1, 'stale': 2}),
            ('exists', {'stale': 3, 'exists': None}),
        ):
            self.assertEqual(
                expected,
                decisions.first_conflict(
                    given, {'stale': 3, 'exists': 0, 'other': 1}
                ),
            )


class TestIncrements(unittest.TestCase):
    def test_as_the_host_counts(self):
        self.assertEqual(
            {1: 3, 2: 2, 3: 1, 4: 2},
            decisions.increments(
                {1: ['VCPU'], 2: ['VCPU'], 3: [], 4: []}, {1, 4, 5}
            ),
        )


class TestInventoryChange(unittest.TestCase):
    def test_all_kinds(self):
        self.assertEqual(
            decisions.InventoryChange(
                frozenset({4}), frozenset({2}), frozenset({1})
            ),
            decisions.inventory_change([1, 2], [2, 4]),
        )

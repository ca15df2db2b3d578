# SPDX-License-Identifier: Apache-2.0
"""Weights of cells (XC-03)."""

import unittest

import ddt
from hypothesis import given
from hypothesis import strategies

from nova_xcell import exception
from nova_xcell.weighers import cells


@ddt.ddt
class TestParse(unittest.TestCase):
    def test_names_uuids_words_and_numbers(self):
        self.assertEqual(
            {
                'old': -3.0,
                'new': 3.0,
                'lab': -0.5,
                '6a3ad4f6-8d2b-4a7e-9f3c-0f8a7a4d3b11': 2.5,
            },
            cells.parse(
                [
                    'old:draining',
                    'new : preferred',
                    'lab:-0.5',
                    '6a3ad4f6-8d2b-4a7e-9f3c-0f8a7a4d3b11:2.5',
                ]
            ),
        )

    def test_name_with_a_colon(self):
        self.assertEqual({'rack:7': 1.0}, cells.parse(['rack:7:1']))

    @ddt.data(
        'cell1',
        ':1',
        'cell1:',
        'cell1:much',
        'cell1:nan',
        'cell1:inf',
        'cell1:-Infinity',
        '',
        'cell1:1e999',
        'cell1:1000001',
        'cell1:-1e7',
    )
    def test_malformed(self, item):
        error = self.assertRaises(exception.InvalidCellWeight, item)
        self.assertIn(repr(item), str(error))

    def test_twice(self):
        self.assertRaises(exception.InvalidCellWeight, 'a:1', 'a:2')

    def assertRaises(self, error, *items):
        with super().assertRaises(error) as caught:
            cells.parse(list(items))
        return caught.exception


class TestScore(unittest.TestCase):
    OWN, OTHER = 1, -1

    def order(self, multiplier):
        """Return kinds of cells, best first."""
        draining = cells.NAMED_WEIGHTS['draining']
        preferred = cells.NAMED_WEIGHTS['preferred']
        kinds = {
            'own preferred': (self.OWN, preferred),
            'other preferred': (self.OTHER, preferred),
            'own': (self.OWN, 0.0),
            'other': (self.OTHER, 0.0),
            'own draining': (self.OWN, draining),
            'other draining': (self.OTHER, draining),
        }
        return sorted(
            kinds,
            reverse=True,
            key=lambda kind: (
                multiplier * cells.score(*kinds[kind], multiplier)
            ),
        )

    def test_order(self):
        self.assertEqual(
            [
                'own preferred',
                'other preferred',
                'own',
                'other',
                'own draining',
                'other draining',
            ],
            self.order(1e6),
        )

    def test_negative_multiplier_prefers_other_cells_only(self):
        self.assertEqual(
            [
                'other preferred',
                'own preferred',
                'other',
                'own',
                'other draining',
                'own draining',
            ],
            self.order(-1e6),
        )

    @given(
        strategies.sampled_from([OWN, OTHER]),
        strategies.floats(-1e6, 1e6),
        strategies.floats(-1e6, 1e6),
        strategies.floats(1e-3, 1e6),
        strategies.sampled_from([1, -1]),
    )
    def test_more_weight_never_loses(self, base, low, more, size, sign):
        multiplier = sign * size
        high = low + abs(more)
        self.assertLessEqual(
            multiplier * cells.score(base, low, multiplier),
            multiplier * cells.score(base, high, multiplier),
        )

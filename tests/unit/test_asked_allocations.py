# SPDX-License-Identifier: Apache-2.0
"""Allocations are read when somebody looks, and once (RP-01)."""

import copy
import unittest

from nova_xcell.compute import asked_allocations


class TestAskedAllocations(unittest.TestCase):
    def setUp(self):
        self.reads = 0
        self.asked = asked_allocations.AskedAllocations(self.read)

    def read(self):
        self.reads += 1
        return {
            name: {'allocations': {'node': {'resources': {'VGPU': 1}}}}
            for name in ('one', 'two')
        }

    def test_read_once_and_late(self):
        self.assertEqual(0, self.reads)
        self.assertIn('one', self.asked)
        self.assertEqual(2, len(self.asked))
        self.assertEqual(1, self.reads)

    def test_what_was_changed_in_place(self):
        """RP-05: that is all that is sent."""
        self.assertEqual({}, self.asked.changed())
        there = self.asked['two']['allocations']['node']['resources']
        there['PGPU'] = there.pop('VGPU')
        self.assertEqual(
            {'two': {'allocations': {'node': {'resources': {'PGPU': 1}}}}},
            self.asked.changed(),
        )

    def test_copy_is_plain(self):
        """The host copies it for its log."""
        copied = copy.deepcopy(self.asked)
        self.assertIs(dict, type(copied))
        copied['one']['allocations'].clear()
        self.assertEqual({}, self.asked.changed())

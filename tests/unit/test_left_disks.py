# SPDX-License-Identifier: Apache-2.0
"""A source host knows the disks again that a server has left (XC-26)."""

import types
import unittest

from nova_xcell.compute import left_disks

DISKS = {'/instances/a/disk': '1 2 3', '/instances/a/console.log': '4 5 6'}


class Record(types.SimpleNamespace):
    def __contains__(self, name):
        return hasattr(self, name)


class TestLeftDisks(unittest.TestCase):
    def record(self, **fields):
        return Record(
            system_metadata={left_disks.NOTE: left_disks.note(DISKS)},
            **fields,
        )

    def test_left_behind(self):
        self.assertTrue(left_disks.is_left_behind(self.record(hidden=True)))

    def test_server_that_is_here(self):
        """One that came back has a note still, and other disks by now."""
        self.assertFalse(left_disks.is_left_behind(self.record(hidden=False)))
        self.assertFalse(left_disks.is_left_behind(self.record()))

    def test_no_note(self):
        record = Record(hidden=True, system_metadata={})
        self.assertFalse(left_disks.is_left_behind(record))

    def test_unchanged(self):
        self.assertTrue(
            left_disks.is_unchanged(
                self.record(), dict(reversed(DISKS.items()))
            )
        )

    def test_changed_new_or_gone(self):
        for disks in (
            {**DISKS, '/instances/a/disk': '1 2 4'},
            {**DISKS, '/instances/a/disk.swap': '7 8 9'},
            {'/instances/a/disk': '1 2 3'},
        ):
            self.assertFalse(left_disks.is_unchanged(self.record(), disks))

    def test_fits_into_system_metadata(self):
        self.assertLess(len(left_disks.note(DISKS)), 256)

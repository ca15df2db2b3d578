# SPDX-License-Identifier: Apache-2.0
"""The file that a reshape leaves for its undoing (RP-06)."""

import os
import tempfile
import unittest

from nova_xcell.reshaper import plan
from nova_xcell.reshaper import undo
from nova_xcell.reshaper import undo_file
from tests.unit import reshape_trees


class TestUndoFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'undo.json')
        tree = reshape_trees.tree({'VGPU': reshape_trees.inventory(1)})
        self.record = undo.record(plan.make(tree, ()))

    def test_last_one_first(self):
        kept = undo_file.UndoFile(self.path)
        self.assertFalse(os.path.exists(self.path))
        kept.keep(self.record)
        kept.keep({**self.record, 'node': 'other'})
        self.assertEqual(0o600, os.stat(self.path).st_mode & 0o777)
        self.assertEqual(
            ['other', 'node'],
            [record['node'] for record in undo_file.read(self.path)],
        )

    def test_never_written_over(self):
        undo_file.UndoFile(self.path).keep(self.record)
        with self.assertRaises(FileExistsError):
            undo_file.UndoFile(self.path).keep(self.record)

    def test_died_while_writing(self):
        undo_file.UndoFile(self.path).keep(self.record)
        with open(self.path, 'a') as opened:
            opened.write('{"version": 1, "no')
        self.assertEqual([self.record], undo_file.read(self.path))

    def test_something_else(self):
        for text, words in (
            ('hello', 'line 1: Expecting value'),
            ('{}', 'line 1: this is no record'),
            ('[]', 'line 1: this is no record'),
        ):
            with open(self.path, 'w') as opened:
                opened.write(text + '\n')
            with self.assertRaisesRegex(undo.BadRecord, words):
                undo_file.read(self.path)

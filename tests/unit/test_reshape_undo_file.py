# SPDX-License-Identifier: Apache-2.0
"""The file that a reshape leaves for its undoing (RP-06)."""

import os
import tempfile
import unittest

from nova_xcell.reshaper import plan
from nova_xcell.reshaper import rules
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
        kept.keep({**self.record, 'node': 'other', 'root': 'other'})
        self.assertEqual(0o600, os.stat(self.path).st_mode & 0o777)
        self.assertEqual(
            ['other', 'node'],
            [record['node'] for record in undo_file.read(self.path)],
        )

    def test_never_written_over(self):
        """Neither what two runs make at the same time."""
        late = undo_file.UndoFile(self.path)
        undo_file.UndoFile(self.path).keep(self.record)
        with self.assertRaises(FileExistsError):
            late.keep(self.record)

    def test_somebody_elses(self):
        for text in ('precious', 'precious\n', '{"version": 1}\n'):
            with open(self.path, 'w') as opened:
                opened.write(text)
            with self.assertRaises(undo.BadRecord):
                undo_file.UndoFile(self.path)
            with open(self.path) as opened:
                self.assertEqual(text, opened.read())

    def test_died_while_writing(self):
        """RP-07: the next run goes on behind the last complete record."""
        undo_file.UndoFile(self.path).keep(self.record)
        with open(self.path, 'a') as opened:
            opened.write('{"attempt": 1, "no')
        self.assertEqual([self.record], undo_file.read(self.path))
        other = {**self.record, 'root': 'other'}
        undo_file.UndoFile(self.path).keep(other)
        self.assertEqual([other, self.record], undo_file.read(self.path))

    def test_died_while_writing_the_first(self):
        for text in ('', '{"att', '{"attempt": 1, "no'):
            with open(self.path, 'w') as opened:
                opened.write(text)
            undo_file.UndoFile(self.path).keep(self.record)
            self.assertEqual([self.record], undo_file.read(self.path))

    def test_only_what_was_done(self):
        """The last attempt of a run is the one that was carried out."""
        kept = undo_file.UndoFile(self.path)
        kept.keep(self.record)
        kept.keep(self.record)
        (record,) = undo_file.read(self.path)
        self.assertEqual(2, record['attempt'])

    def test_only_what_was_done_before_a_crash(self):
        """RP-07: the same once more, so nothing had been done."""
        (record,) = [self.done('VGPU', 'CUSTOM_A')]
        for _ in range(2):
            undo_file.UndoFile(self.path).keep(record)
        self.assertEqual([record], undo_file.read(self.path))

    def test_done_one_after_the_other(self):
        """Both are undone, the last one first."""
        records = [
            self.done('VGPU', 'CUSTOM_A'),
            self.done('CUSTOM_A', 'PGPU'),
        ]
        for record in records:
            undo_file.UndoFile(self.path).keep(record)
        self.assertEqual(records[::-1], undo_file.read(self.path))

    def done(self, old, new):
        """Return the record of a class renamed."""
        return undo.record(
            plan.make(
                reshape_trees.tree({old: reshape_trees.inventory(1)}),
                rules.parse(
                    'version: 1\n'
                    'rules: [{rename: {resource_class: %s, to: %s}}]'
                    % (old, new)
                ),
            )
        )

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

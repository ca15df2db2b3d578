# SPDX-License-Identifier: Apache-2.0
"""The file that a reshape leaves for its undoing (RP-06)."""

import json
import os
import tempfile
import unittest
from unittest import mock

import ddt

from nova_xcell.reshaper import plan
from nova_xcell.reshaper import rules
from nova_xcell.reshaper import undo
from nova_xcell.reshaper import undo_file
from tests.unit import reshape_trees

OTHER = reshape_trees.key('other')


@ddt.ddt
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
        kept.keep({**self.record, 'node': 'other', 'root': OTHER})
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
        other = {**self.record, 'root': OTHER}
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

    def refused(self, words):
        """Whatever is there, it is not written to."""
        with self.assertRaisesRegex(undo_file.Refused, words):
            undo_file.UndoFile(self.path).keep(self.record)

    def test_symbolic_link(self):
        target = self.path + '.target'
        undo_file.UndoFile(target).keep(self.record)
        os.symlink(target, self.path)
        size = os.stat(target).st_size
        self.refused('symbolic link')
        self.assertEqual(size, os.stat(target).st_size)

    def test_symbolic_link_to_nothing(self):
        os.symlink(self.path + '.target', self.path)
        self.refused('symbolic link')
        self.assertFalse(os.path.exists(self.path + '.target'))

    def test_named_pipe(self):
        os.mkfifo(self.path)
        self.refused('no regular file')

    def test_file_of_another_user(self):
        """What they have put into it would be undone as well."""
        undo_file.UndoFile(self.path).keep(self.record)
        with mock.patch('os.geteuid', return_value=os.geteuid() + 1):
            self.refused('another user')

    def test_written_to_meanwhile(self):
        """Two runs that go on with a file do not cut each other's records."""
        undo_file.UndoFile(self.path).keep(self.record)
        late = undo_file.UndoFile(self.path)
        undo_file.UndoFile(self.path).keep({**self.record, 'root': OTHER})
        with self.assertRaisesRegex(undo_file.Refused, 'changed'):
            late.keep(self.record)
        self.assertEqual(2, len(undo_file.read(self.path)))

    def test_too_large(self):
        undo_file.UndoFile(self.path).keep(self.record)
        size = os.stat(self.path).st_size
        with mock.patch.object(undo_file, 'MAX_SIZE', size):
            undo_file.read(self.path)
        with mock.patch.object(undo_file, 'MAX_SIZE', size - 1):
            for use in (undo_file.read, undo_file.UndoFile):
                with self.assertRaisesRegex(undo.BadRecord, 'larger than'):
                    use(self.path)

    @ddt.data(
        (b'[' * 100000, 'nested too deeply'),
        (b'\xff\xfe\xfa', "can't decode"),
        (b'{"attempt": NaN}', 'NaN is no number'),
        (b'1' * 5000, 'Exceeds the limit'),
    )
    @ddt.unpack
    def test_bad_json(self, content, words):
        with open(self.path, 'wb') as opened:
            opened.write(content + b'\n')
        with self.assertRaisesRegex(undo.BadRecord, words) as caught:
            undo_file.read(self.path)
        self.assertLess(len(str(caught.exception)), len(self.path) + 300)


@ddt.ddt
class TestCheck(unittest.TestCase):
    """A record that is not as a reshape writes it changes nothing (RP-06)."""

    def setUp(self):
        children = '{count: 2, name: "{node}_{index}", traits: [HW_NUMA_ROOT]}'
        made = plan.make(
            reshape_trees.tree(
                {'VGPU': reshape_trees.inventory(4)}, {'one': {'VGPU': 1}}
            ),
            rules.parse(
                'version: 1\n'
                'rules: [{move: {resource_class: VGPU, to: %s}}]' % children
            ),
        )
        self.assertEqual([], made.problems)
        self.record = json.loads(json.dumps(undo.record(made)))

    def test_good(self):
        for name in ('new', 'traits', 'inventories', 'consumers', 'origins'):
            self.assertTrue(self.record[name], name)
        self.assertIsNone(undo.check(self.record))

    @ddt.data(
        ('root', '../allocations/1234567890123456789012', 'does not match'),
        ('root', reshape_trees.NODE + '\n', 'does not match'),
        ('node', 7, 'not of type'),
        ('attempt', 0, 'minimum'),
        ('new', {}, 'not of type'),
        ('version', 2, 'not known'),
        ('traits', {'../x': []}, 'does not match'),
        ('traits', {reshape_trees.NODE: ['a/b']}, 'does not match'),
        ('consumers', {reshape_trees.NODE: [{}]}, 'short'),
        (
            'consumers',
            {OTHER: [{reshape_trees.NODE: {'VGPU': -1}}, {}]},
            'minimum',
        ),
        ('origins', [[reshape_trees.NODE, 'VGPU']], 'short'),
        ('inventories', {reshape_trees.NODE: {'name': 'a'}}, 'required'),
        (
            'inventories',
            {
                reshape_trees.NODE: {
                    'name': 'node',
                    'classes': {'VGPU': [{'total': '1'}, None]},
                }
            },
            'not of type',
        ),
        # A provider that undoing would delete.
        (
            'new',
            [{'uuid': OTHER, 'name': 'other', 'parent': reshape_trees.NODE}],
            'not created by a reshape',
        ),
        (
            'new',
            [{'uuid': OTHER, 'name': 'other', 'parent': 'x' * 36}],
            'not created by a reshape',
        ),
    )
    @ddt.unpack
    def test_bad(self, name, value, words):
        reason = undo.check({**self.record, name: value})
        self.assertIn(words, reason or '')
        self.assertLess(len(reason), 250)

    def test_short_reason(self):
        for name in ('version', 'root'):
            reason = undo.check({**self.record, name: [1] * 1000})
            self.assertLess(len(reason), 250)

# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage reshape`` (RP-06, RP-09)."""

import json
import os

import fixtures
from oslo_utils.fixture import uuidsentinel as uuids

from nova_xcell.cmd import exits
from nova_xcell.cmd import reshape
from tests.functional import commands
from tests.functional import test_reshape


class TestManage(test_reshape.ReshapeTest):
    def setUp(self):
        super().setUp()
        self.useFixture(commands.of_this_process())
        self.useFixture(
            fixtures.MockPatchObject(
                reshape, '_placement', lambda: self.placement
            )
        )
        self.folder = self.useFixture(fixtures.TempDir())
        self.undo_file = self.folder.join('undo.json')
        self.rules_file = self.folder.join('rules.yaml')
        with open(self.rules_file, 'wb') as opened:
            opened.write(test_reshape.RULES)

    def run_command(self, *words):
        """Return the exit code and what was printed."""
        code, output = commands.run('reshape', *words, '-f', 'json')
        return code, json.loads(output or 'null')

    def of_rules(self, word, *words):
        return self.run_command(word, '--rules', self.rules_file, *words)

    def test_plan_apply_undo(self):
        before = self.state()
        code, rows = self.of_rules('plan', '--node', 'node')
        self.assertEqual(exits.Exit.FOUND, code)
        (busy,) = (
            row for row in rows if row['Provider or consumer'] == uuids.busy
        )
        self.assertEqual('node CUSTOM_GPU: 2, VCPU: 1', busy['Before'])
        self.assertIn('VGPU: 2', busy['After'])
        apply = ('apply', '--node', 'node', '--undo-file', self.undo_file)
        code, rows = self.of_rules(*apply, '--dry-run')
        self.assertEqual(
            (exits.Exit.FOUND, 'would be done'), (code, rows[-1]['What'])
        )
        self.assertEqual(before, self.state())
        self.assertFalse(os.path.exists(self.undo_file))

        code, rows = self.of_rules(*apply)
        self.assertEqual((0, 'done'), (code, rows[-1]['What']))
        after = self.state()
        self.assertIn('node_gpu1', after)
        self.assertEqual((0, []), self.of_rules('plan', '--node', 'node'))
        code, rows = self.run_command('undo', self.undo_file, '--dry-run')
        self.assertEqual(
            (exits.Exit.FOUND, 'would be done'), (code, rows[-1]['What'])
        )
        self.assertEqual(after, self.state())
        code, rows = self.run_command('undo', self.undo_file)
        self.assertEqual((0, 'done'), (code, rows[-1]['What']))
        self.assertEqual(before, self.state())

    def test_all_nodes_but_the_one_with_a_problem(self):
        self.allocate(
            uuids.busy, {'node': {'VCPU': 1, 'CUSTOM_GPU': 3}}, generation=1
        )
        before = self.state()
        code, rows = self.of_rules(
            'apply', '--all', '--undo-file', self.undo_file
        )
        self.assertEqual(1, code)
        self.assertEqual(
            {'node': 'left as it is', 'other': 'done'},
            {
                row['Node']: row['What']
                for row in rows
                if row['What'] in ('left as it is', 'done')
            },
        )
        (problem,) = (row for row in rows if 'problem' in row['What'])
        self.assertEqual(uuids.busy, problem['Provider or consumer'])
        self.assertIn('does not fit', problem['Why'])
        self.assertEqual(before, self.state())

    def test_file_of_another_run_is_kept(self):
        with open(self.undo_file, 'w') as opened:
            opened.write('precious')
        before = self.state()
        code, rows = self.of_rules(
            'apply', '--node', 'node', '--undo-file', self.undo_file
        )
        self.assertEqual(1, code)
        self.assertEqual(before, self.state())
        with open(self.undo_file) as opened:
            self.assertEqual('precious', opened.read())

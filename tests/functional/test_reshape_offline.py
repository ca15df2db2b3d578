# SPDX-License-Identifier: Apache-2.0
"""``placement migrate_compute_inventory`` (RP-07, RP-09, RP-12)."""

import contextlib
import io
import json
import os
from unittest import mock

import fixtures
from oslo_utils.fixture import uuidsentinel as uuids

from nova_xcell.cmd import exits
from nova_xcell.cmd import placement as command
from nova_xcell.cmd import progress
from nova_xcell.cmd import reshape_rows
from nova_xcell.reshaper import client
from nova_xcell.reshaper import direct
from nova_xcell.reshaper import placement
from tests.functional import commands
from tests.functional import test_reshape


class Killed(BaseException):
    """The process dies; nobody catches it."""


class OfflineBase(test_reshape.ReshapeTest):
    """Nodes in a database of Placement; the service is not asked."""

    def setUp(self):
        super().setUp()
        self.useFixture(commands.of_this_process())
        # The database is that of the fixture.
        self.direct = direct.connect(self.placement_config)
        self.useFixture(
            fixtures.MockPatchObject(
                command,
                '_placement',
                lambda files: placement.Placement(self.direct, workers=1),
            )
        )
        self.folder = self.useFixture(fixtures.TempDir())
        self.undo_file = self.folder.join('undo.json')
        self.rules_file = self.folder.join('rules.yaml')
        with open(self.rules_file, 'wb') as opened:
            opened.write(test_reshape.RULES)

    def run_command(self, *words):
        """Return the exit code and what was printed."""
        return commands.run('placement', 'migrate_compute_inventory', *words)

    def of_rules(self, *words):
        return self.run_command(
            '--rules', self.rules_file, '--undo-file', self.undo_file, *words
        )

    def both(self):
        return self.state('node'), self.state('other')


class TestOffline(OfflineBase):
    def test_dry_run_apply_again_undo(self):
        """A readable diff; a node that needs nothing is a no-op."""
        before = self.both()
        code, text = self.of_rules('--node', 'node', '--dry-run')
        self.assertEqual(exits.Exit.FOUND, code)
        for line in (
            '  -   CUSTOM_GPU 4',
            '  -     2 for %s' % uuids.busy,
            '  +     node_gpu0',
            '  +       trait CUSTOM_A40',
            '  +       VGPU 2',
            '  +         2 for %s' % uuids.busy,
            '      VCPU 8',
        ):
            self.assertIn(line + '\n', text)
        self.assertEqual(before, self.both())
        self.assertFalse(os.path.exists(self.undo_file))

        code, text = self.of_rules('--all')
        self.assertEqual(0, code)
        self.assertIn('node: done, 3 providers and 2 consumers', text)
        self.assertIn('other: done', text)
        after = self.both()
        self.assertEqual({'node', 'node_gpu0', 'node_gpu1'}, set(after[0]))
        code, text = self.of_rules('--all')
        self.assertEqual(
            (0, 'node: nothing to do\nother: nothing to do\n'), (code, text)
        )
        self.assertEqual(after, self.both())

        code, text = self.run_command('--undo', self.undo_file, '--dry-run')
        self.assertEqual(exits.Exit.FOUND, code)
        self.assertEqual(after, self.both())
        code, text = self.run_command(
            '--undo', self.undo_file, '--node', 'other'
        )
        self.assertEqual(0, code)
        self.assertEqual((after[0], before[1]), self.both())
        code, text = self.run_command('--undo', self.undo_file)
        self.assertEqual(0, code)
        self.assertEqual(before, self.both())

    def test_formats(self):
        """Rows for programs, each the same as of the reshape commands."""
        code, text = self.of_rules('--node', 'node', '--dry-run', '-f', 'json')
        self.assertEqual(exits.Exit.FOUND, code)
        *rows, last = json.loads(text)
        self.assertEqual(list(reshape_rows.COLUMNS), list(last))
        self.assertEqual(
            ('node', 'would be done'), (last['Node'], last['What'])
        )
        (busy,) = (
            row for row in rows if row['Provider or consumer'] == uuids.busy
        )
        self.assertIn('VGPU: 2', busy['After'])
        code, text = self.of_rules(
            '--node', 'node', '-f', 'value', '-c', 'Node', '-c', 'What'
        )
        self.assertEqual((0, 'node done'), (code, text.splitlines()[-1]))

    def test_interrupted(self):
        """What is done is told; the rest is not begun, and can be later."""
        before = self.both()
        with mock.patch.object(
            client.Client, 'apply', side_effect=KeyboardInterrupt
        ) as apply:
            code, text = self.of_rules('--all')
        self.assertEqual(exits.Exit.INTERRUPTED, code)
        self.assertEqual('node: interrupted: Ctrl-C\n', text)
        apply.assert_called_once()
        self.assertEqual(before, self.both())
        self.assertEqual(0, self.of_rules('--all')[0])

    def test_nodes_of_a_host(self):
        with mock.patch.object(
            command, '_nodes_of', lambda host: [uuids.other]
        ):
            code, text = self.of_rules('--host', 'somewhere')
        self.assertEqual((0, True), (code, text.startswith('other: done')))
        self.assertEqual({'node'}, set(self.state('node')))

    def test_problem_of_one_node(self):
        """RP-09: it is named, and the others are reshaped."""
        self.allocate(
            uuids.busy, {'node': {'VCPU': 1, 'CUSTOM_GPU': 3}}, generation=1
        )
        before = self.state()
        code, text = self.of_rules('--all')
        self.assertEqual(1, code)
        self.assertIn('node: left as it is', text)
        self.assertIn('problem (fit) of consumer %s' % uuids.busy, text)
        self.assertIn('other: done', text)
        self.assertEqual(before, self.state())

    def test_file_of_somebody_else(self):
        with open(self.undo_file, 'w') as opened:
            opened.write('precious')
        before = self.both()
        code, _ = self.of_rules('--all')
        self.assertEqual(1, code)
        self.assertEqual(before, self.both())
        with open(self.undo_file) as opened:
            self.assertEqual('precious', opened.read())

    def test_killed_anywhere(self):
        """RP-07: whoever runs it again comes to the same end, and back."""
        before = self.both()
        self.of_rules('--all')
        wanted = self.both()
        self.run_command('--undo', self.undo_file)
        self.assertEqual(before, self.both())
        os.unlink(self.undo_file)
        killed = 0
        while self.killed_at(killed):
            code, text = self.of_rules('--all')
            self.assertEqual(0, code, text)
            self.assertEqual(wanted, self.both(), killed)
            code, text = self.run_command('--undo', self.undo_file)
            self.assertEqual(0, code, text)
            self.assertEqual(before, self.both(), killed)
            os.unlink(self.undo_file)
            killed += 1
        # A class, two children, a trait and its use for each, and the
        # request itself: for two nodes.
        self.assertGreater(killed, 15)

    def killed_at(self, number):
        """Run it until some write; return whether there was one."""
        request = self.direct.request
        left = [number]

        def dying(url, method, *args, **kwargs):
            if method != 'GET':
                if not left[0]:
                    raise Killed
                left[0] -= 1
            return request(url, method, *args, **kwargs)

        self.direct.request = dying
        try:
            self.of_rules('--all')
        except Killed:
            return True
        finally:
            self.direct.request = request
        return False

    def test_undo_that_was_killed(self):
        before = self.both()
        self.of_rules('--all')
        request = self.direct.request

        def dying(url, method, *args, **kwargs):
            if method == 'DELETE':
                raise Killed
            return request(url, method, *args, **kwargs)

        self.direct.request = dying
        self.assertRaises(Killed, self.run_command, '--undo', self.undo_file)
        self.direct.request = request
        self.assertEqual(0, self.run_command('--undo', self.undo_file)[0])
        self.assertEqual(before, self.both())


class TestProgress(test_reshape.test.NoDBTestCase):
    def drawn(self, total, is_shown, **kwargs):
        stream = io.StringIO()
        stream.isatty = lambda: is_shown
        bar = progress.Progress(total, stream, **kwargs)
        for index in range(total or 2):
            bar.show('node-%d' % index)
            bar.step()
        bar.clear()
        return stream.getvalue()

    def test_drawn_for_people_only(self):
        """RP-12."""
        self.assertIn('[%s] 2/3 node-2' % ('#' * 20 + ' ' * 10),
                      self.drawn(3, True))  # fmt: skip
        self.assertEqual('', self.drawn(3, False))
        self.assertEqual('', self.drawn(1, True))
        self.assertEqual('', self.drawn(3, True, is_wanted=False))

    def test_nobody_knows_how_much(self):
        self.assertEqual(
            '\r\x1b[K[0] node-0\r\x1b[K[1] node-1\r\x1b[K',
            self.drawn(None, True),
        )


class TestArguments(OfflineBase):
    def refused(self, *words):
        """Return the exit code of a command line that is not understood."""
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            refusal = self.assertRaises(SystemExit, self.run_command, *words)
        return refusal.code, errors.getvalue().splitlines()[-1]

    def test_nodes_have_to_be_named(self):
        code, line = self.refused('--rules', self.rules_file)
        self.assertEqual(exits.Exit.USAGE, code)
        self.assertIn('--rules needs one of', line)
        code, line = self.refused('--undo', 'x', '--undo-file', 'y')
        self.assertEqual(exits.Exit.USAGE, code)
        self.assertIn('--undo-file goes with --rules only', line)

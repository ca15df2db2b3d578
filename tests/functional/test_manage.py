# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage cross-cell`` on a move whose conductor died (XC-27)."""

import json
from unittest import mock

import fixtures

from nova_xcell.cmd import exits
from nova_xcell.cmd import findings
from nova_xcell.tasks import cells
from nova_xcell.tasks import lease
from tests.embedded import healing
from tests.embedded import injection
from tests.embedded import observe
from tests.embedded import steps
from tests.functional import commands
from tests.functional import faulty_move


class TestManage(faulty_move.FaultyMove):
    def setUp(self):
        super().setUp()
        self.useFixture(commands.of_this_process())

    def run_command(self, *words):
        """Return the exit code and what was printed."""
        code, output = commands.run('cross-cell', *words, '-f', 'json')
        return code, json.loads(output)

    def leave_a_move(self):
        """Let the conductor die when the guest is in the other cell."""
        (case,) = (
            case
            for case in steps.cases()
            if case.name == 'resize_mapping_death_before_volume'
        )
        self.prepare(case.operation, case.backing)
        with injection.Injection(case.step, case.fault) as fault:
            self.start(case.operation)
            self.assertTrue(fault.settled.wait(faulty_move.REACTION))
            self.replace_conductors(fault.forget_the_dead)

    def wait_until_abandoned(self):
        def check():
            code, rows = self.run_command('audit')
            self.assertIsNone(rows[0]['Waits for'])

        self._wait_for_assert(check, max_retries=50, sleep=0.1)

    def test_audit_and_heal(self):
        self.leave_a_move()
        self.wait_until_abandoned()
        before = observe.snapshot(self, self.server['id'])
        code, rows = self.run_command('audit')
        self.assertEqual(exits.Exit.FOUND, code)
        self.assertEqual(1, len(rows))
        self.assertEqual(self.server['id'], rows[0]['Server'])
        self.assertEqual(('host1', 'host2'), (rows[0]['From'], rows[0]['To']))
        self.assertIn('finish the move', rows[0]['Plan'])
        code, rows = self.run_command('heal', '--dry-run')
        self.assertEqual(exits.Exit.FOUND, code)
        self.assertEqual('would be done', rows[0]['Result'])
        with mock.patch.object(findings, '_check_server'):
            code, rows = self.run_command(
                'heal', '--server', 'a8b1f5a4-0000-4000-8000-000000000000'
            )
        self.assertEqual((0, []), (code, rows))
        self.assertEqual(before, observe.snapshot(self, self.server['id']))
        code, rows = self.run_command('heal')
        self.assertEqual((0, 'done'), (code, rows[0]['Result']))
        server = self.api.get_server(self.server['id'])
        self.assertEqual('VERIFY_RESIZE', server['status'])
        self.assertEqual([], self.wait_for_no_leak(server))
        self.assertEqual((0, []), self.run_command('audit'))

    def test_a_move_that_is_alive_is_left_alone(self):
        self.leave_a_move()
        self.wait_until_abandoned()
        _code, (row,) = self.run_command('audit')
        before = observe.snapshot(self, self.server['id'])
        with self.context_of('cell1') as context:
            with lease.held(row['Migration'], source=context):
                self.wait_until_touched(row)
                code, rows = self.run_command('heal')
        self.assertEqual((0, 'left alone'), (code, rows[0]['Result']))
        self.assertIn('touched', rows[0]['Waits for'])
        self.assertEqual(before, observe.snapshot(self, self.server['id']))

    def test_a_server_that_is_not_there(self):
        """XC-27: a mistyped UUID is no server that has nothing to heal."""
        stranger = 'a8b1f5a4-0000-4000-8000-000000000000'
        code, output, errors = commands.run_apart(
            'cross-cell', 'heal', '--server', stranger
        )
        self.assertEqual((exits.Exit.FAILED, ''), (code, output))
        self.assertEqual(
            'nova-xcell-manage: There is no server %s in any cell.\n'
            % stranger,
            errors,
        )

    def test_a_cell_that_does_not_answer(self):
        """XC-27: what cannot be looked at is not in order."""
        self.useFixture(
            fixtures.MockPatchObject(
                cells,
                'targeted',
                side_effect=RuntimeError(
                    'no way to mysql://nova:s3cret@db/nova\n[SQL: SELECT]'
                ),
            )
        )
        code, rows = self.run_command('audit')
        self.assertEqual(exits.Exit.FAILED, code)
        self.assertEqual(2, len(rows))
        for row in rows:
            self.assertIsNone(row['Server'])
            self.assertRegex(
                row['Waits for'],
                r'^The moves of cell .* cannot be looked at: no way to '
                r'mysql://nova:\*\*\*@db/nova$',
            )
        code, rows = self.run_command('heal')
        self.assertEqual(
            (exits.Exit.FAILED, 'left alone'), (code, rows[0]['Result'])
        )

    def wait_until_touched(self, row):
        def check():
            _code, rows = self.run_command('audit')
            self.assertIsNotNone(rows[0]['Waits for'])

        self._wait_for_assert(check, max_retries=50, sleep=0.1)


class TestAutoConfirm(faulty_move.FaultyMove):
    def run_conductors(self):
        """Run what the conductors do by themselves; no up-call from hosts."""
        for conductor in self.conductors:
            healing.run_all(conductor.manager)

    def confirms(self):
        actions = self.api.get_instance_actions(self.server['id'])
        return [a for a in actions if a['action'] == 'confirmResize']

    def test_confirmed_once_after_the_window(self):
        """XC-15: plain Nova needs a way from the cell to the API database."""
        self.prepare('confirm', 'volume')
        self.flags(resize_confirm_window=3600)
        self.run_conductors()
        self.assertEqual([], self.confirms())
        self.flags(resize_confirm_window=1)

        def check():
            self.run_conductors()
            server = self.api.get_server(self.server['id'])
            self.assertEqual('ACTIVE', server['status'])

        self._wait_for_assert(check, max_retries=50, sleep=0.1)
        self.assertEqual([], self.let_it_heal(self.server))
        self.assertEqual(1, len(self.confirms()))

    def test_switched_off(self):
        self.prepare('confirm', 'volume')
        self.flags(resize_confirm_window=0)
        self.run_conductors()
        self.assertEqual([], self.confirms())

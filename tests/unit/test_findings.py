# SPDX-License-Identifier: Apache-2.0
"""Commands that list what is wrong, on findings made up (XC-27, RP-12)."""

import contextlib
import io
import json
import types
import unittest
from unittest import mock

import ddt

from nova_xcell.cmd import exits
from nova_xcell.cmd import findings

ONE = '3f1c9a52-6f0e-4d7b-9f4c-0a8c6b2d1e77'
OTHER = '6d1a5f0e-3f0b-4c57-8d5e-0d2a7f1c9b34'


class Doctor:
    """Finds and heals what it was told to."""

    def __init__(self, found, problem=None):
        self.found = found
        self.problem = problem
        self.healed = []
        self.over = False

    def findings(self, watch):
        for each in self.found:
            if isinstance(each, BaseException):
                raise each
            watch(each.server)
            yield each

    def heal(self, finding):
        self.healed.append(finding.server)
        if isinstance(self.problem, BaseException):
            raise self.problem
        return self.problem


class Patients:
    columns = ('Server', 'Waits for')
    examples = ('patients',)
    given = None

    def doctor(self):
        return self.given

    def row(self, finding):
        return finding.server, finding.waits

    def is_read(self, finding):
        return finding.server is not None

    def afterwards(self, doctor, server):
        doctor.over = True


class Audit(Patients, findings.Audit):
    pass


class Heal(Patients, findings.Heal):
    pass


def finding(server=ONE, waits=None):
    return types.SimpleNamespace(server=server, waits=waits)


@ddt.ddt
class TestFindings(unittest.TestCase):
    def run_command(self, kind, doctor, *words, is_terminal=False, verbose=1):
        """Return exit code, rows and what was drawn."""
        drawn = io.StringIO()
        drawn.isatty = lambda: is_terminal
        application = mock.Mock(
            stdout=io.StringIO(),
            stderr=drawn,
            options=types.SimpleNamespace(verbose_level=verbose),
        )
        command = kind(application, None)
        command.given = doctor
        parser = command.get_parser('patients')
        code = command.run(parser.parse_args([*words, '-f', 'json']))
        rows = json.loads(application.stdout.getvalue())
        return code, [list(row.values()) for row in rows], drawn.getvalue()

    def test_nothing(self):
        for kind in (Audit, Heal):
            doctor = Doctor([])
            self.assertEqual((0, [], ''), self.run_command(kind, doctor))

    def test_audit(self):
        doctor = Doctor([finding(), finding(OTHER, 'no\nway')])
        self.assertEqual(
            (exits.Exit.FOUND, [[ONE, None], [OTHER, 'no']], ''),
            self.run_command(Audit, doctor),
        )
        self.assertEqual([], doctor.healed)

    @ddt.data(Audit, Heal)
    def test_what_cannot_be_looked_at(self, kind):
        doctor = Doctor([finding(), finding(None, 'of mysql://a:s3cret@b')])
        code, rows, _ = self.run_command(kind, doctor)
        self.assertEqual(exits.Exit.FAILED, code)
        self.assertEqual([None, 'of mysql://a:***@b'], rows[1][:2])

    def test_heal(self):
        doctor = Doctor([finding(), finding(OTHER, 'busy')])
        code, rows, _ = self.run_command(Heal, doctor)
        self.assertEqual(exits.Exit.OK, code)
        self.assertEqual(['done', 'left alone'], [row[-1] for row in rows])
        self.assertEqual([ONE], doctor.healed)
        self.assertTrue(doctor.over)

    def test_heal_that_fails(self):
        doctor = Doctor([finding(), finding(OTHER)], 'no way\n[SQL: x]')
        code, rows, _ = self.run_command(Heal, doctor)
        self.assertEqual(exits.Exit.FAILED, code)
        self.assertEqual(['no way', 'no way'], [row[-1] for row in rows])

    def test_dry_run(self):
        doctor = Doctor([finding()])
        code, rows, _ = self.run_command(Heal, doctor, '--dry-run')
        self.assertEqual(
            (exits.Exit.FOUND, [[ONE, None, 'would be done']]), (code, rows)
        )
        self.assertEqual(([], False), (doctor.healed, doctor.over))
        doctor = Doctor([finding(OTHER, 'busy')])
        code, rows, _ = self.run_command(Heal, doctor, '--dry-run')
        self.assertEqual((exits.Exit.OK, 'left alone'), (code, rows[0][-1]))

    def test_one_server(self):
        """A cell that cannot be looked at may be that of the server."""
        doctor = Doctor([finding(), finding(OTHER), finding(None, 'down')])
        with mock.patch.object(findings, '_check_server') as check:
            code, rows, _ = self.run_command(
                Heal, doctor, '--server', OTHER.upper()
            )
        check.assert_called_once_with(OTHER)
        self.assertEqual(exits.Exit.FAILED, code)
        self.assertEqual([OTHER, None], [row[0] for row in rows])
        self.assertEqual([OTHER], doctor.healed)

    def test_no_uuid(self):
        with (
            contextlib.redirect_stderr(io.StringIO()) as errors,
            self.assertRaises(SystemExit) as refusal,
        ):
            self.run_command(Heal, Doctor([]), '--server', 'web-1')
        self.assertEqual(exits.Exit.USAGE, refusal.exception.code)
        self.assertIn("'web-1' is not a UUID", errors.getvalue())

    def test_interrupted_while_looking(self):
        """What was found and done until then is told."""
        for kind in (Audit, Heal):
            doctor = Doctor([finding(), KeyboardInterrupt()])
            code, rows, _ = self.run_command(kind, doctor)
            self.assertEqual(exits.Exit.INTERRUPTED, code)
            self.assertEqual([ONE], [row[0] for row in rows])
            self.assertFalse(doctor.over)

    def test_interrupted_while_healing(self):
        doctor = Doctor([finding(), finding(OTHER)], KeyboardInterrupt())
        code, rows, _ = self.run_command(Heal, doctor)
        self.assertEqual(exits.Exit.INTERRUPTED, code)
        self.assertEqual([[ONE, None, 'interrupted']], rows)
        self.assertEqual(([ONE], False), (doctor.healed, doctor.over))

    @ddt.data(Audit, Heal)
    def test_progress(self, kind):
        _, _, drawn = self.run_command(
            kind, Doctor([finding(), finding(OTHER)]), is_terminal=True
        )
        self.assertIn('[0] %s' % ONE, drawn)
        self.assertIn('[1] %s' % OTHER, drawn)
        self.assertTrue(drawn.endswith('\r\x1b[K'))
        _, _, drawn = self.run_command(
            kind, Doctor([finding()]), is_terminal=True, verbose=0
        )
        self.assertEqual('', drawn)

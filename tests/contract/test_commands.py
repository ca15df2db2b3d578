# SPDX-License-Identifier: Apache-2.0
"""What is the same in all commands of ``nova-xcell-manage``."""

import contextlib
import io
import logging
import shlex
from unittest import mock

import ddt
from keystoneauth1 import exceptions as ks_exceptions
from oslo_config import cfg
from oslo_db import exception as db_exception
from oslotest import base
import sqlalchemy.exc

from nova_xcell import exception
from nova_xcell import releases
from nova_xcell.cmd import configuration
from nova_xcell.cmd import described
from nova_xcell.cmd import exits
from nova_xcell.cmd import manage
from nova_xcell.cmd import messages
from nova_xcell.cmd import placement
from nova_xcell.cmd import status

COMMANDS = (
    'cross-cell audit',
    'cross-cell heal',
    'placement migrate_compute_inventory',
    'rebuild audit',
    'rebuild heal',
    'reshape apply',
    'reshape plan',
    'reshape undo',
)


class NoDatabase(exception.XcellError):
    msg_fmt = 'no database: %(reason)s; look for it'


def run(main, *words):
    """Return exit code, output and errors of a command."""
    output, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            code = main(list(words))
        except SystemExit as exc:
            code = exc.code or 0
    return code, output.getvalue(), errors.getvalue()


@ddt.ddt
class TestHelp(base.BaseTestCase):
    def test_all_commands_are_here(self):
        found = manage.Commands(manage.NAMESPACE).commands
        self.assertEqual(list(COMMANDS), sorted(found))

    @ddt.data(*COMMANDS)
    def test_examples_and_exit_codes(self, name):
        code, output, errors = run(manage.main, 'help', *name.split())
        self.assertEqual((0, ''), (code, errors))
        self.assertIn('\n  %s %s' % (described.PROGRAM, name), output)
        for number in exits.Exit:
            self.assertIn('\n  %-4d ' % number, output)

    @ddt.data(*COMMANDS)
    def test_examples_are_understood(self, name):
        application = manage.Manage()
        application.options = application.parser.parse_args([])
        factory, _, _ = application.command_manager.find_command(name.split())
        command = factory(application, None)
        self.assertTrue(command.examples)
        for example in command.examples:
            self.assertTrue(example.startswith(name), example)
            parser = command.get_parser(name)
            parser.error = self.fail
            parser.parse_args(shlex.split(example)[len(name.split()) :])

    def test_of_the_program(self):
        code, output, errors = run(manage.main, '--help')
        self.assertEqual((0, ''), (code, errors))
        self.assertIn('Examples:\n', output)
        for name in COMMANDS:
            self.assertIn('  %s  ' % name, output)

    @ddt.data('heal', 'apply', 'undo', 'migrate_compute_inventory')
    def test_what_changes_something_has_a_dry_run(self, word):
        for name in COMMANDS:
            if name.endswith(word):
                _, output, _ = run(manage.main, 'help', *name.split())
                self.assertIn('--dry-run', output)

    def test_completion(self):
        code, output, _ = run(manage.main, 'complete')
        self.assertEqual(0, code)
        self.assertIn(
            'complete -F _nova_xcell_manage nova-xcell-manage', output
        )
        self.assertIn(
            "cmds='complete cross-cell help placement rebuild reshape'", output
        )
        self.assertRegex(
            output,
            "cmds_placement_migrate_compute_inventory='.*--placement-config-"
            "file'",
        )


class TestUsage(base.BaseTestCase):
    def refused(self, *words):
        code, output, errors = run(manage.main, *words)
        self.assertEqual((exits.Exit.USAGE, ''), (code, output))
        return errors.splitlines()[-1]

    def test_no_command(self):
        self.assertIn('name a command', self.refused())

    def test_unknown_command(self):
        """It is said before the configuration is read."""
        line = self.refused('cross-cell', 'adit')
        self.assertIn("'cross-cell adit' is not a command", line)
        self.assertIn('cross-cell audit', line)

    def test_unknown_option(self):
        self.assertIn('--bogus', self.refused('--bogus', 'rebuild', 'audit'))


@ddt.ddt
class TestErrors(base.BaseTestCase):
    def fails(self, error, *words):
        with mock.patch.object(configuration, 'read', side_effect=error):
            code, output, errors = run(manage.main, *words, 'rebuild', 'audit')
        self.assertEqual('', output)
        return code, errors

    @ddt.data(
        (
            cfg.ConfigFilesNotFoundError(['/etc/nova/nova.conf']),
            'the configuration is not valid: Failed to find some config '
            'files: /etc/nova/nova.conf',
        ),
        (
            cfg.ConfigFilesPermissionDeniedError(['nova.conf']),
            'the configuration is not valid: Failed to open some config '
            'files: nova.conf',
        ),
        (
            exception.UnsupportedHost(
                distribution='nova', version='35.0.0', supported='34'
            ),
            None,
        ),
        (
            NoDatabase(
                reason='gone\n(Background on this error at: https://x/e)'
            ),
            'no database: gone; look for it',
        ),
        (
            PermissionError(13, 'Permission denied', 'nova.log'),
            "[Errno 13] Permission denied: 'nova.log'",
        ),
        (
            db_exception.DBConnectionError(
                'no answer\n(Background on this error at: https://x/e)'
            ),
            'the database cannot be reached: no answer',
        ),
        (
            db_exception.DBError('Access denied\n[SQL: SELECT 1]'),
            'the database refuses: Access denied',
        ),
        (
            sqlalchemy.exc.OperationalError('SELECT', {}, Exception('gone')),
            'the database cannot be used: (builtins.Exception) gone',
        ),
        (
            ks_exceptions.ConnectFailure('no route'),
            'a service cannot be asked: no route',
        ),
        (
            ks_exceptions.MissingAuthPlugin('no plugin'),
            'no plugin; how to log in to a service is missing in the '
            'configuration, see auth_type in [placement], [cinder] and '
            '[neutron]',
        ),
        (
            KeyError('x'),
            "KeyError: 'x' (this was not expected; --debug shows where)",
        ),
    )
    @ddt.unpack
    def test_one_line(self, error, expected):
        code, errors = self.fails(error)
        self.assertEqual(exits.Exit.FAILED, code)
        self.assertEqual(
            'nova-xcell-manage: %s\n' % (expected or error), errors
        )

    def test_traceback_if_asked_for(self):
        code, errors = self.fails(KeyError('x'), '--debug')
        self.assertEqual(exits.Exit.FAILED, code)
        self.assertEqual(1, errors.count('Traceback'))

    @ddt.data((), ('--debug',))
    def test_no_password(self, words):
        error = db_exception.DBError(
            'cannot use mysql+pymysql://nova:s3c:r/e@t@db/nova?charset=utf8'
        )
        _, errors = self.fails(error, *words)
        self.assertNotIn('s3c', errors)
        self.assertNotIn('e@t', errors)
        self.assertIn('mysql+pymysql://nova:***@db/nova?charset=utf8', errors)

    def test_other_secrets(self):
        self.assertEqual(
            "{'password': '***'}", messages.line("{'password': 's3cret'}")
        )
        self.assertEqual(
            'rabbit://a:***@d:5672/',
            messages.masked('rabbit://a:s3cret@b:5672,c:s3cret@d:5672/'),
        )

    def test_connection_that_is_no_url(self):
        """What SQLAlchemy says of it may tell a part of the password."""
        conf = cfg.ConfigOpts()
        conf.register_opt(cfg.StrOpt('connection'), 'api_database')
        configuration.check_connection(conf, 'api_database')
        for url in ('sqlite://', 'mysql://nova:s3%2Fcret@db/nova'):
            conf.set_override('connection', url, 'api_database')
            configuration.check_connection(conf, 'api_database')
        for url in (
            'mysql://nova:a@b:s3cret@db/nova',
            'mysql://nova:a@s3cret@db/nova',
            'mysql://nova:a@s3cret/b@db/nova',
            's3cret',
        ):
            conf.set_override('connection', url, 'api_database')
            error = self.assertRaises(
                configuration.InvalidConnection,
                configuration.check_connection,
                conf,
                'api_database',
            )
            self.assertIn('[api_database] connection', str(error))
            self.assertNotIn('s3', str(error))
            self.assertIsNone(error.__context__)

    def test_configuration_that_is_asked_for(self):
        with mock.patch.object(configuration, 'read') as read:
            read.side_effect = exception.XcellError
            run(manage.main, '-v', '--config-file', 'a', 'rebuild', 'audit',
                '--config-dir', 'b', '--config-file', 'c',
                '--log-file', 'd')  # fmt: skip
            run(manage.main, '--debug', 'rebuild', 'audit')
        (first, second) = read.call_args_list
        self.assertEqual(
            ['--config-file', 'a', '--config-file', 'c', '--config-dir', 'b',
             '--log-file', 'd'],
            first.args[1],
        )  # fmt: skip
        self.assertEqual(logging.WARNING, first.args[2])
        self.assertEqual(['--debug'], second.args[1])


@ddt.ddt
class TestHost(base.BaseTestCase):
    @ddt.data(
        ('nova', (1,), 'is not supported'), ('no-nova', (1,), 'not installed')
    )
    @ddt.unpack
    def test_nova(self, distribution, supported, expected):
        """It is said before anything of it is imported."""
        with mock.patch.dict(
            releases.SUPPORTED, nova=(distribution, supported)
        ):
            code, output, errors = run(manage.main, 'rebuild', 'audit')
        self.assertEqual((exits.Exit.FAILED, ''), (code, output))
        self.assertRegex(
            errors, '^nova-xcell-manage: %s .*%s' % (distribution, expected)
        )
        self.assertEqual(1, errors.count('\n'))

    def test_placement(self):
        with mock.patch.dict(
            releases.SUPPORTED, placement=('openstack-placement', (1,))
        ):
            self.assertRaises(
                exception.UnsupportedHost, placement._placement, []
            )


class TestStatus(base.BaseTestCase):
    def test_no_configuration(self):
        code, output, errors = run(
            status.main, '--config-file', '/nowhere/nova.conf',
            'upgrade', 'check', '--json',
        )  # fmt: skip
        self.assertEqual((status.BROKEN_OFF, ''), (code, output))
        self.assertEqual(
            'nova-xcell-status: the configuration is not valid: Failed to '
            'find some config files: /nowhere/nova.conf\n',
            errors,
        )

    def test_help(self):
        code, output, _ = run(status.main, '--help')
        self.assertEqual(0, code)
        self.assertIn(
            'Example: nova-xcell-status --config-file /etc/nova/nova.conf '
            'upgrade check.',
            ' '.join(output.split()),
        )
        self.assertIn('Exit codes:', output)

    def test_lines_of_details(self):
        result = mock.Mock(details='one: 1\ntwo: ' + 'x' * 54 + ' three')
        self.assertEqual(
            'one: 1\ntwo: %s\n  three' % ('x' * 54),
            status.Checks(None)._get_details(result),
        )

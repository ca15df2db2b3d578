# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage`` where something it needs is not there."""

import os
import signal
import subprocess
import sys

from tests.contract import base

#: Nobody listens there.
DOWN = '''
[api_database]
connection = mysql+pymysql://nova:s3cret@127.0.0.1:1/nova_api
max_retries = %(retries)d
retry_interval = %(interval)d
'''
#: A database without tables, and a log that would go to standard output.
EMPTY = '[DEFAULT]\ndebug = true\n[api_database]\nconnection = sqlite://\n'


class TestErrors(base.ProcessTest):
    def start(self, config, *words):
        return subprocess.Popen(
            [
                sys.executable,
                '-m',
                'nova_xcell.cmd.manage',
                '--config-file',
                self.config_file(config),
                *words,
            ],
            env={**os.environ, 'PYTHONWARNINGS': ''},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Whoever is run in the background ignores it, and all below.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run_command(self, config, *words, code=1):
        """Return what it says of errors."""
        process = self.start(config, *words)
        output, errors = process.communicate(timeout=120)
        self.assertEqual((code, ''), (process.returncode, output), errors)
        return errors

    def test_no_connection(self):
        errors = self.run_command('[DEFAULT]\n', 'cross-cell', 'audit')
        self.assertRegex(
            errors, r'^nova-xcell-manage: .*\[api_database\] connection.*\n$'
        )

    def test_database_is_down(self):
        config = DOWN % {'retries': 1, 'interval': 0}
        errors = self.run_command(config, 'cross-cell', 'audit', '-f', 'json')
        self.assertRegex(
            errors,
            '^nova-xcell-manage: the database cannot be reached: .*127.0.0.1'
            '.*\n$',
        )
        errors = self.run_command(config, '--debug', 'cross-cell', 'audit')
        self.assertIn('Traceback', errors)
        self.assertNotIn('s3cret', errors)

    def test_database_without_tables(self):
        errors = self.run_command(EMPTY, 'cross-cell', 'heal', '--dry-run')
        self.assertRegex(
            errors,
            '^nova-xcell-manage: the database is not one of Nova, .*\n$',
        )

    def test_service_that_does_not_answer(self):
        (self.folder / 'rules.yaml').write_text(
            'version: 1\nrules:\n'
            '- rename: {resource_class: CUSTOM_A, to: CUSTOM_B}\n'
        )
        errors = self.run_command(
            '[placement]\nauth_type = none\nendpoint_override = '
            'http://nova:s3cret@127.0.0.1:1\n',
            'reshape', 'plan', '--all', '--rules',
            str(self.folder / 'rules.yaml'),
        )  # fmt: skip
        self.assertRegex(errors, '^nova-xcell-manage: .*127.0.0.1.*\n$')
        self.assertNotIn('s3cret', errors)

    def test_interrupted(self):
        """With -v it says that it is waiting for the database."""
        config = DOWN % {'retries': 50, 'interval': 10}
        process = self.start(config, '-v', 'cross-cell', 'audit', '-f', 'json')
        self.addCleanup(process.kill)
        self.assertIn('attempts left', process.stderr.readline())
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual((130, '[]\n'), (process.returncode, output), errors)
        self.assertNotIn('Traceback', errors)

    def test_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.run(
            [sys.executable, '-m', 'nova_xcell.cmd.manage', 'complete'],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
        os.close(writer)
        self.assertEqual((141, ''), (process.returncode, process.stderr))

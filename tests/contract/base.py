# SPDX-License-Identifier: Apache-2.0
"""Processes of the host, started the way a service starts."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

#: What every service of Nova does first, and then prints something.
PARSE = '''
import sys
from nova import config
config.parse_args(['nova-test'] + sys.argv[1:], configure_db=False,
                  init_rpc=False)
from nova_xcell import loader
'''

ENABLED = '''
[DEFAULT]
config_source = xcell
[xcell]
driver = nova_xcell
'''


class ProcessTest(unittest.TestCase):
    """Runs code in a process that was given a nova.conf."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )

    def config_file(self, text: str) -> str:
        path = self.folder / 'nova.conf'
        path.write_text(text)
        return str(path)

    def run_python(
        self,
        code: str,
        *arguments: str,
        path: str = '',
    ) -> subprocess.CompletedProcess:
        """Run code in a fresh interpreter.

        :param code: the program
        :param arguments: its arguments
        :param path: a folder in front of the module path
        """
        environ = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(('OS_', 'NOVA_'))
        }
        environ.update(
            OS_NOVA_DISABLE_EVENTLET_PATCHING='true',
            PYTHONWARNINGS='ignore',
            PYTHONPATH=path,
        )
        return subprocess.run(
            [sys.executable, '-c', code, *arguments],
            env=environ,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def run_service(
        self,
        config: str,
        code: str = '',
        path: str = '',
    ) -> subprocess.CompletedProcess:
        """Parse a configuration as a service does, then run code.

        :param config: contents of nova.conf
        :param code: what to do afterwards
        :param path: a folder in front of the module path
        """
        return self.run_python(
            PARSE + code, '--config-file', self.config_file(config), path=path
        )

    def output_of(self, config: str, code: str) -> str:
        """Like :meth:`run_service`, which has to go well.

        :returns: what was printed
        """
        process = self.run_service(config, code)
        self.assertEqual(0, process.returncode, process.stderr)
        return process.stdout.strip()

    def assert_refused(self, process: subprocess.CompletedProcess, *words):
        """The process ended with one line that says what is wrong.

        What the host says of its concurrency mode may stand before it.
        """
        self.assertEqual(1, process.returncode, process.stderr)
        self.assertNotIn('Traceback', process.stderr)
        *others, line = process.stderr.splitlines()
        self.assertTrue(line.startswith('nova-xcell: '), process.stderr)
        self.assertNotIn('nova-xcell', '\n'.join(others))
        for word in words:
            self.assertIn(word, line)

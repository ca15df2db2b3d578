# SPDX-License-Identifier: Apache-2.0
"""The built wheel in an environment of its own beside the host.

The environment has the wheel and, after it, the packages of the one that runs
the tests, whatever release of the host that has. The checkout is not in it.
"""

import pathlib
import shutil
import sysconfig
import tempfile
import unittest

from tests.packaging import artifacts

SERVICE = '''
[DEFAULT]
config_source = xcell
[xcell]
driver = nova_xcell
'''

#: Loads every entry point but those that are for other host releases.
LOAD = '''
import importlib.metadata
# As a service does: eventlet, or not, before anything else.
import nova.monkey_patch
from nova_xcell import releases
from nova_xcell import seams

wanted, others = set(), set()
for seam in seams.SEAMS:
    here = seam.is_in(seam.project, releases.installed(seam.project))
    (wanted if here else others).add(seam.plugin)
for point in importlib.metadata.distribution('nova-xcell').entry_points:
    if (point.group, point.name) not in others - wanted:
        point.load()
        print(point.group, point.name)
'''

RUN = '''
import importlib.metadata
import sys
name = sys.argv[0] = sys.argv.pop(1)
(point,) = importlib.metadata.entry_points(group='console_scripts', name=name)
sys.exit(point.load()())
'''

HELP = '''
from nova_xcell.cmd import manage
for name in manage.Manage().command_manager.commands:
    assert manage.main(['help', *name.split()]) == 0, name
    print('helped with', name)
'''

DECLARED = '''
from nova_xcell import conf
from nova_xcell import policies
for _group, options in conf.list_opts():
    for option in options:
        print('#%s = ' % option.dest)
for rule in policies.list_rules():
    print('#"%s": ' % rule.name)
'''


class TestWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.built = artifacts.make()
        # Not below the checkout, and with nothing in it.
        cls.folder = pathlib.Path(
            cls.enterClassContext(tempfile.TemporaryDirectory())
        )
        cls.venv = cls.folder / 'venv'
        cls.python = cls.venv / 'bin' / 'python'
        artifacts.run_in(cls.folder, '-m', 'venv', '--without-pip', cls.venv)
        artifacts.run_in(
            cls.folder, '-m', 'pip', '-q', '--python', cls.python,
            'install', '--no-deps', '--no-index', cls.built.wheel,
        )  # fmt: skip
        (packages,) = cls.venv.glob('lib/*/site-packages')
        # Of a folder that is named in such a file, these files are not read:
        # an editable installation of the checkout is not followed.
        (packages / 'beside.pth').write_text(
            '%s\n' % sysconfig.get_path('purelib')
        )

    def run_python(self, *arguments, folder=None, code=0):
        return artifacts.run_in(
            folder or self.folder,
            *arguments,
            python=self.python,
            code=code,
            PYTHONPATH='',
            PYTHONWARNINGS='ignore',
            OS_NOVA_DISABLE_EVENTLET_PATCHING='true',
        )

    def run_command(self, name, *arguments, code=0):
        return self.run_python(self.venv / 'bin' / name, *arguments, code=code)

    def place(self, folder=None):
        return self.run_python(
            '-c', 'import nova_xcell; print(nova_xcell.__file__)',
            folder=folder,
        )  # fmt: skip

    def test_it_is_what_is_imported(self):
        self.assertTrue(self.place().startswith(str(self.venv)))
        version = self.run_python(
            '-c',
            'import importlib.metadata as m; print(m.version("nova-xcell"))',
        )
        self.assertEqual(artifacts.VERSION, version.strip())

    def test_every_entry_point_loads(self):
        loaded = self.run_python('-c', LOAD).splitlines()
        groups = {line.split()[0] for line in loaded}
        for group in (
            'console_scripts', 'nova.api.extra_spec_validators',
            'nova_xcell.manage', 'nova_xcell.placement', 'nova_xcell.virt',
            'oslo.config.driver',
        ):  # fmt: skip
            self.assertIn(group, groups)
        self.assertIn('nova_xcell.virt libvirt', loaded)

    def test_status(self):
        self.assertIn(
            'usage: nova-xcell-status',
            self.run_command('nova-xcell-status', '--help'),
        )
        config = self.folder / 'nova.conf'
        config.write_text(SERVICE)
        said = self.run_command(
            'nova-xcell-status', '--config-file', config, 'upgrade', 'check'
        )
        self.assertEqual(5, said.count('Result: Success'))

    def test_manage(self):
        self.assertIn(
            'reshape plan', self.run_command('nova-xcell-manage', '--help')
        )
        helped = self.run_python('-c', HELP)
        for name in ('cross-cell heal', 'rebuild audit', 'reshape undo',
                     'placement migrate_compute_inventory'):  # fmt: skip
            self.assertIn('helped with %s\n' % name, helped)

    def test_samples_have_every_option_and_every_rule(self):
        sample = ''.join(
            self.run_python('-c', RUN, generator, '--namespace', 'nova_xcell')
            for generator in ('oslo-config-generator',
                              'oslopolicy-sample-generator')
        )  # fmt: skip
        declared = self.run_python('-c', DECLARED).splitlines()
        self.assertIn('#features = ', declared)
        self.assertIn('#"compute:servers:resize:cross_cell": ', declared)
        for line in declared:
            self.assertIn('\n%s' % line, '\n%s' % sample)

    def test_unit_tests_are_found_and_test_what_is_installed(self):
        """Where Python finds no other nova_xcell than the installed one."""
        folder = self.folder / 'tests-only'
        folder.mkdir()
        shutil.copy(self.built.unpacked / '.stestr.conf', folder)
        shutil.copytree(self.built.unpacked / 'tests', folder / 'tests')
        self.assertTrue(self.place(folder).startswith(str(self.venv)))
        self.run_python('-m', 'stestr', 'init', folder=folder)
        listed = self.run_python('-m', 'stestr', 'list', folder=folder)
        names = listed.splitlines()
        self.assertGreater(len(names), 400)
        self.assertNotIn('_FailedTest', listed)
        for path in (folder / 'tests' / 'unit').glob('test_*.py'):
            prefix = 'tests.unit.%s.' % path.stem
            self.assertTrue(
                any(name.startswith(prefix) for name in names), prefix
            )
        passed = self.run_python(
            '-m', 'stestr', 'run', '--serial', r'unit\.test_(conf|source)',
            folder=folder,
        )  # fmt: skip
        self.assertIn(' - Failed: 0\n', passed)

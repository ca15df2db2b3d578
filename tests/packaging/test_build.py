# SPDX-License-Identifier: Apache-2.0
"""sdist, wheel and ``setup.py install`` without git and without a network."""

import pathlib
import tempfile
import unittest
import zipfile

from tests.packaging import artifacts
from tests.packaging.artifacts import VERSION
from tests.packaging.tree import ROOT


class TestBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        built = artifacts.make()
        cls.unpacked = built.unpacked
        with zipfile.ZipFile(built.wheel) as archive:
            cls.names = archive.namelist()
            (metadata,) = (
                name for name in cls.names if name.endswith('/METADATA')
            )
            cls.metadata = archive.read(metadata).decode().splitlines()

    def modules(self):
        return {
            str(path.relative_to(ROOT))
            for path in (ROOT / 'nova_xcell').rglob('*.py')
        }

    def test_wheel_has_every_module_and_nothing_else(self):
        """No test, and above all nothing below the host's packages."""
        self.assertEqual(
            self.modules(),
            {name for name in self.names if '.dist-info/' not in name},
        )

    def test_every_folder_of_the_package_is_a_package(self):
        for path in (ROOT / 'nova_xcell').rglob('*.py'):
            self.assertTrue((path.parent / '__init__.py').exists(), path)

    def test_wheel_has_the_license(self):
        self.assertTrue(
            [name for name in self.names if name.endswith('/LICENSE')]
        )
        self.assertTrue(
            any(
                line in ('License: Apache-2.0', 'License-Expression: '
                         'Apache-2.0')
                for line in self.metadata
            )
        )  # fmt: skip

    def test_version_comes_from_the_environment(self):
        self.assertIn('Version: %s' % VERSION, self.metadata)

    def test_host_is_an_extra(self):
        required = [
            line.partition(': ')[2]
            for line in self.metadata
            if line.startswith('Requires-Dist: ')
        ]
        host = [
            line for line in required
            if line.startswith(('nova', 'openstack-placement'))
        ]  # fmt: skip
        self.assertEqual(2, len(host))
        for line in host:
            self.assertIn('extra ==', line)
        for name in ('stevedore', 'oslo.config', 'oslo.policy',
                     'oslo.versionedobjects', 'oslo.log', 'os-traits',
                     'os-resource-classes', 'wrapt', 'cliff',
                     'oslo.upgradecheck'):  # fmt: skip
            (line,) = (
                line
                for line in required
                if line.replace('_', '-').startswith(name)
            )
            self.assertNotIn('extra ==', line)

    def test_sdist_has_what_a_distribution_tests_and_documents_with(self):
        for name in (
            '.stestr.conf', 'LICENSE', 'README.rst', 'bindep.txt',
            'constraints/nova34.txt', 'doc/source/conf.py',
            'releasenotes/notes', 'test-requirements.txt',
            'tests/unit/test_loader.py', 'tools/run', 'tox.ini',
        ):  # fmt: skip
            self.assertTrue((self.unpacked / name).exists(), name)

    def test_setup_py_install(self):
        with tempfile.TemporaryDirectory() as root:
            artifacts.run_in(
                self.unpacked, 'setup.py', '-q', 'install', '--root', root,
                '--single-version-externally-managed',
            )  # fmt: skip
            installed = {
                str(path).rpartition('-packages/')[2]
                for path in pathlib.Path(root).rglob('nova_xcell/**/*.py')
            }
        self.assertEqual(self.modules(), installed)

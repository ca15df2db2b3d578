# SPDX-License-Identifier: Apache-2.0
"""sdist, wheel and ``setup.py install`` without git and without a network."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = '9.8.7'


class TestBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pathlib.Path(
            cls.enterClassContext(tempfile.TemporaryDirectory())
        )
        cls.tree = folder / 'tree'
        shutil.copytree(
            ROOT,
            cls.tree,
            ignore=shutil.ignore_patterns(
                '.git', '.venvs', '.tox', '.stestr', '.hypothesis',
                '.ruff_cache', '*.egg-info', 'build', 'dist', '__pycache__',
            ),
        )  # fmt: skip
        cls.run_in(cls.tree, 'setup.py', '-q', 'sdist', '-d', str(folder))
        (tarball,) = folder.glob('*.tar.gz')
        with tarfile.open(tarball) as archive:
            archive.extractall(folder, filter='data')
        cls.unpacked = folder / tarball.name.removesuffix('.tar.gz')
        cls.run_in(
            cls.unpacked, '-m', 'pip', 'wheel', '-q', '--no-deps',
            '--no-build-isolation', '--no-index', '-w', str(folder), '.',
        )  # fmt: skip
        (cls.wheel,) = folder.glob('*.whl')
        with zipfile.ZipFile(cls.wheel) as archive:
            cls.names = archive.namelist()
            (metadata,) = (
                name for name in cls.names if name.endswith('/METADATA')
            )
            cls.metadata = archive.read(metadata).decode().splitlines()

    @classmethod
    def run_in(cls, folder, *arguments):
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, 'PBR_VERSION': VERSION},
            capture_output=True,
            text=True,
        )
        if process.returncode:
            raise AssertionError(process.stdout + process.stderr)
        return process.stdout

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
            self.run_in(
                self.unpacked, 'setup.py', '-q', 'install', '--root', root,
                '--single-version-externally-managed',
            )  # fmt: skip
            installed = {
                str(path).rpartition('-packages/')[2]
                for path in pathlib.Path(root).rglob('nova_xcell/**/*.py')
            }
        self.assertEqual(self.modules(), installed)

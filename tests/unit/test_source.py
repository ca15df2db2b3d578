# SPDX-License-Identifier: Apache-2.0
"""The switch: when it arms, and that it fails closed."""

import subprocess
import sys
import unittest
from unittest import mock

from oslo_config import cfg
from oslo_config import sources

from nova_xcell import exception
from nova_xcell import source


class TestDriver(unittest.TestCase):
    def setUp(self):
        self.arm = self.enterContext(
            mock.patch('nova_xcell.loader.arm', autospec=True)
        )

    def open(self, conf, project):
        conf.project = project
        return source.XcellSourceDriver().open_source_from_opt_group(
            conf, 'xcell'
        )

    def test_bare_configuration_does_not_arm(self):
        """Nova parses one before it decides on monkey patching."""
        for project in (None, 'nova'):
            self.open(cfg.ConfigOpts(), project)
        self.arm.assert_not_called()

    def test_other_projects_do_not_arm(self):
        with mock.patch.object(cfg.CONF, 'project', 'cinder', create=True):
            self.open(cfg.CONF, 'cinder')
        self.arm.assert_not_called()

    def test_nova(self):
        with mock.patch.object(cfg.CONF, 'project', 'nova', create=True):
            self.open(cfg.CONF, 'nova')
        self.arm.assert_called_once_with(cfg.CONF, 'nova')

    def test_placement(self):
        conf = cfg.ConfigOpts()
        self.open(conf, 'placement')
        self.arm.assert_called_once_with(conf, 'placement')

    def test_errors_end_the_service_with_one_line(self):
        for error in (
            exception.UnknownFeature(name='x', known='y'),
            ImportError('no module named z\nwith more lines'),
            ValueError(),
        ):
            self.arm.side_effect = error
            with self.assertRaisesRegex(SystemExit, r'\Anova-xcell: .+\Z'):
                self.open(cfg.ConfigOpts(), 'placement')

    def test_gives_no_values(self):
        value, location = self.open(cfg.ConfigOpts(), None).get(
            'DEFAULT', 'debug', cfg.BoolOpt('debug')
        )
        self.assertIs(sources._NoValue, value)

    def test_is_light(self):
        """Imported before monkey patching: oslo.config and the stdlib."""
        code = (
            'import sys, oslo_config.cfg, oslo_config.sources; '
            'before = set(sys.modules); '
            'import nova_xcell.source; '
            'print(" ".join(sorted(set(sys.modules) - before)))'
        )
        output = subprocess.run(
            [sys.executable, '-c', code],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        self.assertEqual(['nova_xcell', 'nova_xcell.source'], output)

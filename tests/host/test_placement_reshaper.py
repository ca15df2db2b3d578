# SPDX-License-Identifier: Apache-2.0
"""Placement's own tests of POST /reshaper, with our handler (RP-04)."""

import os
import unittest

from oslo_config import cfg

from nova_xcell import loader
from tests import switch
from tests.host import gabbi_files

#: Of Placement.
FILES = (
    'reshaper',
    'reshaper-legacy-rbac',
    'reshaper-policy',
    'reshaper-secure-rbac',
)


class TestReshaper(unittest.TestCase):
    """The handler is armed as Placement's service does it."""

    def setUp(self):
        super().setUp()
        # Placement's fixture of policies parses the one that Nova has.
        self.addCleanup(cfg.CONF.reset)
        if not os.environ.get(switch.PLAIN):
            conf = cfg.ConfigOpts()
            conf([], project='placement', default_config_files=[])
            self.addCleanup(loader.disarm, 'placement')

    def test_plugin_is_loaded(self):
        self.assertIn('reshape-handler', loader.armed())

    def test_these_are_all_files(self):
        self.assertEqual(sorted(FILES), gabbi_files.names('reshaper'))

    def run_file(self, name):
        count = 0
        with gabbi_files.run(name) as tests:
            for test, run in tests:
                with self.subTest(test):
                    run()
                count += 1
        self.assertGreater(count, 0)

    def test_reshaper(self):
        self.run_file('reshaper')

    def test_legacy_rbac(self):
        self.run_file('reshaper-legacy-rbac')

    def test_policy(self):
        self.run_file('reshaper-policy')

    def test_secure_rbac(self):
        self.run_file('reshaper-secure-rbac')

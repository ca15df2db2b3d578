# SPDX-License-Identifier: Apache-2.0
"""Bad input in [xcell] is refused by name."""

import os
import tempfile
import unittest
from unittest import mock

import ddt
from oslo_config import cfg

from nova_xcell import conf as xcell_conf
from nova_xcell import exception


@ddt.ddt
class TestValidate(unittest.TestCase):
    def parse(self, text='', environ=None, directory=False):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = os.path.join(folder, 'nova.conf')
        with open(path, 'w') as out:
            out.write('[DEFAULT]\n[xcell]\ndriver = nova_xcell\n' + text)
        with mock.patch.dict(os.environ, environ or {}):
            conf = cfg.ConfigOpts()
            xcell_conf.register_opts(conf)
            conf(
                ['--config-dir', folder]
                if directory
                else ['--config-file', path],
                project='test',
            )
            xcell_conf.validate(conf)
            return conf

    def test_defaults(self):
        conf = self.parse()
        self.assertEqual(['all'], conf.xcell.features)
        self.assertEqual([], conf.xcell.cell_weights)

    @ddt.data('featurs = all', 'cell-weight = a:1')
    def test_misspelt_option(self, line):
        name = line.split()[0]
        with self.assertRaisesRegex(
            exception.UnknownOption, '%r.*nova.conf.*features' % name
        ):
            self.parse(line)

    def test_misspelt_option_in_a_config_dir(self):
        with self.assertRaisesRegex(exception.UnknownOption, 'featurs'):
            self.parse('featurs = all', directory=True)

    def test_misspelt_option_in_the_environment(self):
        with self.assertRaisesRegex(
            exception.UnknownOption, 'OS_XCELL__FEATURS'
        ):
            self.parse(environ={'OS_XCELL__FEATURS': 'all'})

    def test_right_option_in_the_environment(self):
        conf = self.parse(environ={'OS_XCELL__FEATURES': ''})
        self.assertEqual([], conf.xcell.features)

    def test_unknown_feature(self):
        with self.assertRaisesRegex(exception.UnknownFeature, 'teleport'):
            self.parse('features = teleport')

    def test_malformed_cell_weights(self):
        with self.assertRaisesRegex(exception.InvalidCellWeight, 'a:heavy'):
            self.parse('cell_weights = a:heavy')

    @ddt.data('prep_settle_timeout = soon', 'prep_settle_timeout = -1')
    def test_value_of_the_wrong_type(self, line):
        with self.assertRaisesRegex(
            exception.InvalidOption, 'prep_settle_timeout'
        ) as caught:
            self.parse(line)
        self.assertNotIn('LocationInfo', str(caught.exception))

    def test_options_are_listed_for_the_generator(self):
        ((group, opts),) = xcell_conf.list_opts()
        self.assertEqual('xcell', group.name)
        self.assertEqual(
            {
                'abandoned_after',
                'cell_weights',
                'confirm_at_source_timeout',
                'features',
                'finish_at_dest_timeout',
                'finish_revert_at_source_timeout',
                'prep_at_dest_timeout',
                'prep_at_source_timeout',
                'prep_settle_timeout',
                'reconcile_interval',
                'reshape_rules',
                'reshape_undo_dir',
                'revert_at_dest_timeout',
                'settle_timeout',
                'timeout_per_gb',
            },
            {opt.name for opt in opts},
        )
        for opt in opts:
            self.assertIn('Possible values', opt.help)

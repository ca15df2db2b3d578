# SPDX-License-Identifier: Apache-2.0
"""Arming and disarming, on a made-up host."""

import importlib
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

from oslo_config import cfg

from nova_xcell import conf as xcell_conf
from nova_xcell import exception
from nova_xcell import features
from nova_xcell import loader
from nova_xcell import seams

HOST = '''
class Thing:
    def work(self, context, *, force=False):
        return 'host'

MANAGERS = {'service': 'host.Manager'}
'''

#: All features that have a part in Nova.
NOVA = features.with_part_in(tuple(features.FEATURES), 'nova')


class TestLoader(unittest.TestCase):
    def setUp(self):
        self.plugins = {'thing': object(), 'manager': 'ours.Manager'}
        for target in (
            mock.patch.object(
                loader,
                '_load_plugin',
                autospec=True,
                side_effect=lambda namespace, name: self.plugins[name],
            ),
            mock.patch(
                'nova_xcell.releases.installed',
                autospec=True,
                side_effect={'nova': 34, 'placement': 16}.__getitem__,
            ),
        ):
            self.enterContext(target)
        self.addCleanup(loader.disarm)
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        # Import hooks stay, so that each test has a host of its own name.
        self.name = 'xcell_host_%s' % self.id().rsplit('.', 1)[1]
        (self.folder / ('%s.py' % self.name)).write_text(HOST)
        self.addCleanup(sys.modules.pop, self.name, None)
        self.table(
            seams.Seam(
                self.name, 'Thing', seams.REPLACED, plugin=('ns', 'thing')
            ),
            seams.Seam(
                self.name,
                'Thing.work',
                seams.OVERRIDDEN,
                '(self, context, *, force=False)',
            ),
            seams.Seam(
                self.name,
                'MANAGERS',
                seams.REPLACED,
                item='service',
                plugin=('ns', 'manager'),
            ),
        )

    def table(self, *table):
        self.enterContext(mock.patch.object(seams, 'SEAMS', table))

    def host(self) -> types.ModuleType:
        return importlib.import_module(self.name)

    def arm(self, *names, project='nova'):
        conf = cfg.ConfigOpts()
        xcell_conf.register_opts(conf)
        conf([], project='test')
        conf.set_override('features', list(names), group='xcell')
        return loader.arm(conf, project)

    def assert_plain(self):
        host = self.host()
        self.assertIsInstance(host.Thing, type)
        self.assertEqual({'service': 'host.Manager'}, host.MANAGERS)
        self.assertEqual((), loader.armed())
        self.assertEqual((), loader.installed())

    def assert_ours(self):
        host = self.host()
        self.assertIs(self.plugins['thing'], host.Thing)
        self.assertEqual({'service': 'ours.Manager'}, host.MANAGERS)
        self.assertEqual(NOVA, loader.armed())

    def test_host_module_imported_after(self):
        self.assertEqual(NOVA, self.arm('all'))
        self.assertNotIn(self.name, sys.modules)
        self.assert_ours()

    def test_host_module_imported_before(self):
        self.host()
        self.arm('all')
        self.assert_ours()

    def test_twice(self):
        self.arm('all')
        self.arm('all')
        self.assert_ours()
        loader.disarm()
        self.assert_plain()
        loader.disarm()
        self.assert_plain()

    def test_again_after_disarming(self):
        self.arm('all')
        loader.disarm()
        self.arm('all')
        self.assert_ours()

    def test_two_features_extend_one_class(self):
        class First:
            def work(self, *args, **kwargs):
                return 'first, ' + super().work(*args, **kwargs)

        class Second:
            def work(self, *args, **kwargs):
                return 'second, ' + super().work(*args, **kwargs)

        self.plugins.update(first=First, second=Second)
        self.table(
            *(
                seams.Seam(
                    self.name, 'Thing', seams.EXTENDED, plugin=('ns', name)
                )
                for name in ('first', 'second')
            )
        )
        original = self.host().Thing
        self.arm('all')
        ours = self.host().Thing
        self.assertEqual('second, first, host', ours().work(None))
        self.assertEqual('Thing', ours.__name__)
        loader.disarm()
        self.assertIs(original, self.host().Thing)

    def test_feature_switched_off(self):
        self.arm()
        self.assert_plain()

    def test_feature_switched_off_later(self):
        self.arm('all')
        self.assert_ours()
        self.arm()
        self.assert_plain()

    def test_disarmed_before_the_import(self):
        self.arm('all')
        loader.disarm()
        self.assert_plain()

    def test_changed_seam_that_is_imported(self):
        self.host().Thing.work = lambda self, context: None
        with self.assertRaisesRegex(
            exception.SeamChanged,
            r'Thing.work.*expected \(self, context, \*, force=False\), '
            r'found \(self, context\)',
        ):
            self.arm('all')
        self.assert_plain()

    def test_changed_seam_that_is_imported_later(self):
        """Whoever imports it may swallow Exception, so it is SystemExit."""
        (self.folder / ('%s.py' % self.name)).write_text(
            HOST.replace('force=False', 'soft')
        )
        self.arm('all')
        with self.assertRaisesRegex(SystemExit, '^nova-xcell: .*Thing.work'):
            self.host()
        self.assertEqual((), loader.armed())
        self.assertEqual((), loader.installed())
        self.assert_plain()

    def test_missing_attribute(self):
        del self.host().MANAGERS
        with self.assertRaisesRegex(exception.SeamChanged, 'MANAGERS'):
            self.arm('all')
        self.assertEqual((), loader.armed())

    def test_missing_key(self):
        self.host().MANAGERS.clear()
        with self.assertRaisesRegex(
            exception.SeamChanged, r'MANAGERS\[service\]'
        ):
            self.arm('all')

    def test_plugin_that_cannot_be_loaded(self):
        self.host()
        del self.plugins['manager']
        with self.assertRaises(KeyError):
            self.arm('all')
        self.assert_plain()

    def placement(self):
        """Let the table have a seam of a made-up module of Placement."""
        module = types.ModuleType('placement.%s' % self.name)
        module.reshape = lambda: 'host'
        sys.modules[module.__name__] = module
        self.addCleanup(sys.modules.pop, module.__name__)
        self.table(
            *seams.SEAMS,
            seams.Seam(
                module.__name__,
                'reshape',
                seams.REPLACED,
                '()',
                plugin=('ns', 'thing'),
                feature=features.RESHAPE_HANDLER.name,
            ),
        )
        return module

    def test_placement(self):
        placement = self.placement()
        self.assertEqual(
            ('reshape-handler',), self.arm('all', project='placement')
        )
        self.assertIs(self.plugins['thing'], placement.reshape)
        self.assertIsNot(self.plugins['thing'], self.host().Thing)
        loader.disarm('nova')
        self.assertIs(self.plugins['thing'], placement.reshape)
        loader.disarm('placement')
        self.assertEqual('host', placement.reshape())
        self.assert_plain()

    def test_placement_has_no_part_in_a_feature(self):
        self.assertEqual(
            (), self.arm('cross-cell-resize', project='placement')
        )
        self.assert_plain()

    def test_placement_and_nova_in_one_process(self):
        placement = self.placement()
        self.arm('all')
        self.assertEqual('host', placement.reshape())
        self.arm('all', project='placement')
        self.assertEqual((*NOVA, 'reshape-handler'), loader.armed())
        self.arm(project='placement')
        self.assertEqual('host', placement.reshape())
        self.assert_ours()
        self.arm('all', project='placement')
        self.arm()
        self.assertIs(self.plugins['thing'], placement.reshape)
        self.assertEqual(('reshape-handler',), loader.armed())

    def test_bad_option_arms_nothing(self):
        with self.assertRaises(exception.UnknownFeature):
            self.arm('all', 'teleport')
        self.assert_plain()


class TestSignatures(unittest.TestCase):
    def test_sentinel(self):
        """An address is in its spelling, which is another each time."""
        sentinel = object()

        def function(a=sentinel, b=None):
            return a, b

        self.assertEqual(
            '(a=<object>, b=None)', seams.spell_signature(function)
        )

    def test_annotations_do_not_count(self):
        def function(a: int, b: str = 'x', *args, c=None, **kwargs) -> int:
            return 0

        self.assertEqual(
            "(a, b='x', *args, c=None, **kwargs)",
            seams.spell_signature(function),
        )

    def test_decorator_that_leaves_no_trace(self):
        def decorate(function):
            def inner(*args, **kwargs):
                return function(*args, **kwargs)

            return inner

        @decorate
        def function(a, b):
            pass

        self.assertEqual('(a, b)', seams.spell_signature(function))

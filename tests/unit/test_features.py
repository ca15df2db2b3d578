# SPDX-License-Identifier: Apache-2.0

import unittest
from unittest import mock

from nova_xcell import exception
from nova_xcell import features
from nova_xcell import releases


class TestSelect(unittest.TestCase):
    def test_all(self):
        self.assertEqual(tuple(features.FEATURES), features.select(['all']))

    def test_none(self):
        self.assertEqual((), features.select([]))

    def test_by_name(self):
        self.assertEqual(
            ('cross-cell-resize',), features.select(['cross-cell-resize'])
        )

    def test_unknown(self):
        with self.assertRaisesRegex(
            exception.UnknownFeature, "'cross-sell-resize'.*cross-cell-resize"
        ):
            features.select(['all', 'cross-sell-resize'])


class TestReleases(unittest.TestCase):
    def installed(self, version):
        with mock.patch(
            'importlib.metadata.version', autospec=True, return_value=version
        ):
            return releases.installed('nova')

    def test_every_supported_release(self):
        for release in releases.SUPPORTED['nova'][1]:
            self.assertEqual(release, self.installed('%d.1.0' % release))

    def test_development_version_of_a_supported_release(self):
        self.assertEqual(34, self.installed('34.0.1.dev12'))

    def test_too_old_too_new_or_odd(self):
        for version in ('30.2.1', '35.0.0', 'unknown'):
            with self.assertRaisesRegex(
                exception.UnsupportedHost,
                'nova %s is not supported.*31, 32, 33, 34' % version,
            ):
                self.installed(version)

    def test_missing(self):
        with mock.patch.dict(
            releases.SUPPORTED, {'nova': ('no-such-distribution', (1,))}
        ):
            with self.assertRaisesRegex(
                exception.HostNotInstalled, 'no-such-distribution'
            ):
                releases.installed('nova')

    def test_feature_that_a_release_cannot_carry(self):
        feature = features.Feature('new', 'for 34 only', (34,))
        with mock.patch.dict(features.FEATURES, {'new': feature}):
            features.check_release(('new',), 34)
            with self.assertRaisesRegex(
                exception.FeatureNotForRelease, "'new'.*33"
            ):
                features.check_release(('new',), 33)

    def test_part_in_a_host(self):
        parts = {
            project: features.with_part_in(tuple(features.FEATURES), project)
            for project in releases.SUPPORTED
        }
        self.assertEqual(('reshape-handler',), parts['placement'])
        self.assertIn('cross-cell-resize', parts['nova'])
        self.assertNotIn('reshape-handler', parts['nova'])

    def test_release_of_placement_that_cannot_carry_it(self):
        for release in releases.SUPPORTED['placement'][1]:
            features.check_release(('reshape-handler',), release, 'placement')
        with self.assertRaisesRegex(
            exception.FeatureNotForRelease, 'openstack-placement 12'
        ):
            features.check_release(('reshape-handler',), 12, 'placement')

# SPDX-License-Identifier: Apache-2.0
"""What a migration used is kept for later (MF-12)."""

import unittest

from nova_xcell.virt import flag_record
from nova_xcell.virt import migration_flags


class TestRecord(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.flags = migration_flags.Flags(
            auto_converge=migration_flags.Choice(True, 'wished'),
            post_copy=migration_flags.Choice(False, 'paused'),
            parallel=migration_flags.Choice(False, 'not configured'),
        )
        self.events = [
            ('compute_live_migration', None),
            (
                flag_record.FLAGS_EVENT,
                flag_record.of_flags('uuid', self.flags),
            ),
        ]
        self.expected = {
            'auto_converge': True,
            'auto_converge_reason': 'wished',
            'post_copy': False,
            'post_copy_reason': 'paused',
            'parallel': False,
            'parallel_reason': 'not configured',
        }

    def test_flags(self):
        self.assertEqual(self.expected, flag_record.read('uuid', self.events))

    def test_forced(self):
        self.events += [
            (
                flag_record.FORCED_EVENT,
                flag_record.of_forced('uuid', flag_record.NOTHING, 'one'),
            ),
            (
                flag_record.FORCED_EVENT,
                flag_record.of_forced('uuid', flag_record.PAUSED, 'two'),
            ),
        ]
        self.assertEqual(
            {**self.expected, 'forced': 'paused', 'forced_reason': 'two'},
            flag_record.read('uuid', self.events),
        )

    def test_of_another_migration(self):
        self.assertEqual({}, flag_record.read('other', self.events))

    def test_what_cannot_be_read(self):
        for details in (None, '', 'no json', '[]', '3'):
            with self.subTest(details):
                self.assertEqual(
                    {},
                    flag_record.read(
                        'uuid', [(flag_record.FLAGS_EVENT, details)]
                    ),
                )

# SPDX-License-Identifier: Apache-2.0
"""Which fields go back with a server (XC-14)."""

import unittest

from nova_xcell.tasks import revert_fields


class TestChanged(unittest.TestCase):
    def test_only_what_differs(self):
        self.assertEqual(
            {'a': 2},
            revert_fields.changed(
                ('a', 'b'), {'a': 1, 'b': 1, 'c': 1}, {'a': 2, 'b': 1, 'c': 2}
            ),
        )

    def test_nothing_of_the_host_or_the_flavor(self):
        for field in (
            'compute_id',
            'host',
            'hidden',
            'id',
            'instance_type_id',
            'launched_on',
            'memory_mb',
            'node',
            'task_state',
            'vm_state',
        ):
            self.assertNotIn(field, revert_fields.INSTANCE)


class TestSystemMetadata(unittest.TestCase):
    def test_only_what_can_be_changed(self):
        self.assertEqual(
            {'image_os': 'old', 'locked_reason': 'new', 'password_0': 'p'},
            revert_fields.system_metadata(
                {'image_os': 'old', 'locked_reason': 'old', 'password_1': 'x'},
                {
                    'image_os': 'new',
                    'old_vm_state': 'active',
                    'locked_reason': 'new',
                    'password_0': 'p',
                },
            ),
        )

    def test_unlocked(self):
        self.assertEqual(
            {'a': '1'},
            revert_fields.system_metadata(
                {'a': '1', 'locked_reason': 'old'}, {'a': '1'}
            ),
        )

# SPDX-License-Identifier: Apache-2.0
"""What flavors and images wish of live migrations (MF-02, -03, -06, -11)."""

import unittest

import ddt

from nova_xcell.virt import wishes


def flavor(**values):
    return {wishes.EXTRA_SPEC + name: value for name, value in values.items()}


def image(**values):
    return {
        wishes.IMAGE_PROPERTY + name: value for name, value in values.items()
    }


@ddt.ddt
class TestWishes(unittest.TestCase):
    @ddt.data(
        ({}, {}, None, None),
        (flavor(post_copy='true'), {}, None, True),
        (flavor(post_copy='False'), {}, None, False),
        ({}, image(auto_converge='yes'), True, None),
        # A property that came through an object is a boolean already.
        ({}, image(auto_converge=False), False, None),
        (flavor(post_copy='1'), image(post_copy='true'), None, True),
        (flavor(post_copy='no'), image(auto_converge='on'), True, False),
        # Others of the same name space are none of ours.
        ({'compute:live_migration_other': 'maybe'}, {}, None, None),
    )
    @ddt.unpack
    def test_agreed(self, specs, properties, auto_converge, post_copy):
        expected = wishes.Wishes(auto_converge, post_copy)
        self.assertEqual(expected, wishes.validated(specs, properties))
        self.assertEqual(expected, wishes.tolerated(specs, properties))

    @ddt.data(
        (
            flavor(post_copy='maybe'),
            {},
            "Flavor extra spec compute:live_migration_post_copy is 'maybe'; "
            'it has to be true or false.',
            (None, None),
        ),
        (
            {},
            image(auto_converge=''),
            "Image property compute_live_migration_auto_converge is ''; "
            'it has to be true or false.',
            (None, None),
        ),
        (
            flavor(post_copy='true'),
            image(post_copy='false'),
            'Flavor extra spec compute:live_migration_post_copy is True, but '
            'image property compute_live_migration_post_copy is False.',
            (None, True),
        ),
        (
            flavor(auto_converge='true', post_copy='true'),
            {},
            'A live migration can use only one of flavor extra spec '
            'compute:live_migration_auto_converge and flavor extra spec '
            'compute:live_migration_post_copy, and both are true.',
            (True, True),
        ),
        (
            flavor(auto_converge='true'),
            image(post_copy='true'),
            'A live migration can use only one of flavor extra spec '
            'compute:live_migration_auto_converge and image property '
            'compute_live_migration_post_copy, and both are true.',
            (True, True),
        ),
    )
    @ddt.unpack
    def test_refused_but_tolerated(self, specs, properties, reason, anyway):
        error = self.assertRaises(
            wishes.BadWish, wishes.validated, specs, properties
        )
        self.assertEqual(reason, str(error))
        self.assertEqual(
            wishes.Wishes(*anyway), wishes.tolerated(specs, properties)
        )

    def assertRaises(self, expected, function, *args):
        with super().assertRaises(expected) as caught:
            function(*args)
        return caught.exception

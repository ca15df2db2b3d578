# SPDX-License-Identifier: Apache-2.0
"""The table of what keeps a server in its cell (XC-24, XC-26)."""

import unittest

import ddt

from nova_xcell.tasks import obstacles


@ddt.ddt
class TestFind(unittest.TestCase):
    def kinds(self, *may_lose, **facts):
        return [
            obstacle.kind
            for obstacle in obstacles.find(obstacles.Facts(**facts), may_lose)
        ]

    @ddt.data(
        ({'ephemeral_gb': 5}, 'ephemeral'),
        ({'ephemeral_gb': 5, 'root_is_local': False}, 'ephemeral'),
        ({'old_root_gb': 20, 'new_root_gb': 10}, 'disk-shrink'),
        ({'vtpm': True}, 'vtpm'),
        ({'vtpm': True, 'root_is_local': False}, 'vtpm'),
        ({'shares': 2}, 'shares'),
        ({'signed_image': True}, 'signed-image'),
        ({'personality': True, 'config_drive': True}, 'personality'),
    )
    @ddt.unpack
    def test_obstacle(self, facts, kind):
        self.assertEqual([kind], self.kinds(**facts))

    @ddt.data(
        {},
        {'old_root_gb': 10, 'new_root_gb': 20},
        {'old_root_gb': 10, 'new_root_gb': 10},
        # A disk as large as the image: nothing tells that it shrinks.
        {'old_root_gb': 0, 'new_root_gb': 10},
        # A volume keeps its size, and no snapshot is taken of it.
        {'old_root_gb': 20, 'new_root_gb': 0, 'root_is_local': False},
        {'old_root_gb': 20, 'new_root_gb': 10, 'root_is_local': False},
        {'signed_image': True, 'root_is_local': False},
        {'config_drive': True},
        # Then the files were never anywhere but in the guest's own disk.
        {'personality': True},
    )
    def test_no_obstacle(self, facts):
        self.assertEqual([], self.kinds(**facts))

    def test_all_are_listed(self):
        facts = obstacles.Facts(ephemeral_gb=5, vtpm=True, shares=1)
        found = obstacles.find(facts)
        self.assertEqual(3, len(found))
        text = obstacles.summary(found)
        for word in ('ephemeral disks (5 GB)', 'TPM', '1 attached share'):
            self.assertIn(word, text)

    def test_what_may_be_lost(self):
        facts = {
            'ephemeral_gb': 5,
            'personality': True,
            'config_drive': True,
        }
        self.assertEqual(['personality'], self.kinds('ephemeral', **facts))
        self.assertEqual(['ephemeral'], self.kinds('personality', **facts))
        self.assertEqual([], self.kinds('ephemeral', 'personality', **facts))

    def test_the_rest_may_never_be_lost(self):
        self.assertEqual(['vtpm'], self.kinds('vtpm', vtpm=True))


class TestSigned(unittest.TestCase):
    def test_signed(self):
        self.assertTrue(
            obstacles.is_signed({'image_img_signature_hash_method': 'SHA-256'})
        )

    def test_not_signed(self):
        self.assertFalse(obstacles.is_signed({'image_os_type': 'linux'}))


class TestGrant(unittest.TestCase):
    def test_round_trip(self):
        spelled = obstacles.grant('req-1', ['personality', 'ephemeral'])
        self.assertEqual(
            {'ephemeral', 'personality'}, obstacles.granted('req-1', spelled)
        )

    def test_of_another_request(self):
        spelled = obstacles.grant('req-1', ['ephemeral'])
        self.assertEqual(frozenset(), obstacles.granted('req-2', spelled))

    def test_none_or_odd(self):
        for spelled in (None, '', 'req-1', 'req-1 vtpm'):
            self.assertEqual(frozenset(), obstacles.granted('req-1', spelled))

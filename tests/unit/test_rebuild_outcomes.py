# SPDX-License-Identifier: Apache-2.0
"""VR-04, VR-05, VR-07, VR-08, VR-10: what a rebuild decides."""

import pathlib
import re
import unittest

from nova_xcell.rebuild import outcomes
from nova_xcell.rebuild import refusals

DOCUMENT = (
    pathlib.Path(__file__).parents[2]
    / 'doc/source/admin/volume-backed-rebuild.rst'
)

Progress = outcomes.Progress


class TestEnds(unittest.TestCase):
    def test_untouched_volume_is_given_back(self):
        """VR-04."""
        for step in (
            'scheduling',
            'pre-flight',
            'attachment create',
            'disconnect',
            'attachment delete',
            'reimage refused',
        ):
            end = outcomes.end_after(step)
            self.assertTrue(end.is_restored, step)
            self.assertFalse(end.has_new_image, step)
            self.assertTrue(end.is_root_connected, step)

    def test_unknown_or_new_is_error(self):
        """VR-05."""
        for step in ('reimage failed', 'timeout'):
            end = outcomes.end_after(step)
            self.assertFalse(end.is_restored, step)
            self.assertFalse(end.has_new_image, step)
        for step in ('destroy', 'attachment update', 'spawn'):
            end = outcomes.end_after(step)
            self.assertFalse(end.is_restored, step)
            self.assertTrue(end.has_new_image, step)

    def test_the_documentation_has_the_same_table(self):
        rows = {}
        for line in DOCUMENT.read_text().splitlines():
            cells = re.split('  +', line)
            if cells[0] in outcomes.FAILURES:
                rows[cells[0]] = cells[1:]
        self.assertEqual(list(outcomes.FAILURES), list(rows))
        for step, (server, volume, image) in rows.items():
            content = outcomes.FAILURES[step]
            end = outcomes.end_after(step)
            expected = 'as before' if end.is_restored else 'ERROR'
            if end.is_rebuilt:
                expected = 'rebuilt'
            self.assertEqual(expected, server, step)
            self.assertEqual(content.value, volume, step)
            self.assertEqual(
                'new' if end.has_new_image else 'old', image, step
            )


class TestProgress(unittest.TestCase):
    """VR-07: the volume tells what no event has told."""

    def test_of_an_accepted_reimage(self):
        for status, image, expected in (
            ('downloading', 'old', Progress.RUNNING),
            ('reserved', 'new', Progress.DONE),
            # Nothing else makes it reserved again.
            ('reserved', None, Progress.DONE),
            ('in-use', 'new', Progress.DONE),
            ('in-use', 'old', Progress.UNKNOWN),
            ('error', 'old', Progress.FAILED),
            ('error', 'new', Progress.FAILED),
            ('error_extending', 'old', Progress.FAILED),
            # The server was deleted, and its attachments with it.
            ('available', 'new', Progress.FAILED),
        ):
            with self.subTest(status=status, image=image):
                self.assertIs(
                    expected, outcomes.progress(status, image, 'new')
                )

    def test_of_a_request_with_an_error(self):
        for status, code, image, before, expected in (
            # A gateway gave up, Cinder did not.
            ('downloading', 504, 'old', 'old', Progress.RUNNING),
            ('downloading', None, 'old', 'old', Progress.RUNNING),
            # Accepted, and asked for once more.
            ('downloading', 400, 'old', 'old', Progress.RUNNING),
            # Cinder does not find the image.
            ('downloading', 404, 'old', 'old', Progress.REFUSED),
            ('reserved', 500, 'old', 'old', Progress.REFUSED),
            ('reserved', None, 'old', 'old', Progress.REFUSED),
            ('reserved', 409, 'new', 'new', Progress.REFUSED),
            # It was done before anybody gave up.
            ('reserved', 504, 'new', 'old', Progress.DONE),
            ('reserved', None, 'new', None, Progress.DONE),
            # Once more the same image: it may be, or not.
            ('reserved', None, 'new', 'new', Progress.UNKNOWN),
            # It may have begun.
            ('error', 400, 'old', 'old', Progress.UNKNOWN),
            ('error', None, 'old', 'old', Progress.UNKNOWN),
            ('error', 409, 'old', 'old', Progress.REFUSED),
            (None, 409, None, 'old', Progress.REFUSED),
            (None, 500, None, 'old', Progress.UNKNOWN),
            (None, None, None, 'old', Progress.UNKNOWN),
        ):
            with self.subTest(status=status, code=code, image=image):
                self.assertIs(
                    expected,
                    outcomes.after_error(status, code, image, 'new', before),
                )

    def test_of_an_event(self):
        for status, expected in (
            # That of a reimage which nobody waits for any more.
            ('downloading', Progress.RUNNING),
            ('error', Progress.FAILED),
            ('reserved', Progress.DONE),
            (None, Progress.DONE),
        ):
            with self.subTest(status=status):
                self.assertIs(expected, outcomes.after_event(status))

    def test_looks_become_rare(self):
        self.assertEqual(
            [1, 2, 4, 8, 10, 10],
            [outcomes.interval(looks) for looks in range(6)],
        )

    def test_timeout_follows_the_size_of_the_volume(self):
        self.assertEqual(200, outcomes.timeout(20, 10))
        self.assertEqual(20, outcomes.timeout(20, 0))
        self.assertEqual(20, outcomes.timeout(20, None))


class TestRefusals(unittest.TestCase):
    """VR-08."""

    volume = {'id': 'v', 'size': 2}

    def test_images_that_fit(self):
        for image in (
            {'size': 2 << 30},
            {'size': 0},
            {'size': 5, 'virtual_size': 2 << 30, 'min_disk': 2},
            {'size': 5, 'virtual_size': None, 'min_disk': None},
        ):
            self.assertIsNone(refusals.of_image(image, self.volume), image)

    def test_images_that_do_not(self):
        for image, words in (
            ({'size': None}, 'not known'),
            ({}, 'not known'),
            ({'size': (2 << 30) + 1}, '3 GiB.* v has 2 GiB'),
            ({'size': 5, 'virtual_size': 4 << 30}, '4 GiB'),
            ({'size': 5, 'min_disk': 9}, '9 GiB'),
        ):
            self.assertRegex(refusals.of_image(image, self.volume), words)

    def test_volumes(self):
        self.assertIsNone(refusals.of_volume({'id': 'v'}))
        self.assertRegex(
            refusals.of_volume({'id': 'v', 'multiattach': True}), 'several'
        )

    def test_unchanged_image(self):
        """VR-10."""
        volume = {
            'status': 'in-use',
            'volume_image_metadata': {'image_id': 'same'},
        }
        self.assertTrue(refusals.keeps_volume(volume, 'same', False))
        self.assertTrue(refusals.keeps_volume(volume, 'same', True))
        self.assertFalse(refusals.keeps_volume(volume, 'other', False))
        for status in refusals.LEFT:
            self.assertFalse(
                refusals.keeps_volume(
                    dict(volume, status=status), 'same', True
                )
            )
        self.assertFalse(refusals.keeps_volume({}, 'same', False))

    def test_wish(self):
        """VR-10: it is taken out of the request."""
        for arguments, wish, rest in (
            ({}, None, {}),
            ({'metadata': {'a': 'b'}}, None, {'metadata': {'a': 'b'}}),
            ({'metadata': {}}, None, {'metadata': {}}),
            ({'metadata': {'xcell_reimage': '1'}, 'x': 1}, '1', {'x': 1}),
            (
                {'metadata': {'xcell_reimage': 'no', 'a': 'b'}},
                'no',
                {'metadata': {'a': 'b'}},
            ),
        ):
            self.assertEqual(wish, refusals.take_wish(arguments))
            self.assertEqual(rest, arguments)

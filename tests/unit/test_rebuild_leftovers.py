# SPDX-License-Identifier: Apache-2.0
"""VR-06, VR-09: what the audit finds wrong with a server."""

import dataclasses
import unittest

from nova_xcell.rebuild import leftovers

Problem = leftovers.Problem

ROOT = leftovers.Device('root', 'a-root', True, 'in-use', 'image')
DATA = leftovers.Device('data', 'a-data', False, 'in-use')
GOOD = leftovers.Server(
    uuid='server',
    vm_state='error',
    task_state=None,
    has_allocations=True,
    image_ref='',
    images=('image', 'image'),
    devices=(ROOT, DATA),
    attachments=(
        leftovers.Attachment('a-root', 'root', False),
        leftovers.Attachment('a-data', 'data', False),
    ),
)


def found(**changes):
    return [
        (leftover.problem, leftover.thing, bool(leftover.waits))
        for leftover in leftovers.of(dataclasses.replace(GOOD, **changes))
    ]


class TestLeftovers(unittest.TestCase):
    def test_good_server(self):
        self.assertEqual([], found())

    def test_server_that_was_never_rebuilt(self):
        """Its record names no image."""
        self.assertEqual([], found(images=('', None)))

    def test_no_allocations(self):
        expected = [(Problem.ALLOCATIONS, None, False)]
        for state in ('error', 'active', 'stopped'):
            self.assertEqual(
                expected, found(vm_state=state, has_allocations=False)
            )

    def test_elsewhere_or_in_a_task(self):
        for changes in (
            {'vm_state': 'shelved_offloaded'},
            {'vm_state': 'resized'},
            {'task_state': 'rebuilding'},
        ):
            self.assertEqual([], found(has_allocations=False, **changes))

    def test_attachment_of_no_device(self):
        for is_reserved, state, waits in (
            (True, 'error', False),
            (False, 'error', False),
            (True, 'active', False),
            # The guest may use it.
            (False, 'active', True),
        ):
            stale = leftovers.Attachment('stale', 'root', is_reserved)
            self.assertEqual(
                [(Problem.STALE, 'stale', waits)],
                found(vm_state=state, attachments=(*GOOD.attachments, stale)),
            )

    def test_attachment_of_a_volume_that_is_no_device(self):
        other = leftovers.Attachment('x', 'other', True)
        self.assertEqual([], found(attachments=(*GOOD.attachments, other)))

    def test_device_without_attachment(self):
        for status, state, waits in (
            ('available', 'error', False),
            ('in-use', 'error', True),
            ('available', 'active', True),
        ):
            data = dataclasses.replace(DATA, status=status)
            self.assertEqual(
                [(Problem.MISSING, 'data', waits)],
                found(
                    vm_state=state,
                    devices=(ROOT, data),
                    attachments=GOOD.attachments[:1],
                ),
            )

    def test_image_out_of_step(self):
        expected = [(Problem.IMAGE, 'root', False)]
        self.assertEqual(expected, found(images=('new', 'image')))
        self.assertEqual(expected, found(images=('image', 'new')))
        self.assertEqual(expected, found(image_ref='image'))
        self.assertEqual(expected, found(image_ref='x', vm_state='active'))
        # The user may have put another volume there.
        self.assertEqual([], found(images=('new', 'new'), vm_state='active'))
        root = dataclasses.replace(ROOT, image_id=None)
        self.assertEqual([], found(devices=(root, DATA), images=('new',)))
        root = dataclasses.replace(ROOT, status='downloading')
        self.assertEqual(
            [(Problem.IMAGE, 'root', True)],
            found(devices=(root, DATA), images=('new',)),
        )

    def test_volume_in_error(self):
        root = dataclasses.replace(ROOT, status='error')
        self.assertEqual(
            [(Problem.VOLUME, 'root', True)], found(devices=(root, DATA))
        )

    def test_server_on_an_image(self):
        self.assertEqual([], found(image_ref='image', devices=(DATA,)))

    def test_every_problem_has_a_plan(self):
        self.assertEqual(set(Problem), set(leftovers.PLANS))

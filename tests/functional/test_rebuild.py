# SPDX-License-Identifier: Apache-2.0
"""What is left of a server on a volume when its rebuild fails."""

from unittest import mock

import ddt

from nova import exception
from nova import objects
from nova.tests.functional.api import client
from nova.volume import cinder

from nova_xcell.rebuild import compute_api
from nova_xcell.rebuild import outcomes
from tests.functional import rebuilds

STARTS = [
    (status, data_volume)
    for status in ('ACTIVE', 'SHUTOFF', 'ERROR')
    for data_volume in (True, False)
]


@ddt.ddt
class TestFailures(rebuilds.RebuildTest):
    """VR-02 to VR-07, VR-09: the table of the documentation, row by row."""

    def use_server(self, *args, **kwargs):
        if args:
            super().use_server(*args, **kwargs)

    @ddt.data(*outcomes.FAILURES)
    def test_row(self, step):
        for status, data_volume in STARTS:
            with self.subTest(status=status, data_volume=data_volume):
                self.use_server(status, data_volume=data_volume)
                self.check_failure(step, status)
                self.delete(self.server)

    def check_failure(self, step, status):
        end = outcomes.end_after(step)
        before, devices = self.stored(), self.devices()
        was_running = self.is_running()
        with self.broken(step):
            server = self.rebuild(name='renamed')
        if end.is_rebuilt:
            # One that is late changes nothing.
            self.send_event(self.server['id'], self.root)
            self.check_rebuilt(
                self.wait_for_rest(self.server), after_rebuild(status), devices
            )
            return
        self.assertEqual(
            status if end.is_restored else 'ERROR', server['status']
        )
        self.assertEqual(self.allocations, self.allocated())
        self.assertEqual(devices, self.devices())
        (root,) = self.attachments(self.root)
        for volume in self.data:
            (data,) = self.attachments(volume)
            self.assertTrue(data['connector'])
        if end.is_root_connected is not None:
            self.assertEqual(end.is_root_connected, bool(root['connector']))
        # Nothing leads to a volume that is not connected.
        self.assertEqual(
            bool(root['connector']), bool(self.connection_info(self.root))
        )
        self.assertNotIn('free', self.cinder.calls)
        if end.has_new_image:
            metadata, spec, _ = self.stored()
            self.assertEqual(self.image, metadata['image_base_image_ref'])
            self.assertEqual(self.image, spec['id'])
        else:
            self.assertEqual(before, self.stored())
            self.assertEqual('server', server['name'])
        if end.is_restored:
            self.assertEqual(was_running, self.is_running())
            self.assertEqual(self.old_image, self.cinder.bootable[self.root])
        # The reason is where the user finds it.
        self.assertIn('Error', [event['result'] for event in self.events()])
        # Cinder is mended, and the user tries again.
        self.cinder.statuses.clear()
        self.check_success(
            after_rebuild(status) if end.is_restored else 'ACTIVE', devices
        )

    def check_success(self, status, devices):
        self.check_rebuilt(self.rebuild(name='renamed'), status, devices)

    def check_rebuilt(self, server, status, devices):
        self.assertEqual(status, server['status'])
        self.assertEqual('renamed', server['name'])
        self.assertEqual(self.image, self.cinder.bootable[self.root])
        self.assertEqual(status == 'ACTIVE', self.is_running())
        self.assertEqual(devices, self.devices())
        for volume in (self.root, *self.data):
            (attachment,) = self.attachments(volume)
            self.assertTrue(attachment['connector'])
        metadata, spec, _ = self.stored()
        self.assertEqual(self.image, metadata['image_base_image_ref'])
        self.assertEqual(self.image, spec['id'])
        self.assertEqual(self.allocations, self.allocated())
        self.assertNotIn('free', self.cinder.calls)


def after_rebuild(status):
    """Return the status of a server that is rebuilt."""
    return 'SHUTOFF' if status == 'SHUTOFF' else 'ACTIVE'


class TestOrder(rebuilds.RebuildTest):
    def test_success(self):
        """VR-03: the guest is there until Cinder has written the image."""
        self.assertEqual('ACTIVE', self.rebuild()['status'])
        self.assertEqual(
            [
                'attachment create',
                'attachment delete',
                'reimage refused',
                'written',
                # Until the other is complete.
                'attachment create',
                'attachment update',
                'attachment complete',
            ],
            self.cinder.calls,
        )

    def test_nothing_is_destroyed_before_cinder_agrees(self):
        """VR-03, VR-04."""
        with mock.patch.object(
            self.driver, 'destroy', wraps=self.driver.destroy
        ) as destroy:
            with self.broken('reimage refused'):
                self.rebuild()
            destroy.assert_not_called()
            self.rebuild()
            destroy.assert_called_once()

    def test_lost_answer(self):
        """VR-06: the attachment that nobody knows of is deleted."""
        with self.broken('attachment create unheard'):
            server = self.rebuild()
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual(1, len(self.attachments(self.root)))
        self.assertEqual('ACTIVE', self.rebuild()['status'])

    def test_cinder_refuses_everything(self):
        """VR-03: not even then is the volume free, and it can be mended."""
        for step, image in (
            ('attachment update', self.image),
            ('attachment complete', self.old_image),
        ):
            with self.broken('reimage refused'), self.broken(step):
                server = self.rebuild(image=image)
            self.assertEqual('ERROR', server['status'])
            self.assertEqual(1, len(self.attachments(self.root)))
            self.assertNotIn('free', self.cinder.calls)
            self.assertEqual(self.allocations, self.allocated())
            self.assertEqual('ACTIVE', self.rebuild(image=image)['status'])

    def test_guest_is_missing(self):
        """VR-06: a server that is not deleted does not stay in its task."""
        guest = self.driver.instances.pop(self.server['id'])
        server = self.rebuild(name='renamed')
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual('server', server['name'])
        self.assertEqual([], self.cinder.calls)
        self.driver.instances[self.server['id']] = guest
        self.assertEqual('ACTIVE', self.rebuild()['status'])

    def test_image_that_cinder_does_not_find(self):
        """VR-04: Cinder says that it writes, and refuses."""
        with self.broken('image gone'):
            server = self.rebuild()
        self.assertEqual('ACTIVE', server['status'])
        self.assertTrue(self.is_running())
        self.assertEqual('in-use', self.cinder.status(self.root))
        self.assertEqual('ACTIVE', self.rebuild()['status'])


class TestWaiting(rebuilds.RebuildTest):
    def test_no_event_of_a_failure(self):
        """VR-07: Cinder sends none."""
        with self.broken('reimage failed, no event'):
            server = self.rebuild()
        self.assertEqual('ERROR', server['status'])
        self.assertIn('status error', server['fault']['message'])

    def test_no_answer_before_it_is_done(self):
        """VR-07: the new image is there, and so is what the server has."""
        with self.broken('answer late'):
            server = self.rebuild()
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual(self.image, self.cinder.bootable[self.root])
        metadata, spec, _ = self.stored()
        self.assertEqual(self.image, metadata['image_base_image_ref'])
        self.assertEqual(self.image, spec['id'])

    def test_event_of_an_earlier_reimage(self):
        """VR-07: the guest is not spawned before the image is there."""
        with self.broken('event of another'):
            server = self.rebuild()
        self.assertEqual('ACTIVE', server['status'])
        self.assertLess(
            self.cinder.calls.index('written'),
            self.cinder.calls.index('attachment update'),
        )

    def test_action_tells_of_it(self):
        """VR-07: what Cinder does, and how that ended."""
        self.rebuild()
        self.assertEqual(
            ['Success', 'Success'],
            [
                event['result']
                for event in self.events()
                if event['event'] == 'xcell_reimage_volume'
            ],
        )
        with self.broken('reimage failed'):
            self.rebuild(image=self.old_image)
        *_, last = (
            event
            for event in self.events()
            if event['event'] == 'xcell_reimage_volume'
        )
        self.assertEqual('Error', last['result'])
        self.assertIn(self.root, last['details'])


class TestDeletion(rebuilds.RebuildTest):
    def test_while_cinder_writes(self):
        """VR-06: nothing is left of the server."""
        root = self.root
        self.cinder.meanwhile = lambda: self.delete(self.server)
        with self.broken('timeout'):
            self.api.post_server_action(
                self.server['id'], {'rebuild': {'imageRef': self.image}}
            )
            self._wait_until_deleted(self.server)
        self.cinder.statuses.clear()
        self.assertEqual([], self.attachments(root))
        self.assertEqual({}, self.allocated())


class TestVanishedImage(rebuilds.RebuildTest):
    def check(self, *answers):
        before = self.stored()
        error = exception.ImageNotFound(image_id=self.image)
        with mock.patch.object(
            objects.ImageMeta,
            'from_image_ref',
            side_effect=[*answers, error, error],
        ):
            server = self.rebuild(name='renamed')
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual('server', server['name'])
        self.assertEqual(before, self.stored())
        self.assertEqual([], self.cinder.calls)
        self.assertTrue(self.is_running())

    def test_when_the_scheduler_is_asked(self):
        """VR-02."""
        self.check()

    def test_when_the_host_is_asked(self):
        """VR-04."""
        self.check(objects.ImageMeta())


class TestRefusals(rebuilds.RebuildTest):
    def check_refused(self, status, words):
        before = self.stored()
        error = self.assertRaises(
            client.OpenStackApiException, self.rebuild, name='renamed'
        )
        self.assertEqual(status, error.response.status_code)
        self.assertIn(words, str(error))
        server = self.api.get_server(self.server['id'])
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual('server', server['name'])
        self.assertEqual(before, self.stored())
        self.assertEqual([], self.cinder.calls)

    def test_multiattach(self):
        """VR-08."""
        self.cinder.multiattach = True
        self.check_refused(400, 'several servers')

    def test_image_too_large(self):
        """VR-08."""
        self.cinder.size = 0
        self.check_refused(400, 'needs 1 GiB')

    def test_old_cinder(self):
        """VR-01."""
        cinder.is_microversion_supported.side_effect = (
            exception.CinderAPIVersionNotAvailable(version='3.68')
        )
        self.check_refused(409, 'microversion 3.68')

    def test_old_compute(self):
        """VR-01."""
        with mock.patch.object(compute_api, 'COMPUTE_REIMAGE', 10**6):
            self.check_refused(409, 'too old')

    def test_unchanged_image(self):
        """VR-10."""
        server = self.rebuild(image=self.old_image, name='renamed')
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual('renamed', server['name'])
        self.assertEqual(0, self.reimages())

    def test_unchanged_image_that_is_asked_for(self):
        """VR-10."""
        server = self.rebuild(
            image=self.old_image, metadata={'xcell_reimage': 'true'}
        )
        self.assertEqual('ACTIVE', server['status'])
        self.assertNotIn('xcell_reimage', server['metadata'])
        self.assertEqual(1, self.reimages())

    def test_bad_wish(self):
        """VR-10."""
        error = self.assertRaises(
            client.OpenStackApiException,
            self.rebuild,
            metadata={'xcell_reimage': 'banana'},
        )
        self.assertEqual(400, error.response.status_code)

    def test_unchanged_image_after_a_failure(self):
        """VR-05, VR-10: nobody knows what is on the volume."""
        with self.broken('timeout'):
            self.rebuild()
        self.cinder.statuses.clear()
        server = self.rebuild(image=self.old_image)
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual(2, self.reimages())

    def test_volume_that_was_mended(self):
        """VR-05: an operator has set it to what others are set to."""
        with self.broken('reimage failed'):
            self.assertEqual('ERROR', self.rebuild()['status'])
        self.cinder.statuses[self.root] = 'available'
        self.assertEqual('ACTIVE', self.rebuild()['status'])
        self.assertEqual(1, len(self.attachments(self.root)))

    def test_attachment_that_is_left(self):
        """VR-06: a failed rebuild of a plain host can be tried again."""
        with self.broken('timeout'):
            self.rebuild()
        self.cinder.statuses.clear()
        left = self.cinder.fake_attachment_create(
            None, self.root, self.server['id'], connector={'host': 'host1'}
        )
        self.cinder.complete.add(left['id'])
        self.assertEqual('ACTIVE', self.rebuild()['status'])
        self.assertEqual(1, len(self.attachments(self.root)))


class TestImageBacked(rebuilds.RebuildTest):
    def test_failed_rebuild_keeps_allocations(self):
        """VR-06."""
        self.use_server(volume_backed=False, data_volume=False)
        allocations = self.allocated()
        self.assertTrue(allocations)
        with self.broken('spawn'):
            self.assertEqual('ERROR', self.rebuild()['status'])
        self.assertEqual(allocations, self.allocated())
        self.assertEqual('ACTIVE', self.rebuild()['status'])
        self.assertEqual(allocations, self.allocated())

    def test_no_valid_host(self):
        """VR-02."""
        self.use_server(volume_backed=False, data_volume=False)
        before = self.stored()
        with self.broken('scheduling'):
            server = self.rebuild(name='renamed')
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual('server', server['name'])
        self.assertEqual(before, self.stored())

# SPDX-License-Identifier: Apache-2.0
"""A cloud whose servers on volumes are rebuilt, and where that can fail."""

import contextlib
from unittest import mock

from cinderclient import exceptions as cinder_exception
import fixtures

from nova import exception
from nova import objects
from nova.conductor import manager as conductor_manager
from nova.volume import cinder as host_cinder

from nova_xcell.rebuild import compute_api
from tests.embedded import cloud

NEW_IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b'


class Cinder(cloud.Cinder):
    """Cinder that reimages, or fails to; statuses are those of the real one.

    :ivar broken: steps that fail, as the table of outcomes calls them
    :ivar calls: what it was asked for, in that order
    :ivar meanwhile: what happens while it writes, and does not finish
    :ivar statuses: volume -> status, where it is not that of its attachments
    """

    def __init__(self, test):
        super().__init__(test)
        self.broken = set()
        self.calls = []
        self.statuses = {}
        self.complete = set()
        self.meanwhile = lambda: None
        self.writing = {}
        self.multiattach = False
        self.size = 1

    def setUp(self):
        super().setUp()
        self.useFixture(
            fixtures.MockPatch(
                'nova.volume.cinder.API.check_attached',
                side_effect=self.fake_check_attached,
                autospec=False,
            )
        )

    def fake_check_attached(self, context, volume):
        if volume['status'] != 'in-use':
            raise exception.InvalidVolume(reason='it is %s' % volume['status'])

    def fake_get(self, context, volume_id, microversion=None):
        if volume_id in self.writing:
            self._write_on(volume_id)
        volume = super().fake_get(context, volume_id, microversion)
        volume['status'] = self.status(volume_id)
        if volume_id in self.bootable:
            volume['multiattach'] = self.multiattach
            volume['size'] = self.size
        return volume

    def status(self, volume_id):
        attachments = self.volume_to_attachment[volume_id]
        if volume_id in self.statuses:
            return self.statuses[volume_id]
        if self.complete & set(attachments):
            return 'in-use'
        if any(found['connector'] for found in attachments.values()):
            return 'attaching'
        return 'reserved' if attachments else 'available'

    def fake_attachment_create(self, context, volume_id, *args, **kwargs):
        status = self.status(volume_id)
        if status in ('available', 'downloading'):
            # The latter is strange, but so it is.
            self.statuses.pop(volume_id, None)
        elif status not in ('available', 'in-use', 'reserved'):
            raise cinder_exception.BadRequest(400, 'it is %s' % status)
        if 'attachment create unheard' in self.broken:
            super().fake_attachment_create(context, volume_id, *args, **kwargs)
            raise exception.CinderConnectionFailed(reason='broken')
        self._may_fail('attachment create', volume_id)
        return super().fake_attachment_create(
            context, volume_id, *args, **kwargs
        )

    def fake_attachment_get_all(
        self, context, instance_id=None, volume_id=None
    ):
        return [
            {
                'id': found['id'],
                'instance': found['instance_uuid'],
                'volume_id': volume,
                'status': 'attached' if found['connector'] else 'reserved',
            }
            for volume, attachments in self.volume_to_attachment.items()
            for found in attachments.values()
            if instance_id in (None, found['instance_uuid'])
            and volume_id in (None, volume)
        ]

    def fake_attachment_delete(self, context, attachment_id):
        volume_id, attachment, _ = self._find_attachment(attachment_id)
        if attachment['connector']:
            self._may_fail('attachment delete', volume_id)
        super().fake_attachment_delete(context, attachment_id)
        if not self.volume_to_attachment[volume_id]:
            self.calls.append('free')

    def fake_attachment_update(self, context, attachment_id, *args, **kwargs):
        volume_id = self._find_attachment(attachment_id)[0]
        self._may_fail('attachment update', volume_id)
        return super().fake_attachment_update(
            context, attachment_id, *args, **kwargs
        )

    def fake_attachment_complete(self, context, attachment_id):
        volume_id = self._find_attachment(attachment_id)[0]
        self._may_fail('attachment complete', volume_id)
        super().fake_attachment_complete(context, attachment_id)
        self.complete.add(attachment_id)
        # It says nothing of what it was before.
        self.statuses.pop(volume_id, None)

    def fake_reimage_volume(
        self, context, volume_id, image_id, reimage_reserved=False
    ):
        self._may_fail('reimage refused', volume_id)
        self.test.assertTrue(reimage_reserved)
        status = self.status(volume_id)
        if status not in ('reserved', 'error'):
            raise cinder_exception.BadRequest(400, 'it is %s' % status)
        # As the real one.
        if len(self.volume_to_attachment[volume_id]) > 1:
            raise cinder_exception.ClientException(409, 'attachments')
        self.statuses[volume_id] = 'downloading'
        if 'image gone' in self.broken:
            raise exception.ImageNotFound(image_id=image_id)
        if self.broken & {'reimage failed', 'reimage failed, no event'}:
            self.statuses[volume_id] = 'error'
            if 'reimage failed' in self.broken:
                self._send_event(volume_id, 'failed')
            return
        self._write(volume_id, image_id)

    def _write(self, volume_id, image_id):
        if 'timeout' in self.broken:
            self.meanwhile()
            return
        if self.broken & {'event late', 'event of another'}:
            # At the second look it is done.
            self.writing[volume_id] = [image_id, 1]
            if 'event of another' in self.broken:
                self._send_event(volume_id, 'completed')
            return
        self._finish(volume_id, image_id)
        if 'answer late' in self.broken:
            raise exception.CinderConnectionFailed(reason='broken')
        if 'event lost' not in self.broken:
            self._send_event(volume_id, 'completed')

    def _write_on(self, volume_id):
        image_id, looks = self.writing[volume_id]
        self.writing[volume_id][1] -= 1
        if looks == 0:
            del self.writing[volume_id]
            self._finish(volume_id, image_id)

    def _finish(self, volume_id, image_id):
        self.statuses.pop(volume_id, None)
        self.bootable[volume_id] = image_id
        self.calls.append('written')

    def _may_fail(self, step, volume_id):
        """Fail for root volumes once a step is broken; note it otherwise."""
        if volume_id not in self.bootable:
            return
        if step in self.broken:
            raise cinder_exception.ClientException(500, 'broken')
        self.calls.append(step)

    def _send_event(self, volume_id, status):
        (attachment,) = self.volume_to_attachment[volume_id].values()
        self.test.send_event(attachment['instance_uuid'], volume_id, status)


class RebuildTest(cloud.TwoCellCloud):
    """A server on a volume, with a data volume."""

    HOSTS = {'cell1': ('host1',), 'cell2': ('host2',)}

    def setUp(self):
        self.useFixture(fixtures.MockPatchObject(cloud, 'Cinder', Cinder))
        super().setUp()
        # Enough for the second look at a volume.
        self.flags(reimage_timeout_per_gb=2)
        self.flags(response_validation='warn', group='api')
        self.api.microversion = self.admin_api.microversion = 'latest'
        self.driver = self.computes['host1'].manager.driver
        self.use_server()

    def use_server(self, status='ACTIVE', **wanted):
        """Make the server that is rebuilt, and note what it is.

        :param status: ACTIVE, SHUTOFF, or ERROR with a guest that runs
        :param wanted: of the server
        """
        arguments = {'volume_backed': True, 'data_volume': True, **wanted}
        self.server = self.create_server(port=False, **arguments)
        self.allocations = self.allocated()
        self.image = NEW_IMAGE
        if arguments['volume_backed']:
            self.old_image = self.cinder.bootable[self.root]
        if status == 'SHUTOFF':
            self.api.post_server_action(self.server['id'], {'os-stop': {}})
        elif status == 'ERROR':
            self.admin_api.post_server_action(
                self.server['id'], {'os-resetState': {'state': 'error'}}
            )
        self.wait_for_status(self.server, status)
        self.cinder.calls.clear()

    def send_event(self, server_id, volume_id, status='completed'):
        """Tell nova-api that a volume was written, or was not."""
        self.admin_api.create_server_external_events(
            [
                {
                    'name': 'volume-reimaged',
                    'server_uuid': server_id,
                    'tag': volume_id,
                    'status': status,
                }
            ]
        )

    @property
    def root(self):
        (root,) = set(self.cinder.bootable) & set(self.volumes_of(self.server))
        return root

    @property
    def data(self):
        """The data volumes: one, or none."""
        return set(self.volumes_of(self.server)) - {self.root}

    def devices(self):
        """Return what must not change of the volumes (VR-09)."""
        return {
            volume['volumeId']: (
                volume['device'],
                volume['tag'],
                volume['delete_on_termination'],
            )
            for volume in self.api.get_server_volumes(self.server['id'])
        }

    def allocated(self):
        return {
            provider: found['resources']
            for provider, found in self._get_allocations_by_server_uuid(
                self.server['id']
            ).items()
        }

    def rebuild(self, image=None, **wanted):
        """Ask for a rebuild, and wait until it is over."""
        self.api.post_server_action(
            self.server['id'],
            {'rebuild': {'imageRef': image or self.image, **wanted}},
        )
        # One that is to be stopped is at rest for a moment before that.
        self._wait_for_assert(self._check_over, max_retries=300, sleep=0.1)
        return self.wait_for_rest(self.server)

    def _check_over(self):
        results = {event['event']: event['result'] for event in self.events()}
        self.assertNotIn(None, results.values())
        if results.get('rebuild_server') != 'Error':
            self.assertIn('compute_rebuild_instance', results)

    @contextlib.contextmanager
    def broken(self, step):
        """Let a step of a rebuild fail within."""
        method = {
            'power off': (self.driver, 'power_off'),
            'disconnect': (self.driver, 'detach_volume'),
            'destroy': (self.driver, 'destroy'),
            'spawn': (self.driver, 'spawn'),
            'scheduling': (
                conductor_manager.ComputeTaskManager,
                '_schedule_instances',
            ),
            # What nova-api refuses, but one without the plug-ins does not.
            'pre-flight': (compute_api.Rebuilds, '_xcell_refuse_reimage'),
        }.get(step)
        if method is None:
            self.cinder.broken.add(step)
            yield
            self.cinder.broken.discard(step)
            return
        if step == 'pre-flight':
            self.cinder.multiattach = True
            with mock.patch.object(*method):
                yield
            self.cinder.multiattach = False
            return
        error = (
            exception.NoValidHost(reason='broken')
            if step == 'scheduling'
            else exception.VirtualInterfaceCreateException('broken')
        )
        with mock.patch.object(*method, side_effect=error):
            yield

    def stored(self):
        """Return what is stored of the image: metadata and request spec."""
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(
                context, self.server['id'], expected_attrs=['system_metadata']
            )
            spec = objects.RequestSpec.get_by_instance_uuid(
                context, instance.uuid
            )
        return (
            {
                key: value
                for key, value in instance.system_metadata.items()
                if key.startswith('image_')
            },
            spec.image.obj_to_primitive()['nova_object.data'],
            {
                name: getattr(instance, name)
                for name in ('kernel_id', 'ramdisk_id', 'os_type', 'image_ref')
            },
        )

    def attachments(self, volume_id):
        return list(self.cinder.volume_to_attachment[volume_id].values())

    def connection_info(self, volume_id):
        """Return what the record says of how a volume is reached."""
        with self.context_of('cell1') as context:
            return objects.BlockDeviceMapping.get_by_volume_and_instance(
                context, volume_id, self.server['id']
            ).connection_info

    def events(self):
        """Return the events of the last action, the oldest first."""
        (action, *_) = self.admin_api.get_instance_actions(self.server['id'])
        self.assertEqual('rebuild', action['action'])
        found = self.admin_api.api_get(
            '/servers/%s/os-instance-actions/%s'
            % (self.server['id'], action['request_id'])
        ).body['instanceAction']['events']
        return sorted(found, key=lambda event: event['start_time'])

    def is_running(self):
        server = self.api.get_server(self.server['id'])
        guest = self.driver.instances.get(self.server['id'])
        running = guest is not None and guest.state == 1
        self.assertEqual(
            running, server['OS-EXT-STS:power_state'] == 1, 'power state'
        )
        return running

    def reimages(self):
        return host_cinder.API.reimage_volume.call_count

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

from tests.embedded import cloud

NEW_IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b'


class Cinder(cloud.Cinder):
    """Cinder that reimages, or fails to.

    :ivar broken: steps that fail, as the table of outcomes calls them
    :ivar calls: what it was asked for, in that order
    """

    def __init__(self, test):
        super().__init__(test)
        self.broken = set()
        self.calls = []
        self.statuses = {}
        self.multiattach = False
        self.size = 1
        self.sends_event = True

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
        volume = super().fake_get(context, volume_id, microversion)
        attachments = self.volume_to_attachment[volume_id].values()
        status = self.statuses.get(volume_id)
        if status is None:
            if any(found['connector'] for found in attachments):
                status = 'in-use'
            else:
                status = 'reserved' if attachments else 'available'
        volume['status'] = status
        if volume_id in self.bootable:
            volume['multiattach'] = self.multiattach
            volume['size'] = self.size
        return volume

    def fake_attachment_create(self, context, volume_id, *args, **kwargs):
        if 'attachment create unheard' in self.broken:
            super().fake_attachment_create(context, volume_id, *args, **kwargs)
            raise exception.CinderConnectionFailed(reason='broken')
        self._may_fail('attachment create', volume_id)
        return super().fake_attachment_create(
            context, volume_id, *args, **kwargs
        )

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

    def fake_reimage_volume(
        self, context, volume_id, image_id, reimage_reserved=False
    ):
        self._may_fail('reimage refused', volume_id)
        self.test.assertTrue(reimage_reserved)
        # As the real one.
        self.test.assertEqual(1, len(self.volume_to_attachment[volume_id]))
        if 'timeout' in self.broken:
            self.statuses[volume_id] = 'downloading'
            return
        if 'reimage failed' in self.broken:
            self.statuses[volume_id] = 'error'
            self._send_event(volume_id, 'failed')
            return
        self.statuses.pop(volume_id, None)
        self.bootable[volume_id] = image_id
        self._send_event(volume_id, 'completed')

    def _may_fail(self, step, volume_id):
        """Fail for root volumes once a step is broken; note it otherwise."""
        if volume_id not in self.bootable:
            return
        if step in self.broken:
            raise cinder_exception.ClientException(500, 'broken')
        self.calls.append(step)

    def _send_event(self, volume_id, status):
        if not self.sends_event:
            return
        (attachment,) = self.volume_to_attachment[volume_id].values()
        self.test.api.create_server_external_events(
            [
                {
                    'name': 'volume-reimaged',
                    'server_uuid': attachment['instance_uuid'],
                    'tag': volume_id,
                    'status': status,
                }
            ]
        )


class RebuildTest(cloud.TwoCellCloud):
    """A server on a volume, with a data volume."""

    HOSTS = {'cell1': ('host1',), 'cell2': ('host2',)}

    def setUp(self):
        self.useFixture(fixtures.MockPatchObject(cloud, 'Cinder', Cinder))
        super().setUp()
        self.flags(reimage_timeout_per_gb=1)
        self.flags(response_validation='warn', group='api')
        self.api.microversion = self.admin_api.microversion = 'latest'
        self.driver = self.computes['host1'].manager.driver
        self.server = self.create_server(
            volume_backed=True, data_volume=True, port=False
        )
        self.old_image, self.image = (
            self.cinder.bootable[self.root],
            NEW_IMAGE,
        )
        self.allocations = self.allocated()
        self.cinder.calls.clear()

    @property
    def root(self):
        (root,) = set(self.cinder.bootable) & set(self.volumes_of(self.server))
        return root

    @property
    def data(self):
        (data,) = set(self.volumes_of(self.server)) - {self.root}
        return data

    def allocated(self):
        return self._get_allocations_by_server_uuid(self.server['id'])

    def rebuild(self, image=None, **wanted):
        """Ask for a rebuild, and wait until no task is left."""
        self.api.post_server_action(
            self.server['id'],
            {'rebuild': {'imageRef': image or self.image, **wanted}},
        )
        return self.wait_for_rest(self.server)

    def stop(self):
        self.api.post_server_action(self.server['id'], {'os-stop': {}})
        self.wait_for_status(self.server, 'SHUTOFF')

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
        }.get(step)
        if method is None:
            self.cinder.broken.add(step)
            yield
            self.cinder.broken.discard(step)
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

# SPDX-License-Identifier: Apache-2.0
"""What was changed on a resized server is there after a revert (XC-14, XC-17,
XC-20, XC-28, XC-30).
"""

import fixtures
from oslo_utils import uuidutils

from nova import context as nova_context
from nova import objects
from nova.conductor import manager as conductor_manager

from nova_xcell.tasks import history
from tests.embedded import cloud
from tests.embedded import rows


class RevertTest(cloud.TwoCellCloud):
    def resized(self, **kwargs):
        self.server = self.create_server(**kwargs)
        self.api.put_server_tags(self.server['id'], ['red', 'blue'])
        return self.resize(self.server, host='host2')

    def set_metadata(self, metadata):
        """The host's API does not allow it while a server is resized."""
        with self.context_of('cell2') as context:
            instance = objects.Instance.get_by_uuid(
                context, self.server['id'], expected_attrs=['metadata']
            )
            instance.metadata = metadata
            instance.save()

    def shown(self):
        return self.api.get_server(self.server['id'])

    def devices(self, cell='cell1'):
        with self.context_of(cell) as context:
            return {
                row['volume_id']: row
                for row in rows.of_server(context, self.server['id'])[
                    'block_device_mapping'
                ]
                if not row['deleted'] and row['volume_id']
            }

    def actions(self):
        """Return every action, and its events that have ended."""
        found = {}
        for action in self.api.get_instance_actions(self.server['id']):
            details = self.api.api_get(
                '/servers/%s/os-instance-actions/%s'
                % (self.server['id'], action['request_id'])
            ).body['instanceAction']
            found[action['request_id']] = (
                action['action'],
                details['start_time'],
                sorted(
                    (event['event'], event['host'], event['result'])
                    for event in details['events']
                    if event['finish_time']
                ),
            )
        return found


class TestFields(RevertTest):
    def test_what_users_changed(self):
        self.resized()
        server_id = self.server['id']
        self.api.put_server(
            server_id,
            {
                'server': {
                    'name': 'renamed',
                    'description': 'described',
                    'hostname': 'new-hostname',
                    'accessIPv4': '192.0.2.9',
                    'accessIPv6': '2001:db8::9',
                    'OS-DCF:diskConfig': 'MANUAL',
                }
            },
        )
        self.set_metadata({'mine': '1'})
        self.api.post_server_action(
            server_id, {'lock': {'locked_reason': 'do not touch'}}
        )
        before = self.shown()
        self.assertEqual('do not touch', before['locked_reason'])
        self.revert(self.server)
        after = self.shown()
        self.assertEqual('host1', after['OS-EXT-SRV-ATTR:host'])
        for field in (
            'name',
            'description',
            'OS-EXT-SRV-ATTR:hostname',
            'accessIPv4',
            'accessIPv6',
            'OS-DCF:diskConfig',
            'metadata',
            'locked',
            'locked_reason',
            'tags',
            'key_name',
        ):
            self.assertEqual(before[field], after[field], field)
        self.assertEqual('renamed', after['name'])
        self.assertEqual({'mine': '1'}, after['metadata'])

    def test_what_was_taken_away(self):
        """Also an unlock; and the lock before the resize."""
        self.server = self.create_server()
        server_id = self.server['id']
        self.api.post_server_metadata(server_id, {'mine': '1'})
        self.api.post_server_action(
            server_id, {'lock': {'locked_reason': 'do not touch'}}
        )
        self.resize(self.server, host='host2')
        self.api.post_server_action(server_id, {'unlock': None})
        self.set_metadata({})
        self.revert(self.server)
        after = self.shown()
        self.assertFalse(after['locked'])
        self.assertIsNone(after['locked_reason'])
        self.assertEqual({}, after['metadata'])


class TestRequestSpec(RevertTest):
    def stored_flavor(self):
        """Return which of the flavors the request spec has."""
        spec = objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), self.server['id']
        )
        return [flavor['id'] for flavor in self.api.get_flavors()].index(
            spec.flavor.flavorid
        )

    def test_reverted_as_soon_as_it_is_shown(self):
        """Plain Nova stores the new flavor after that, for good."""
        self.server = self.create_server()
        complete = history.complete

        def revert_first(*args):
            self.assertEqual('VERIFY_RESIZE', self.shown()['status'])
            self.assertEqual(1, self.stored_flavor())
            self.api.post_server_action(
                self.server['id'], {'revertResize': None}
            )
            return complete(*args)

        self.useFixture(
            fixtures.MockPatchObject(history, 'complete', revert_first)
        )
        self.api.post_server_action(
            self.server['id'],
            {'resize': {'flavorRef': self.api.get_flavors()[1]['id']}},
        )
        self.notifier.wait_for_versioned_notifications(
            'instance.resize_revert.end'
        )
        self.assertEqual([], self.wait_for_no_leak(self.server))
        self.assertEqual(0, self.stored_flavor())


class TestVolumes(RevertTest):
    def test_swapped_attached_and_detached(self):
        self.resized(data_volume=True)
        (swapped,) = self.volumes_of(self.server)
        new, attached, gone = (
            uuidutils.generate_uuid() for _number in range(3)
        )
        server_id = self.server['id']
        for volume, tag in ((attached, {'tag': 'late'}), (gone, {})):
            self.api.post_server_volume(
                server_id, {'volumeAttachment': {'volumeId': volume, **tag}}
            )
            self._wait_for_assert(
                lambda volume=volume: self.assertEqual(
                    [True],
                    [
                        bool(attachment['connector'])
                        for attachment in self.attachments(volume)
                    ],
                ),
                max_retries=50,
                sleep=0.1,
            )
        self.api.delete_server_volume(server_id, gone)
        self._wait_for_assert(
            lambda: self.assertEqual(
                {swapped, attached}, set(self.volumes_of(self.server))
            ),
            max_retries=50,
            sleep=0.1,
        )
        self.swap(swapped, new)
        self.revert(self.server)
        self.assertEqual({new, attached}, set(self.volumes_of(self.server)))
        self.assertEqual([], self.wait_for_no_leak(self.server))
        devices = self.devices()
        self.assertEqual('data', devices[new]['tag'])
        self.assertEqual('late', devices[attached]['tag'])
        self.assertEqual(
            {
                attachment['id']
                for volume in (new, attached)
                for attachment in self.attachments(volume)
            },
            {device['attachment_id'] for device in devices.values()},
        )
        self.assertEqual([], self.attachments(swapped))

    def swap(self, old, new):
        """Do what nova-compute does at the end of a swap, which the fake
        driver cannot."""
        with self.context_of('cell2') as context:
            device = objects.BlockDeviceMapping.get_by_volume_and_instance(
                context, old, self.server['id']
            )
            self.cinder.fake_attachment_delete(context, device.attachment_id)
            device.attachment_id = self.cinder.fake_attachment_create(
                context, new, self.server['id'], connector={'host': 'host2'}
            )['id']
            device.volume_id = new
            device.volume_size = 3
            device.connection_info = device.connection_info.replace(old, new)
            device.save()

    def attachments(self, volume):
        return [
            {'id': attachment_id, **attachment}
            for attachment_id, attachment in self.cinder.volume_to_attachment[
                volume
            ].items()
        ]

    def test_details_of_a_device(self):
        self.resized(data_volume=True)
        (volume,) = self.volumes_of(self.server)
        self.api.api_put(
            '/servers/%s/os-volume_attachments/%s'
            % (self.server['id'], volume),
            {
                'volumeAttachment': {
                    'volumeId': volume,
                    'delete_on_termination': True,
                }
            },
        )
        attachment = self.devices()[volume]['attachment_id']
        self.assertTrue(self.devices('cell2')[volume]['delete_on_termination'])
        self.revert(self.server)
        device = self.devices()[volume]
        self.assertTrue(device['delete_on_termination'])
        self.assertEqual(attachment, device['attachment_id'])


class TestHistory(RevertTest):
    def test_every_action_with_its_events(self):
        self.resized()
        server_id = self.server['id']
        volume = uuidutils.generate_uuid()
        self.api.post_server_volume(
            server_id, {'volumeAttachment': {'volumeId': volume}}
        )
        self.api.post_server_action(server_id, {'lock': None})
        # Nova 34 attaches when it has answered.
        self._wait_for_assert(
            lambda: self.assertIn(volume, self.volumes_of(self.server)),
            max_retries=50,
            sleep=0.1,
        )
        before = self.actions()
        self.assertIn('attach_volume', {kind[0] for kind in before.values()})
        self.revert(self.server)
        after = self.actions()
        self.assertEqual(1, len(after) - len(before))
        for request, (action, start, events) in before.items():
            self.assertEqual((action, start), after[request][:2])
            self.assertEqual(
                [], [e for e in events if e not in after[request][2]], action
            )
        with self.context_of('cell1') as context:
            found = rows.of_server(context, server_id)
        names = [
            (row['request_id'], row['event'])
            for row in found['instance_actions_events']
        ]
        self.assertEqual(sorted(set(names)), sorted(names))

    def test_again(self):
        """A conductor that died in the middle does it once more."""
        self.resized(data_volume=True)
        self.api.post_server_action(self.server['id'], {'lock': None})
        first = self.update()
        self.assertIn(
            'lock', {row['action'] for row in first['instance_actions']}
        )
        second = self.update()
        for table in ('instances', 'migrations', 'instance_extra'):
            for row in (*first[table], *second[table]):
                del row['updated_at']
        self.assertEqual(first, second)

    def update(self):
        """Bring the record in cell1 up to date, as the conductor does it."""
        source, target = (self.aimed_at(cell) for cell in ('cell1', 'cell2'))
        # The request that the conductor works on is one of its actions.
        target.request_id = self.api.get_instance_actions(self.server['id'])[
            0
        ]['request_id']
        instance = objects.Instance.get_by_uuid(
            target, self.server['id'], expected_attrs=['system_metadata']
        )
        (migration,) = objects.MigrationList.get_by_filters(
            target, {'instance_uuid': instance.uuid}
        )
        task = conductor_manager.cross_cell_migrate.RevertResizeTask(
            target, instance, migration, None, None
        )
        task._update_instance_in_source_cell(
            objects.Instance.get_by_uuid(
                source,
                instance.uuid,
                expected_attrs=['flavor', 'info_cache', 'system_metadata'],
            )
        )
        return rows.of_server(source, instance.uuid)

    def aimed_at(self, cell):
        context = nova_context.get_admin_context()
        nova_context.set_target_cell(context, self.cell_mappings[cell])
        return context

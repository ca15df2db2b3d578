# SPDX-License-Identifier: Apache-2.0
"""What a server keeps when it moves to another cell (XC-06, XC-17, XC-30)."""

from oslo_utils.fixture import uuidsentinel as uuids

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.conductor.tasks import cross_cell_migrate as host_tasks
from nova.conductor.tasks import migrate
from nova.objects import trusted_certs

from tests.embedded import cloud
from tests.embedded import rows
from tests.functional import dest_hosts

#: What the host writes anew or otherwise, and why ours differs: a row keeps
#: the times it had.
TIMES = ('created_at', 'updated_at', 'deleted_at')


class CopyTest(dest_hosts.DestHostsTest):
    """Writes the copy of a server, as the conductor does it first."""

    def task(self, context, server):
        """Make the task of a move to cell2, as MigrationTask finds it."""
        # What nova-api loads for a cold migration.
        instance = objects.Instance.get_by_uuid(
            context,
            server['id'],
            expected_attrs=[
                'flavor',
                'info_cache',
                'metadata',
                'security_groups',
                'services',
                'system_metadata',
            ],
        )
        migration = objects.Migration(
            context,
            instance_uuid=instance.uuid,
            source_compute=instance.host,
            source_node=instance.node,
            migration_type='migration',
            status='pre-migrating',
            old_instance_type_id=instance.flavor.id,
            new_instance_type_id=instance.flavor.id,
        )
        if not hasattr(self, 'migration_uuid'):
            migration.create()
            self.migration_uuid = migration.uuid
        migration = objects.Migration.get_by_uuid(context, self.migration_uuid)
        selection = objects.Selection(
            service_host='host2',
            nodename='host2',
            cell_uuid=self.cell_mappings['cell2'].uuid,
        )
        return migrate.cross_cell_migrate.CrossCellMigrationTask(
            context,
            instance,
            instance.flavor,
            objects.RequestSpec(),
            migration,
            None,
            selection,
            [],
        )

    def aimed_at(self, cell):
        """Make a context like those of the conductor's tasks."""
        context = nova_context.get_admin_context()
        nova_context.set_target_cell(context, self.cell_mappings[cell])
        return context

    def copy(self, server):
        """Write the copy; return what the flow goes on with, and the rows."""
        task = self.task(self.aimed_at('cell1'), server)
        with rows.counted() as count:
            migration, _mapping = task._setup_target_cell_db()
        self.count = int(count)
        instance = task._target_cell_instance
        # The object loses it when the copy is deleted again.
        self.instance_id = instance.id
        with self.context_of('cell2') as context:
            found = rows.of_server(context, server['id'])
        instance.destroy(hard_delete=True)
        return instance, migration, found

    def host_copy(self, server):
        """Do the same with the host's own code."""
        task = self.task(self.aimed_at('cell1'), server)
        target = self.aimed_at('cell2')
        host = host_tasks.TargetDBSetupTask(
            task.context, task.instance, task.source_migration, target
        )
        with rows.counted() as count:
            host.execute()
        self.host_count = int(count)
        found = rows.of_server(target, server['id'])
        host.rollback(None)
        return found

    def source_rows(self, server):
        with self.context_of('cell1') as context:
            return rows.of_server(context, server['id'])


class TestRows(CopyTest):
    def boot_with_data(self):
        server = self.boot(data_volume=True)
        server_id = server['id']
        self.api.put_server_tags(server_id, ['red', 'blue'])
        self.api.post_server_metadata(server_id, {'mine': '1'})
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(context, server_id)
            instance.trusted_certs = trusted_certs.TrustedCerts(
                ids=[uuids.cert]
            )
            instance.keypairs = key_pairs()
            instance.access_ip_v4 = '192.0.2.7'
            instance.system_metadata['locked_reason'] = 'mine'
            instance.save()
            rows.add_history(context, server_id, 3)
            rows.write(
                context,
                'instance_faults',
                {
                    'instance_uuid': server_id,
                    'code': 500,
                    'message': 'it broke',
                    'host': 'host1',
                    'created_at': rows.BEGIN,
                },
            )
        return server

    def plain(self, found):
        """Leave out numbers, and what cannot be the same in two cells."""
        return {
            table: sorted(
                (
                    sorted(
                        (column, str(value))
                        for column, value in row.items()
                        if column not in ('id', 'action_id', *TIMES)
                    )
                    for row in table_rows
                ),
            )
            for table, table_rows in found.items()
        }

    def test_same_as_the_host_and_more(self):
        server = self.boot_with_data()
        host = self.plain(self.host_copy(server))
        _instance, _migration, found = self.copy(server)
        ours = self.plain(found)
        # The host leaves faults behind, and what was not loaded.
        self.assertNotIn('instance_faults', host)
        self.assertEqual(1, len(ours.pop('instance_faults')))
        (extra,), (host_extra,) = (
            ours.pop('instance_extra'),
            host.pop('instance_extra'),
        )
        for column, value in dict(host_extra).items():
            if value != 'None' and column not in ('flavor', 'keypairs'):
                self.assertEqual(value, dict(extra)[column], column)
        self.assertEqual('None', dict(host_extra)['trusted_certs'])
        self.assertIn(uuids.cert, dict(extra)['trusted_certs'])
        self.assertIn('ssh-mine', dict(extra)['keypairs'])
        # Without the port the address of the next copy would be taken.
        for found in (ours, host):
            for row in found['virtual_interfaces']:
                row[:] = [item for item in row if item[0] != 'address']
        self.assertEqual(host.keys(), ours.keys())
        for table in host:
            self.assertEqual(host[table], ours[table], table)

    def test_times_and_addresses_are_kept(self):
        """The host's copy of an action has the time of its first event as
        that of its last change."""
        server = self.boot_with_data()
        _instance, _migration, found = self.copy(server)
        source = self.source_rows(server)
        for table in (
            'instances',
            'virtual_interfaces',
            'instance_faults',
            'instance_actions',
            'instance_actions_events',
            'migrations',
        ):
            self.assertEqual(
                [self.kept(row) for row in source[table]],
                [self.kept(row) for row in found[table]],
                table,
            )

    def kept(self, row):
        return {
            column: value
            for column, value in row.items()
            if column not in ('id', 'action_id', 'hidden')
        }

    def test_what_the_flow_goes_on_with(self):
        server = self.boot_with_data()
        instance, migration, found = self.copy(server)
        self.assertTrue(instance.hidden)
        self.assertEqual(set(), instance.obj_what_changed())
        self.assertEqual(found['instances'][0]['id'], self.instance_id)
        self.assertEqual([uuids.cert], instance.trusted_certs.ids)
        self.assertEqual(self.migration_uuid, migration.uuid)
        self.assertEqual(
            [migration.id],
            [
                row['id']
                for row in found['migrations']
                if row['uuid'] == migration.uuid
            ],
        )
        self.assertEqual(
            instance._context.cell_uuid, self.cell_mappings['cell2'].uuid
        )

    def test_soft_deleted_rows_stay(self):
        server = self.boot_with_data()
        with self.context_of('cell1') as context:
            for table in ('instance_faults', 'virtual_interfaces'):
                rows.change(
                    context,
                    table,
                    server['id'],
                    deleted=1,
                    deleted_at=rows.BEGIN,
                )
            rows.write(
                context,
                'instance_faults',
                {
                    'instance_uuid': server['id'],
                    'code': 500,
                    'message': 'again',
                },
            )
        _instance, _migration, found = self.copy(server)
        self.assertNotIn('virtual_interfaces', found)
        self.assertEqual(
            ['again'], [row['message'] for row in found['instance_faults']]
        )

    def test_context_of_an_earlier_move_stays(self):
        """Its numbers are those of the source cell."""
        server = self.boot_with_data()
        with self.context_of('cell1') as context:
            rows.change(
                context, 'instance_extra', server['id'], migration_context='{}'
            )
        _instance, _migration, found = self.copy(server)
        self.assertIsNone(found['instance_extra'][0]['migration_context'])
        self.assertIn(uuids.cert, found['instance_extra'][0]['trusted_certs'])

    def test_nothing_is_left_when_it_fails(self):
        """One transaction: not even a deletion is needed."""
        server = self.boot_with_data()
        task = self.task(self.aimed_at('cell1'), server)
        # The one thing that is read when all is written.
        task.source_migration.uuid = uuids.unknown
        self.assertRaises(
            nova_exception.MigrationNotFound, task._setup_target_cell_db
        )
        self.assertEqual({}, task._completed_tasks)
        with self.context_of('cell2') as context:
            self.assertEqual({}, rows.of_server(context, server['id']))


class TestStatements(CopyTest):
    """No number of ours depends on the length of the history."""

    def count_for(self, actions, volumes):
        server = self.boot()
        with self.context_of('cell1') as context:
            rows.add_history(context, server['id'], actions)
            rows.add_volumes(context, server['id'], volumes)
        self.copy(server)
        return server

    def test_flat(self):
        self.count_for(actions=2, volumes=1)
        few = self.count
        del self.migration_uuid
        server = self.count_for(actions=100, volumes=20)
        self.assertEqual(few, self.count)
        self.host_copy(server)
        self.assertGreater(self.host_count, 10 * self.count)


class TestInstanceCopy(cloud.TwoCellCloud):
    def load(self, context, server):
        return objects.Instance.get_by_uuid(
            context,
            server['id'],
            expected_attrs=[
                'trusted_certs',
                'keypairs',
                'pci_requests',
                'numa_topology',
                'vcpu_model',
                'device_metadata',
                'flavor',
            ],
        )

    def extra_of(self, server, cell):
        with self.context_of(cell) as context:
            instance = self.load(context, server)
            return {
                'certs': instance.trusted_certs.ids,
                'keys': [pair.name for pair in instance.keypairs],
                'devices': instance.device_metadata is not None,
                'requests': instance.pci_requests is not None,
            }

    def events_of_the_move(self, server):
        with self.context_of('cell2') as context:
            found = rows.of_server(context, server['id'])
        (request,) = (
            action['request_id']
            for action in found['instance_actions']
            if action['action'] == 'migrate'
        )
        return {
            event['event']: event
            for event in found['instance_actions_events']
            if event['request_id'] == request
        }

    def test_history_of_the_move_is_complete(self):
        """The host leaves the source's part of it in the source cell, and
        events that it never ends in the target cell."""
        server = self.create_server()
        self.resize(server, host='host2')

        def check():
            events = self.events_of_the_move(server)
            self.assertIn(
                'compute_prep_snapshot_based_resize_at_source', events
            )
            self.assertIn('conductor_migrate_server', events)
            for name, event in events.items():
                self.assertEqual('Success', event['result'], name)
                self.assertIsNotNone(event['finish_time'], name)

        self._wait_for_assert(check, max_retries=50, sleep=0.1)
        self.confirm(server)
        check()

    def test_cold_migration_carries_all_of_it(self):
        """The API loads little for a cold migration; the host copies what is
        loaded and writes the rest as empty."""
        server = self.create_server()
        with self.context_of('cell1') as context:
            instance = self.load(context, server)
            instance.trusted_certs = trusted_certs.TrustedCerts(
                ids=[uuids.cert]
            )
            instance.keypairs = key_pairs()
            instance.device_metadata = objects.InstanceDeviceMetadata(
                devices=[]
            )
            instance.save()
        before = self.extra_of(server, 'cell1')
        self.assertEqual([uuids.cert], before['certs'])
        self.resize(server, host='host2')
        self.assertEqual(before, self.extra_of(server, 'cell2'))


def key_pairs():
    return objects.KeyPairList(
        objects=[
            objects.KeyPair(
                name='ssh-mine',
                type='ssh',
                public_key='k',
                fingerprint='f',
                user_id='u',
            )
        ]
    )

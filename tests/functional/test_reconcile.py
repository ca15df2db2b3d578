# SPDX-License-Identifier: Apache-2.0
"""Which moves the reconciler takes for its own (XC-27)."""

from unittest import mock

from oslo_utils.fixture import uuidsentinel as uuids

from nova import context as nova_context
from nova import objects
from nova.compute import instance_actions
from nova.compute import task_states
from nova.policies import base as base_policies
from nova.policies import servers as servers_policies

from nova_xcell.tasks import cross_cell_migrate
from nova_xcell.tasks import goal
from nova_xcell.tasks import lease
from nova_xcell.tasks import reconcile
from nova_xcell.tasks import services
from nova_xcell.tasks import way_back
from tests.embedded import injection
from tests.embedded import observe
from tests.functional import dest_hosts


class TestReconcile(dest_hosts.DestHostsTest):
    def findings(self):
        # Whoever drives a move has died.
        self.stub_out(
            'nova_xcell.tasks.lease.is_abandoned', lambda *args: True
        )
        return list(self.reconciler().findings())

    def reconciler(self):
        return reconcile.Reconciler(
            nova_context.get_admin_context(), services.Services.connect()
        )

    def set_task(self, cell, task_state):
        with self.context_of(cell) as context:
            instance = objects.Instance.get_by_uuid(context, self.server['id'])
            instance.task_state = task_state
            instance.save()

    def test_a_later_resize_in_the_cell_is_left_alone(self):
        """What a server does now is not of a move that is long over."""
        self.boot()
        self.resize(self.server, host='host2')
        self.confirm(self.server)
        self.policy.set_rules(
            {servers_policies.CROSS_CELL_RESIZE: base_policies.RULE_NOBODY},
            overwrite=False,
        )
        self.assert_taken_by_other_host_of_the_cell()
        for task_state in (None, task_states.RESIZE_REVERTING):
            self.set_task('cell2', task_state)
            self.assertEqual([], self.findings())

    def assert_taken_by_other_host_of_the_cell(self):
        server = self.resize(self.server, host='host3')
        self.assertEqual('VERIFY_RESIZE', server['status'])
        self.assertEqual(
            [True, False],
            [m.cross_cell_move for m in self.migrations('cell2')],
        )

    def make_up(self, uuid, **kwargs):
        """Write to cell2 that the server has moved there."""
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(
                context, self.server['id'], expected_attrs=['flavor']
            )
        with self.context_of('cell2') as context:
            objects.Instance(
                context,
                uuid=instance.uuid,
                project_id=instance.project_id,
                user_id=instance.user_id,
                flavor=instance.flavor,
                host='host2',
                hidden=True,
                vm_state='resized',
                system_metadata={},
            ).create()
            objects.Migration(
                context,
                uuid=uuid,
                instance_uuid=instance.uuid,
                migration_type='resize',
                status='finished',
                cross_cell_move=True,
                **{
                    'source_compute': 'host1',
                    'dest_compute': 'host2',
                    **kwargs,
                },
            ).create()

    def assert_is_left_alone(self, words):
        (finding,) = self.findings()
        self.assertIn(words, finding.waits)
        self.assertIsNone(finding.goal)
        self.reconciler().run()
        server = self.api.get_server(self.server['id'])
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])
        self.delete(server)

    def test_move_that_another_cell_makes_up(self):
        """Who can write to one cell gets no servers of the others."""
        self.boot()
        self.make_up(uuids.migration)
        self.assert_is_left_alone('knows nothing of migration')

    def test_other_direction_that_another_cell_makes_up(self):
        self.boot()
        self.resize(self.server, host='host2')
        self.revert(self.server)
        (migration,) = self.migrations()
        with self.context_of('cell2') as context:
            for left in objects.MigrationList.get_by_filters(
                context, {'instance_uuid': self.server['id']}
            ):
                self.fail('%s is left' % left)
        self.make_up(migration.uuid, source_compute='host3')
        self.assert_is_left_alone('contradict each other')

    def test_move_that_is_over_made_up_once_more(self):
        """The record goes where it was made up; the server stays."""
        self.boot()
        self.resize(self.server, host='host2')
        self.revert(self.server)
        self.api.post_server_action(
            self.server['id'], {'reboot': {'type': 'SOFT'}}
        )
        self.wait_for_rest(self.server)
        (migration,) = self.migrations()
        before = observe.snapshot(self, self.server['id'])
        self.make_up(migration.uuid)
        (finding,) = self.findings()
        driver = self.computes['host1'].manager.driver
        with mock.patch.object(driver, 'spawn') as spawn:
            self.reconciler().heal(finding)
        spawn.assert_not_called()
        self.assertEqual([], self.findings())
        self.assertEqual([], self.wait_for_no_leak(self.server))
        after = observe.snapshot(self, self.server['id'])
        for field in ('records', 'mapping', 'allocations', 'guests'):
            self.assertEqual(
                getattr(before, field), getattr(after, field), field
            )

    def test_end_of_a_decision_is_notified(self):
        """XC-21: as if the conductor had not died."""
        self.boot()
        self.resize(self.server, host='host2')
        with self.context_of('cell2') as context:
            objects.InstanceAction.action_start(
                context, self.server['id'], instance_actions.CONFIRM_RESIZE
            )
        (migration,) = self.migrations('cell2')
        migration.status = 'confirming'
        migration.save()
        (finding,) = self.findings()
        self.assertIsNone(self.reconciler().heal(finding))
        (sent,) = self.notifier.wait_for_versioned_notifications(
            'instance.resize_confirm.end'
        )
        self.assertEqual(
            self.server['id'], sent['payload']['nova_object.data']['uuid']
        )
        self.assertEqual([], self.wait_for_no_leak(self.server))

    def test_conductor_dies_when_the_guest_runs_again(self):
        """Nothing but a mark tells that the move is not undone yet."""
        self.boot()
        driver = self.computes['host2'].manager.driver
        with (
            mock.patch.object(driver, 'spawn', side_effect=RuntimeError),
            # The conductor of the move.
            mock.patch.object(
                cross_cell_migrate.CrossCellMigrationTask,
                '_finish_after',
                return_value=False,
            ),
        ):
            self.resize(self.server, host='host2')
        (finding,) = self.findings()
        with mock.patch.object(
            way_back.WayBack, '_tidy', side_effect=injection.ProcessDeath
        ):
            self.assertRaises(
                injection.ProcessDeath, self.reconciler().heal, finding
            )
        server = self.api.get_server(self.server['id'])
        self.assertIsNone(server['OS-EXT-STS:task_state'])
        self.assertEqual('reverted', self.migrations()[0].status)
        (finding,) = self.findings()
        self.assertIsNone(self.reconciler().heal(finding))
        self.assertEqual([], self.findings())
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))
        self.assertEqual('error', self.migrations()[0].status)

    def test_touching_does_not_change_what_is_shown(self):
        """XC-07: nova-api shows the newer of the two records of a move."""
        self.boot()
        self.resize(self.server, host='host2')
        for cell in ('cell2', 'cell1'):
            (migration,) = self.migrations(cell)
            self.assertTrue(lease.take(migration, cell == 'cell1'))
        (shown,) = self.admin_api.api_get('/os-migrations').body['migrations']
        self.assertEqual('finished', shown['status'])

    def test_a_task_that_nobody_works_on(self):
        """All the rest of the move is gone already."""
        self.boot()
        self.fail_snapshot()
        self.resize(self.server, host='host2')
        # As in the host, the audit of the tracker drops host2's claim.
        self.assertEqual([], self.wait_for_no_leak(self.server, upkeep=True))
        self.assertEqual([], self.findings())
        self.set_task('cell1', task_states.RESIZE_MIGRATING)
        (finding,) = self.findings()
        self.assertIs(goal.Goal.ROLL_BACK, finding.goal)
        self.assertIsNone(self.reconciler().heal(finding))
        self.assert_as_before()
        self.assertEqual([], self.findings())

# SPDX-License-Identifier: Apache-2.0
"""A source host that is restarted while a server moves (XC-11, XC-13)."""

import fixtures

from nova import objects
from nova.compute import power_state
from nova.compute import task_states

from tests.embedded import cloud
from tests.embedded import observe
from tests.functional import dest_hosts


class TestSourceRestart(cloud.TwoCellCloud):
    def setUp(self):
        super().setUp()
        self.flags(resume_guests_state_on_host_boot=True)
        self.server = self.resize(
            self.create_server(data_volume=True), host='host2'
        )
        self.assertEqual('VERIFY_RESIZE', self.server['status'])
        self.before = observe.snapshot(self, self.server['id'])

    def record_driver(self, compute, *methods):
        """Note which servers a driver is asked to do something for."""
        driver = type(compute.manager.driver)
        asked = []

        def noting(name, method):
            def note(driver_self, *args, **kwargs):
                asked.extend(
                    (driver_self._host, name, value.uuid)
                    for value in args
                    if isinstance(value, objects.Instance)
                )
                return method(driver_self, *args, **kwargs)

            return note

        for name in methods:
            self.useFixture(
                fixtures.MockPatchObject(
                    driver, name, noting(name, getattr(driver, name))
                )
            )
        return asked

    def restart(self, host):
        self.flags(host=host)
        compute = self.restart_compute_service(self.computes[host])
        self.flags(host='controller')
        self.computes[host] = compute
        return compute

    def set_power_state(self, state):
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(context, self.server['id'])
            instance.power_state = state
            instance.save()

    def assert_untouched(self):
        after = observe.snapshot(self, self.server['id'])
        for field in ('records', 'mapping', 'bindings', 'guests'):
            self.assertEqual(
                getattr(self.before, field), getattr(after, field), field
            )
        self.assertEqual([], self.wait_for_no_leak(self.server))

    def test_restart(self):
        """Ports stay with the destination, and no second guest is made."""
        asked = self.record_driver(
            self.computes['host1'], 'plug_vifs', 'resume_state_on_host_boot'
        )
        # As after a source host that lost power while the guest was leaving.
        self.set_power_state(power_state.RUNNING)
        self.restart('host2')
        self.assertEqual([('host2', 'plug_vifs', self.server['id'])], asked)
        del asked[:]
        self.restart('host1')
        self.assertEqual([], asked)
        self.assert_untouched()
        self.revert(self.server)
        self.assertEqual([], self.wait_for_no_leak(self.server))

    def test_periodic_tasks(self):
        """The healing of the network would take the ports back."""
        manager = self.computes['host1'].manager
        self.flags(
            running_deleted_instance_action='reap',
            running_deleted_instance_timeout=0,
        )
        with self.context_of('cell1') as context:
            for task in (
                '_heal_instance_info_cache',
                '_sync_power_states',
                '_cleanup_running_deleted_instances',
                '_cleanup_incomplete_migrations',
                '_run_pending_deletes',
                '_poll_volume_usage',
                '_poll_unconfirmed_resizes',
                '_check_instance_build_time',
                'update_available_resource',
            ):
                getattr(manager, task)(context)
        self._wait_for_assert(
            lambda: self.assertFalse(manager._syncs_in_progress),
            max_retries=50,
            sleep=0.1,
        )
        self.assert_untouched()
        self.confirm(self.server)
        self.assertEqual([], self.wait_for_no_leak(self.server))


class TestRestartWhileGuestIsOff(dest_hosts.DestHostsTest):
    """XC-11: the guest that the move has powered off is not started early."""

    def restart(self):
        """Restart nova-compute; return the task that the server has then."""
        manager = self.computes['host1'].manager
        with self.context_of('cell1') as context:
            objects.Migration(
                context,
                instance_uuid=self.server['id'],
                source_compute='host1',
                dest_compute='host2',
                migration_type='migration',
                status='migrating',
                cross_cell_move=True,
            ).create()
            instance = objects.Instance.get_by_uuid(context, self.server['id'])
            instance.task_state = task_states.RESIZE_MIGRATING
            instance.save()
            manager._init_instance(context, instance)
            instance.refresh()
        return instance.task_state

    def test_conductor_is_at_work(self):
        """The host starts the guest, without network, and clears the task."""
        self.boot()
        self.assertEqual(task_states.RESIZE_MIGRATING, self.restart())

    def test_conductor_is_dead(self):
        self.boot()
        self.stub_out(
            'nova_xcell.tasks.lease.is_abandoned', lambda *args: True
        )
        self.assertIsNone(self.restart())

# SPDX-License-Identifier: Apache-2.0
"""A source host that cannot let a server go (XC-11)."""

import fixtures

from nova import objects
from nova.compute import manager
from nova.compute import power_state
from nova.network import neutron

from tests.functional import dest_hosts


class TestSourceHost(dest_hosts.DestHostsTest):
    def test_guest_runs_again_after_a_failed_snapshot(self):
        """Plain Nova leaves it powered off, and the server ACTIVE."""
        server = self.boot()
        self.fail_snapshot()
        self.resize(server, host='host2')
        # As in the host, the audit of the tracker drops host2's claim.
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))
        self.assert_as_before()
        self.assertEqual(power_state.RUNNING, self.power_state())
        self.assert_reason_is_told('it died in mid-upload')

    def test_guest_is_not_taken_for_shut_down_by_its_user(self):
        """The sync of power states runs while the move is undone."""
        # A host with the plug-ins does that itself.
        self.stub_out(
            'nova_xcell.tasks.source_guest.SourceGuest.hold',
            lambda *args: None,
        )
        self.check_sync_while_undone()

    def test_the_same_with_a_plain_host(self):
        """It takes the task off."""
        self.stub_out(
            'nova_xcell.compute.manager.ComputeManager._instance_update',
            manager.ComputeManager._instance_update,
        )
        self.check_sync_while_undone()

    def check_sync_while_undone(self):
        server = self.boot()
        self.fail_snapshot()
        host = self.computes['host1'].manager
        delete, skipped = neutron.API.delete_port_binding, []

        def sync(*args, **kwargs):
            with self.context_of('cell1') as context:
                instance = objects.Instance.get_by_uuid(context, server['id'])
                host._query_driver_power_state_and_sync(context, instance)
                skipped.append(instance.task_state)
            return delete(*args, **kwargs)

        self.useFixture(
            fixtures.MockPatchObject(neutron.API, 'delete_port_binding', sync)
        )
        self.resize(server, host='host2')
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))
        self.assertTrue(skipped)
        self.assert_as_before()
        self.assertEqual(power_state.RUNNING, self.power_state())

    def test_stopped_guest_stays_stopped(self):
        server = self.boot()
        server = self._stop_server(server)
        self.fail_snapshot()
        self.resize(server, host='host2')
        server = self.api.get_server(server['id'])
        self.assertEqual('SHUTOFF', server['status'])
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))
        self.assertEqual(power_state.SHUTDOWN, self.power_state())

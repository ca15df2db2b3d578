# SPDX-License-Identifier: Apache-2.0
"""A move that cannot be undone while its host is away (XC-19, XC-27)."""

import fixtures

from nova import context as nova_context
from nova import exception
from nova.compute import power_state
from nova.tests.functional.api import client

from nova_xcell.tasks import reconcile
from nova_xcell.tasks import services
from tests.functional import dest_hosts


class TestWaitingMove(dest_hosts.DestHostsTest):
    def force_down(self, down):
        service = self.computes['host2'].service_ref
        self.admin_api.put_service_force_down(service.uuid, down)

    def lose_destination(self):
        """Let the destination fail when it has a guest, and be gone then."""
        host = self.computes['host2'].manager
        spawn = host._finish_snapshot_based_resize_at_dest_spawn

        def fail(*args, **kwargs):
            spawn(*args, **kwargs)
            self.force_down(True)
            raise exception.NovaException('it has died')

        self.useFixture(
            fixtures.MockPatchObject(
                host, '_finish_snapshot_based_resize_at_dest_spawn', fail
            )
        )
        self.boot()
        return self.resize_until_it_waits()

    def resize_until_it_waits(self):
        self.api.post_server_action(
            self.server['id'], {'migrate': {'host': 'host2'}}
        )
        self._wait_for_action_fail_completion(
            self.server, 'migrate', 'conductor_migrate_server'
        )
        return self.api.get_server(self.server['id'])

    def reconcile(self):
        self.stub_out(
            'nova_xcell.tasks.lease.is_abandoned', lambda *args: True
        )
        reconcile.Reconciler(
            nova_context.get_admin_context(), services.Services.connect()
        ).run()

    def test_no_second_guest_and_back_when_it_is_back(self):
        server = self.lose_destination()
        self.assertEqual('ERROR', server['status'])
        self.assertEqual('resize_migrated', server['OS-EXT-STS:task_state'])
        # Plain Nova starts a second guest.
        error = self.assertRaises(
            client.OpenStackApiException,
            self.api.post_server_action,
            server['id'],
            {'reboot': {'type': 'HARD'}},
        )
        self.assertEqual(409, error.response.status_code)
        self.reconcile()
        self.assertEqual(server, self.api.get_server(server['id']))
        self.force_down(False)
        self.reconcile()
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))
        self.assertEqual(power_state.RUNNING, self.power_state())
        # As the host leaves it when the destination has failed.
        self.assertEqual('ERROR', self.api.get_server(server['id'])['status'])
        self._reboot_server(server, hard=True)
        self.assert_as_before()
        self.assertEqual(['error'], [m.status for m in self.migrations()])

    def test_deleted_meanwhile(self):
        server = self.lose_destination()
        self.delete(server)
        self.force_down(False)
        self.reconcile()
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))
        self.assertEqual(
            [], self.computes['host2'].manager.driver.list_instances()
        )

# SPDX-License-Identifier: Apache-2.0
"""A destination host that cannot take a server (XC-05, XC-08, XC-09)."""

import fixtures
import oslo_messaging as messaging

from nova.compute import rpcapi

from nova_xcell.tasks import cross_cell_migrate
from tests.embedded import observe
from tests.functional import dest_hosts


class _Scenarios:
    """What must happen whatever is wrong with the host."""

    #: What the user must be told.
    reason = ''

    def test_alternate_takes_the_server(self):
        server = self.boot(data_volume=True)
        self.fail_host('host2')
        self.resize(server)
        self.assert_taken_by('host3')
        self.confirm(server)
        self.assertEqual([], self.wait_for_no_leak(server))

    def test_alternate_takes_a_volume_backed_server_and_gives_it_back(self):
        server = self.boot(volume_backed=True, data_volume=True)
        self.fail_host('host2')
        self.resize(server)
        self.assert_taken_by('host3')
        self.revert(server)
        self.assertEqual([], self.wait_for_no_leak(server))

    def test_no_host_takes_the_server(self):
        server = self.boot(data_volume=True)
        for host in ('host2', 'host3'):
            self.fail_host(host)
        self.resize(server)
        self.assert_as_before()
        self.assert_reason_is_told('host2: ', 'host3: ', self.reason)
        # The server is as usable as it was, also for a second try.
        self.mend()
        self.resize(server)
        self.assert_taken_by('host2')

    def test_no_host_takes_a_stopped_server(self):
        server = self.boot(data_volume=True)
        self.api.post_server_action(server['id'], {'os-stop': None})
        self.wait_for_status(server, 'SHUTOFF')
        self.before = observe.snapshot(self, server['id'])
        for host in ('host2', 'host3'):
            self.fail_host(host)
        self.resize(server)
        self.assert_as_before('SHUTOFF')

    def test_named_host_does_not_take_the_server(self):
        server = self.boot(data_volume=True)
        self.fail_host('host3')
        self.resize(server, host='host3')
        self.assert_as_before()
        self.assert_reason_is_told('host3: ', self.reason)


class TestClaimRefused(_Scenarios, dest_hosts.DestHostsTest):
    """The resource tracker of the host says no."""

    reason = 'the host is full'

    def fail_host(self, host):
        self.refuse_claim(host)


class TestBindingRefused(_Scenarios, dest_hosts.DestHostsTest):
    """Neutron cannot bind the server's port on the host."""

    reason = 'Failed to create port bindings'

    def fail_host(self, host):
        self.refuse_binding(host)


class TestVolumeUnreachable(_Scenarios, dest_hosts.DestHostsTest):
    """The host has no path to the data volume (XC-08)."""

    reason = 'cannot be connected'

    def fail_host(self, host):
        self.make_volume_unreachable(self.volumes_of(self.server)[-1], host)

    def test_source_is_not_touched(self):
        server = self.boot(data_volume=True)
        for host in ('host2', 'host3'):
            self.fail_host(host)
        asked = []
        self.on_volume_check = lambda host, volume, answer: asked.append(
            (host, answer)
        )
        for host in ('host2', 'host3'):
            self.computes[host].manager.driver.observer = self.on_volume_check
        self.resize(server)
        self.assertEqual([('host2', False), ('host3', False)], asked)
        events = {event['event'] for event in self._events()}
        self.assertNotIn(
            'compute_prep_snapshot_based_resize_at_source', events
        )

    def _events(self):
        actions = self.api.get_instance_actions(self.server['id'])
        resize = [
            action for action in actions if action['action'] == 'resize'
        ][0]
        return self.api.api_get(
            '/servers/%s/os-instance-actions/%s'
            % (self.server['id'], resize['request_id'])
        ).body['instanceAction']['events']

    def test_driver_that_cannot_tell_does_not_block(self):
        server = self.boot(data_volume=True)

        def cannot_tell(*args):
            raise NotImplementedError()

        self.stub_out(
            'nova.virt.fake.StoragePathFakeDriver.can_connect_volume',
            cannot_tell,
        )
        self.resize(server)
        self.assert_taken_by('host2')

    def test_driver_without_the_method_does_not_block(self):
        server = self.boot(data_volume=True)
        driver = self.computes['host2'].manager.driver
        self.addCleanup(
            setattr,
            type(driver),
            'can_connect_volume',
            type(driver).can_connect_volume,
        )
        del type(driver).can_connect_volume
        self.resize(server)
        self.assert_taken_by('host2')


class TestTimeoutBeforeWork(_Scenarios, dest_hosts.DestHostsTest):
    """The request to prepare gets lost."""

    reason = 'RPC timeout'

    def fail_host(self, host):
        self.time_out_prep(host, after_work=False)


class TestTimeoutAfterWork(_Scenarios, dest_hosts.DestHostsTest):
    """The host has claimed, and its answer gets lost (XC-19)."""

    reason = 'RPC timeout'

    def fail_host(self, host):
        self.time_out_prep(host, after_work=True)


class TestNoAnswer(dest_hosts.DestHostsTest):
    """A host that is gone is not asked to prepare (XC-09)."""

    def test_service_reported_down(self):
        server = self.boot(data_volume=True)
        service_id = self.admin_api.get_services(
            host='host2', binary='nova-compute'
        )[0]['id']
        self.admin_api.put_service_force_down(service_id, True)
        # The scheduler would not choose it; it goes down right afterwards.
        self.stub_out(
            'nova.scheduler.filters.compute_filter.ComputeFilter.host_passes',
            lambda *args: True,
        )
        self.resize(server)
        self.assert_taken_by('host3')

    def test_service_does_not_answer(self):
        self.flags(rpc_response_timeout=2)
        server = self.boot(data_volume=True)
        for host in ('host2', 'host3'):
            self.computes[host].stop()
        self.resize(server)
        self.assert_as_before()
        self.assert_reason_is_told(
            'host2: its nova-compute service does not answer',
            'host3: its nova-compute service does not answer',
        )


class TestLateRequest(dest_hosts.DestHostsTest):
    """A request that was lost turns up when the move has gone on (XC-19)."""

    def setUp(self):
        super().setUp()
        self.requests = []
        self.deliver = None
        original = rpcapi.ComputeAPI.prep_snapshot_based_resize_at_dest

        def lose(api, ctxt, *args):
            if args[-1] == 'host2':
                self.requests.append((ctxt, args[:-2]))
                raise messaging.MessagingTimeout()
            return original(api, ctxt, *args)

        self.useFixture(
            fixtures.MockPatchObject(
                rpcapi.ComputeAPI, 'prep_snapshot_based_resize_at_dest', lose
            )
        )

    def late_request(self):
        ((context, arguments),) = self.requests
        self.computes['host2'].manager.prep_snapshot_based_resize_at_dest(
            context, *arguments
        )

    def assert_refused(self):
        self.assertRaises(messaging.ExpectedException, self.late_request)
        self.assertEqual(
            {}, self.computes['host2'].manager.rt.tracked_migrations
        )

    def test_refused(self):
        server = self.boot(data_volume=True)
        self.resize(server)
        self.assert_taken_by('host3')
        self.assert_refused()
        self.assert_taken_by('host3')

    def test_refused_by_a_service_that_started_again(self):
        """The records tell it, not only its memory."""
        server = self.boot(data_volume=True)
        self.resize(server)
        manager = self.computes['host2'].manager
        manager.xcell_preparations = type(manager.xcell_preparations)()
        self.assert_refused()
        self.assert_taken_by('host3')

    def test_refused_after_the_move_was_given_up(self):
        server = self.boot(data_volume=True)
        self.refuse_claim('host3')
        self.resize(server)
        manager = self.computes['host2'].manager
        manager.xcell_preparations = type(manager.xcell_preparations)()
        self.assert_refused()
        self.assert_as_before()


class TestPlacement(dest_hosts.DestHostsTest):
    """Resources are released before others are claimed (XC-09)."""

    def test_no_answer_when_releasing(self):
        server = self.boot(data_volume=True)
        self.refuse_claim('host2')
        # What the report client makes of a connection that fails.
        self.stub_out(
            'nova.scheduler.client.report.SchedulerReportClient.'
            'delete_allocation_for_instance',
            lambda *args: None,
        )
        self.resize(server)
        self.assert_as_before()
        self.assert_reason_is_told('could not be released in placement')

    def test_alternate_is_full_by_now(self):
        server = self.boot(data_volume=True)
        self.refuse_claim('host2')
        provider = self._get_provider_uuid_by_host('host3')
        inventories = self._get_provider_inventory(provider)
        for inventory in inventories.values():
            inventory['reserved'] = inventory['total'] - 1
        claim = cross_cell_migrate.dest_allocation.claim

        def fill_up_first(*args):
            self._update_inventory(
                provider,
                {
                    'inventories': inventories,
                    'resource_provider_generation': self.placement.get(
                        '/resource_providers/%s' % provider
                    ).body['generation'],
                },
            )
            return claim(*args)

        self.stub_out('nova_xcell.tasks.dest_allocation.claim', fill_up_first)
        self.resize(server)
        self.assert_as_before()
        self.assert_reason_is_told(
            'host2: ', 'host3: its resources could not be claimed'
        )

    def test_source_whose_resources_are_not_held_by_the_migration(self):
        """The server keeps them: only the failed host's are released."""
        self.stub_out(
            'nova.conductor.tasks.migrate.replace_allocation_with_migration',
            lambda *args: (None, None),
        )
        server = self.boot(data_volume=True)
        for host in ('host2', 'host3'):
            self.refuse_claim(host)
        self.resize(server)
        self.assert_as_before()


class TestCrossCellMove(dest_hosts.DestHostsTest):
    def test_flag_and_records_from_the_start(self):
        """XC-05, and the copy is complete for a cold migration (XC-06)."""
        server = self.boot(data_volume=True)
        self.resize(server, host='host2')
        self.assert_taken_by('host2')
        for cell in self.HOSTS:
            self.assertEqual(
                [True], [m.cross_cell_move for m in self.migrations(cell)]
            )

    def test_deleted_meanwhile_is_not_tried_elsewhere(self):
        server = self.boot(data_volume=True)
        volume = self.volumes_of(server)[-1]
        self.make_volume_unreachable(volume, 'host2')
        asked = []

        def delete_while_asked(host, volume_id, answer):
            asked.append(host)
            self.api.delete_server(server['id'])

        self.computes['host2'].manager.driver.observer = delete_while_asked
        self.computes['host3'].manager.driver.observer = delete_while_asked
        self.api.post_server_action(
            server['id'],
            {'resize': {'flavorRef': self.api.get_flavors()[1]['id']}},
        )
        self._wait_until_deleted(server)
        self.assertEqual(['host2'], asked)
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))


class TestManyHosts(dest_hosts.DestHostsTest):
    HOSTS = {
        'cell1': ('host1',),
        'cell2': ('host2', 'host3', 'host4', 'host5'),
    }

    def test_each_alternate_fails_in_its_own_way(self):
        self.flags(max_attempts=4, group='scheduler')
        server = self.boot(data_volume=True)
        self.refuse_claim('host2')
        self.refuse_binding('host3')
        self.make_volume_unreachable(self.volumes_of(server)[-1], 'host4')
        self.resize(server)
        self.assert_taken_by('host5')

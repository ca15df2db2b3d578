# SPDX-License-Identifier: Apache-2.0
"""A destination host that cannot take a server (XC-05, XC-08, XC-09)."""

from nova import objects
from nova.objects import instance_action

from nova_xcell import loader
from tests.embedded import cloud
from tests.embedded import invariants
from tests.embedded import observe


class _DestHostsTest(cloud.TwoCellCloud):

    def setUp(self):
        super().setUp()
        if loader.armed():
            # There is no slow host here: each is asked once.
            self.flags(prep_settle_timeout=0, group='xcell')

    def boot(self, **kwargs):
        self.server = self.create_server(**kwargs)
        self.before = observe.snapshot(self, self.server['id'])
        return self.server

    def fail_host(self, host):
        """Make a destination host fail; one way for each test class."""
        raise NotImplementedError()

    def migrations(self, cell='cell1'):
        with self.context_of(cell) as context:
            return objects.MigrationList.get_by_filters(
                context, {'instance_uuid': self.server['id']})

    def assert_taken_by(self, host):
        server = self.api.get_server(self.server['id'])
        self.assertEqual('VERIFY_RESIZE', server['status'])
        self.assertEqual(host, server['OS-EXT-SRV-ATTR:host'])
        self.assertEqual([], self.wait_for_no_leak(server))

    def assert_as_before(self, status='ACTIVE'):
        server = self.api.get_server(self.server['id'])
        self.assertEqual(status, server['status'])
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])
        self.assertEqual([], self.wait_for_no_leak(server))
        after = observe.snapshot(self, server['id'])
        for field in ('records', 'mapping', 'allocations', 'bindings',
                      'attachments', 'guests', 'vcpus'):
            self.assertEqual(
                getattr(self.before, field), getattr(after, field), field)

    def assert_reason_is_told(self, *words):
        """The real reason is the fault, in the event and at the migration."""
        with self.context_of('cell1') as context:
            fault = objects.InstanceFault.get_latest_for_instance(
                context, self.server['id'])
            action = [action for action in
                      objects.InstanceActionList.get_by_instance_uuid(
                          context, self.server['id'])
                      if action.action in ('resize', 'migrate')][0]
            events = instance_action.InstanceActionEventList.get_by_action(
                context, action.id)
        self.assertEqual(['error'], [m.status for m in self.migrations()])
        self.assertTrue(self.migrations()[0].cross_cell_move)
        details = [event.details or '' for event in events
                   if event.result == 'Error']
        for word in words:
            self.assertIn(word, fault.message + (fault.details or ''))
            self.assertTrue(any(word in text for text in details), details)


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


class TestClaimRefused(_Scenarios, _DestHostsTest):
    """The resource tracker of the host says no."""

    reason = 'the host is full'

    def fail_host(self, host):
        self.refuse_claim(host)


class TestBindingRefused(_Scenarios, _DestHostsTest):
    """Neutron cannot bind the server's port on the host."""

    reason = 'Failed to create port bindings'

    def fail_host(self, host):
        self.refuse_binding(host)


class TestVolumeUnreachable(_Scenarios, _DestHostsTest):
    """The host has no path to the data volume (XC-08)."""

    reason = 'cannot be connected to host'

    def fail_host(self, host):
        self.make_volume_unreachable(self.volumes_of(self.server)[-1], host)

    def test_source_is_not_touched(self):
        server = self.boot(data_volume=True)
        for host in ('host2', 'host3'):
            self.fail_host(host)
        asked = []
        self.on_volume_check = lambda host, volume, answer: asked.append(
            (host, answer))
        for host in ('host2', 'host3'):
            self.computes[host].manager.driver.observer = self.on_volume_check
        self.resize(server)
        self.assertEqual([('host2', False), ('host3', False)], asked)
        events = {event['event'] for event in self._events()}
        self.assertNotIn(
            'compute_prep_snapshot_based_resize_at_source', events)

    def _events(self):
        actions = self.api.get_instance_actions(self.server['id'])
        resize = [action for action in actions
                  if action['action'] == 'resize'][0]
        return self.api.api_get(
            '/servers/%s/os-instance-actions/%s' % (
                self.server['id'], resize['request_id'])
        ).body['instanceAction']['events']

    def test_driver_that_cannot_tell_does_not_block(self):
        server = self.boot(data_volume=True)

        def cannot_tell(*args):
            raise NotImplementedError()

        self.stub_out('nova.virt.fake.StoragePathFakeDriver.'
                      'can_connect_volume', cannot_tell)
        self.resize(server)
        self.assert_taken_by('host2')

    def test_driver_without_the_method_does_not_block(self):
        server = self.boot(data_volume=True)
        driver = self.computes['host2'].manager.driver
        self.addCleanup(
            setattr, type(driver), 'can_connect_volume',
            type(driver).can_connect_volume)
        del type(driver).can_connect_volume
        self.resize(server)
        self.assert_taken_by('host2')


class TestTimeoutBeforeWork(_Scenarios, _DestHostsTest):
    """The request to prepare gets lost."""

    reason = 'RPC timeout'

    def fail_host(self, host):
        self.time_out_prep(host, after_work=False)


class TestTimeoutAfterWork(_Scenarios, _DestHostsTest):
    """The host has claimed, and its answer gets lost (XC-19)."""

    reason = 'RPC timeout'

    def fail_host(self, host):
        self.time_out_prep(host, after_work=True)


class TestCrossCellMove(_DestHostsTest):

    def test_flag_and_records_from_the_start(self):
        """XC-05, and the copy is complete for a cold migration (XC-06)."""
        server = self.boot(data_volume=True)
        self.resize(server, host='host2')
        self.assert_taken_by('host2')
        for cell in self.HOSTS:
            self.assertEqual(
                [True], [m.cross_cell_move for m in self.migrations(cell)])

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
        self.api.post_server_action(server['id'], {
            'resize': {'flavorRef': self.api.get_flavors()[1]['id']}})
        self._wait_until_deleted(server)
        self.assertEqual(['host2'], asked)
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))


class TestManyHosts(_DestHostsTest):

    HOSTS = {'cell1': ('host1',),
             'cell2': ('host2', 'host3', 'host4', 'host5')}

    def test_each_alternate_fails_in_its_own_way(self):
        self.flags(max_attempts=4, group='scheduler')
        server = self.boot(data_volume=True)
        self.refuse_claim('host2')
        self.refuse_binding('host3')
        self.make_volume_unreachable(self.volumes_of(server)[-1], 'host4')
        self.resize(server)
        self.assert_taken_by('host5')
        self.assertEqual(
            [], invariants.leaks(observe.snapshot(self, server['id'])))

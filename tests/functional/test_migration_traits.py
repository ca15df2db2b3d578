# SPDX-License-Identifier: Apache-2.0
"""Which hosts a server is offered that wishes how to be migrated (MF-04)."""

import fixtures

from nova.virt import fake

from tests.functional import migration_wishes

POST_COPY = migration_wishes.POST_COPY
AUTO_CONVERGE = migration_wishes.AUTO_CONVERGE


class _Kvm(fixtures.Fixture):
    """Let the fake driver be one that could report the traits.

    :param other: the host with another hypervisor, which never will
    """

    def __init__(self, other):
        super().__init__()
        self.other = other

    def _setUp(self):
        get = fake.FakeDriver.get_available_resource

        def get_available_resource(driver, nodename):
            resources = get(driver, nodename)
            if nodename != self.other:
                resources['hypervisor_type'] = 'QEMU'
            return resources

        self.useFixture(
            fixtures.MockPatchObject(
                fake.FakeDriver,
                'get_available_resource',
                get_available_resource,
            )
        )


class _Traits(migration_wishes.WishesTest):
    """host1 is preferred, unless something else is required."""

    def boot_host(self, *args, **kwargs):
        return self.host_of(self.boot(*args, **kwargs))

    def fill(self, host):
        """Leave no room on a host."""
        provider = self._get_provider_uuid_by_host(host)
        inventory = self._get_provider_inventory(provider)
        memory = inventory['MEMORY_MB']
        memory['reserved'] = memory['total'] - 1
        self._update_inventory(
            provider,
            {
                'resource_provider_generation': (
                    self._get_resource_provider_by_uuid(provider)
                )['generation'],
                'inventories': inventory,
            },
        )

    def assert_no_host(self, *args, **kwargs):
        server = self.api.post_server(
            {'server': self.request(*args, **kwargs)}
        )
        self.ports[server['id']] = []
        server = self.wait_for_status(server, 'ERROR')
        self.assertIn('No valid host', server['fault']['message'])


class TestUpgraded(_Traits):
    """Every host that can report the traits does."""

    def setUp(self):
        super().setUp()
        self.report('host1', AUTO_CONVERGE)
        self.report('host2', POST_COPY)

    def test_true_needs_a_host_that_can(self):
        """From the flavor and from the image."""
        self.assertEqual(
            'host2', self.boot_host(self.flavor(post_copy='true'))
        )
        self.assertEqual(
            'host2', self.boot_host(image=self.image(post_copy='true'))
        )
        self.report('host1', POST_COPY)
        self.report('host2', AUTO_CONVERGE)
        self.assertEqual(
            'host2', self.boot_host(self.flavor(auto_converge='true'))
        )
        self.assertEqual(
            'host2', self.boot_host(image=self.image(auto_converge='true'))
        )

    def test_false_and_unset_need_nothing(self):
        for wishes in ({}, {'post_copy': 'false', 'auto_converge': 'false'}):
            self.assertEqual('host1', self.boot_host(self.flavor(**wishes)))
        self.report('host1')
        self.report('host2', AUTO_CONVERGE, POST_COPY)
        for wishes in ({}, {'post_copy': 'false', 'auto_converge': 'false'}):
            self.assertEqual(
                'host1', self.boot_host(image=self.image(**wishes))
            )

    def test_no_host_that_can(self):
        """A host whose driver never will is not taken for one that can."""
        self.fill('host2')
        self.assert_no_host(self.flavor(post_copy='true'))
        self.assert_no_host(image=self.image(post_copy='true'))

    def test_resize(self):
        server = self.boot()
        self.assertEqual('host1', self.host_of(server))
        self.flags(allow_resize_to_same_host=True)
        flavor = self.flavor(post_copy='true')
        self.api.post_server_action(
            server['id'], {'resize': {'flavorRef': flavor}}
        )
        self.wait_for_status(server, 'VERIFY_RESIZE')
        self.assertEqual('host2', self.host_of(server))

    def test_live_migration(self):
        """To a host that can, or not at all."""
        self.start_host('host3', 'cell1')
        server = self.boot(self.flavor(post_copy='true'))
        self._live_migrate(server, 'error')
        self.assertEqual('host2', self.host_of(server))
        self.report('host3', POST_COPY)
        self._live_migrate(server)
        self.assertEqual('host3', self.host_of(server))

    def test_server_older_than_the_plugins(self):
        """MF-11: its request has lost the image property."""
        self.start_host('host3', 'cell1')
        server = self.boot()
        self.set_system_metadata(server, auto_converge='true')
        self.report('host3', AUTO_CONVERGE)
        self._live_migrate(server)
        self.assertEqual('host3', self.host_of(server))


class TestNoHostReports(_Traits):
    """The computes have not been upgraded, or cannot do it at all."""

    def test_boot_and_move(self):
        server = self.boot(
            self.flavor(post_copy='true'), self.image(post_copy='true')
        )
        self.assertEqual('host1', self.host_of(server))
        self._live_migrate(server)
        self.assertEqual('host2', self.host_of(server))
        self.assertEqual(
            'host1', self.boot_host(self.flavor(auto_converge='true'))
        )

    def test_no_host_at_all(self):
        """That it is tried again makes no room."""
        self.fill('host1')
        self.fill('host2')
        self.assert_no_host(self.flavor(post_copy='true'))


class TestUpgrading(_Traits):
    """host2 reports a trait; host1 has the same driver and will later.

    host3, where there is one, has room, and never will.
    """

    def setUp(self):
        self.useFixture(_Kvm('host3'))
        super().setUp()
        self.report('host2', POST_COPY)

    def test_host_that_reports_goes_first(self):
        self.assertEqual(
            'host2', self.boot_host(self.flavor(post_copy='true'))
        )

    def test_no_room_on_it(self):
        self.fill('host2')
        self.assertEqual(
            'host1', self.boot_host(self.flavor(post_copy='true'))
        )

    def test_away_from_it(self):
        """Placement does not know that the server cannot stay."""
        server = self.boot(self.flavor(post_copy='true'))
        self.assertEqual('host2', self.host_of(server))
        self._live_migrate(server)
        self.assertEqual('host1', self.host_of(server))

    def test_named_host(self):
        self.assertEqual(
            'host1',
            self.boot_host(self.flavor(post_copy='true'), host='host1'),
        )
        server = self.boot(self.flavor(post_copy='true'))
        # The host's helper takes no name before Nova 33.
        self.api.post_server_action(
            server['id'],
            {'os-migrateLive': {'host': 'host1', 'block_migration': 'auto'}},
        )
        self._wait_for_migration_status(server, ['completed'])
        self.assertEqual('host1', self.host_of(server))

    def test_switched_off_host_is_not_waited_for(self):
        """It is not scheduled to, so it need not be upgraded."""
        self.start_host('host3', 'cell1')
        self.fill('host2')
        service = self.computes['host1'].service_ref.uuid
        self.admin_api.put_service(service, {'status': 'disabled'})
        self.assert_no_host(self.flavor(post_copy='true'))

    def test_last_host_is_upgraded(self):
        """From now on the trait is a must."""
        self.start_host('host3', 'cell1')
        self.report('host1', POST_COPY)
        self.report('host2', POST_COPY)
        self.fill('host2')
        self.assertEqual(
            'host1', self.boot_host(self.flavor(post_copy='true'))
        )
        self.fill('host1')
        self.assert_no_host(self.flavor(post_copy='true'))

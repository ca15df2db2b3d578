# SPDX-License-Identifier: Apache-2.0
"""No temporary image stays in Glance (XC-11, XC-12)."""

from unittest import mock

from oslo_utils.fixture import uuidsentinel as uuids

from nova import context as nova_context
from nova import exception

from nova_xcell.tasks import reconcile
from nova_xcell.tasks import services
from tests.embedded import observe
from tests.functional import dest_hosts

AWAY = exception.GlanceConnectionFailed(server='glance', reason='it is away')


class TestGlanceIsAway(dest_hosts.DestHostsTest):
    """Glance does not answer when an image is to be deleted."""

    def setUp(self):
        super().setUp()
        # Glance asks who is there; who that is, is not the point here.
        self.useFixture(
            dest_hosts.fixtures.MockPatch(
                'nova_xcell.tasks.image_auth.authenticated', lambda c: c
            )
        )

    def images(self):
        return observe.snapshot(self, self.server['id']).images

    def reconciler(self):
        return reconcile.Reconciler(
            nova_context.get_admin_context(), services.Services.connect()
        )

    def reconcile(self):
        self.reconciler().run()

    def without_deleting(self):
        return mock.patch.object(self.glance, 'delete', side_effect=AWAY)

    def test_when_the_move_is_finished(self):
        self.boot()
        with self.without_deleting():
            self.resize(self.server, host='host2')
            self.assert_left()
            # Still.
            self.reconcile()
            self.assert_left()
        self.reconcile()
        self.assertEqual((), self.images())
        self.confirm(self.server)
        self.assertEqual([], self.wait_for_no_leak(self.server))

    def test_when_the_move_is_undone(self):
        self.boot()
        driver = self.computes['host2'].manager.driver
        with (
            self.without_deleting(),
            mock.patch.object(driver, 'spawn', side_effect=RuntimeError),
        ):
            self.resize(self.server, host='host2')
            self.assert_left()
        self._wait_for_migration_status(self.server, ['error'])
        self.reconcile()
        self.assertEqual([], self.wait_for_no_leak(self.server, upkeep=True))

    def test_only_of_the_server_that_is_named(self):
        self.boot()
        with self.without_deleting():
            self.resize(self.server, host='host2')
            self.assert_left()
        self.reconciler().delete_images(uuids.another)
        self.assert_left()
        self.reconciler().delete_images(self.server['id'])
        self.assertEqual((), self.images())

    def assert_left(self):
        self._wait_for_assert(
            lambda: self.assertEqual(1, len(self.images())),
            max_retries=50,
            sleep=0.1,
        )

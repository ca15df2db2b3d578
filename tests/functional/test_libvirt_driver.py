# SPDX-License-Identifier: Apache-2.0
"""can_connect_volume of the libvirt driver, on Nova's fake libvirt (XC-08)."""

from unittest import mock

import fixtures

from nova import context as nova_context
from nova import objects
from nova.tests import fixtures as nova_fixtures
from nova.tests.functional.libvirt import base
from nova.virt.libvirt.volume import volume as volume_drivers


class TestCanConnectVolume(base.ServersTestBase):
    """The real driver and volume driver; only the storage is made up."""

    def setUp(self):
        super().setUp()
        self.cinder = self.useFixture(nova_fixtures.CinderFixture(self))
        self.start_compute()
        self.driver = self.computes['compute1'].manager.driver
        self.context = nova_context.get_admin_context()
        self.instance = objects.Instance(
            self.context, uuid=self.cinder.SWAP_OLD_VOL, host='elsewhere'
        )
        self.calls = []
        self.failing = set()
        for name in ('connect_volume', 'disconnect_volume'):
            self.useFixture(
                fixtures.MockPatchObject(
                    volume_drivers.LibvirtFakeVolumeDriver,
                    name,
                    self._storage(name),
                )
            )

    def _storage(self, name):
        def call(driver, connection_info, instance, force=False):
            self.calls.append(name + ('(force)' if force else ''))
            connection_info['data']['device_path'] = '/dev/made-up'
            if name in self.failing and not force:
                raise OSError('no path to the storage')

        return call

    def can_connect(self, **extra):
        self.connection_info = {
            'driver_volume_type': 'fake',
            'serial': 'volume-1',
            'data': {'volume_id': 'volume-1'},
            **extra,
        }
        return self.driver.can_connect_volume(
            self.context, self.connection_info, self.instance
        )

    def test_reachable(self):
        self.assertIs(True, self.can_connect())
        self.assertEqual(['connect_volume', 'disconnect_volume'], self.calls)

    def test_what_the_caller_has_is_not_changed(self):
        self.can_connect()
        self.assertEqual(
            {'volume_id': 'volume-1'}, self.connection_info['data']
        )

    def test_unreachable(self):
        """What a failed connection may have left is disconnected."""
        self.failing = {'connect_volume'}
        self.assertIs(False, self.can_connect())
        self.assertEqual(
            ['connect_volume', 'disconnect_volume(force)'], self.calls
        )

    def test_cannot_be_disconnected(self):
        """A host that would keep the device is not taken."""
        self.failing = {'disconnect_volume'}
        self.assertIs(False, self.can_connect())
        self.assertEqual(
            [
                'connect_volume',
                'disconnect_volume',
                'disconnect_volume(force)',
            ],
            self.calls,
        )

    def test_unknown_kind_of_volume(self):
        self.assertIs(
            False, self.can_connect(driver_volume_type='carrier-pigeon')
        )
        self.assertEqual([], self.calls)

    def test_shared_with_another_server_of_this_host(self):
        """Disconnecting would take the volume away from that server."""
        server = self._create_server()
        self.cinder.volume_to_attachment['volume-1']['a'] = {
            'id': 'a',
            'instance_uuid': server['id'],
            'connector': {},
        }
        self.assertIs(True, self.can_connect(multiattach=True))
        self.assertEqual([], self.calls)

    def test_shared_with_a_server_elsewhere(self):
        self.cinder.volume_to_attachment['volume-1']['a'] = {
            'id': 'a',
            'instance_uuid': self.instance.uuid,
            'connector': {},
        }
        self.assertIs(True, self.can_connect(multiattach=True))
        self.assertEqual(['connect_volume', 'disconnect_volume'], self.calls)

    def test_key_is_not_needed(self):
        with mock.patch.object(
            self.driver, '_attach_encryptor', autospec=True
        ) as attach:
            self.assertIs(True, self.can_connect())
        attach.assert_not_called()

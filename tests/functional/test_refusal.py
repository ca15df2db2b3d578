# SPDX-License-Identifier: Apache-2.0
"""What cannot be carried is refused first (XC-22, XC-26)."""

import fixtures
from oslo_utils.fixture import uuidsentinel as uuids

from nova import exception
from nova.network import neutron
from nova.volume import cinder

from nova_xcell.policies import losing
from nova_xcell.tasks import old_peers
from tests.functional import refusals


class _Obstacles:
    """One server for each obstacle, and what is said about it."""

    #: How to boot a server, and what is said of it.
    SERVERS = {
        'ephemeral disk': 'ephemeral disks (5 GB)',
        'ephemeral disk beside a root volume': 'ephemeral disks (3 GB)',
        'vtpm': 'emulated TPM',
        'signed image': 'its image is signed',
        'personality files': 'personality files',
    }

    def boot_ephemeral_disk(self):
        self.boot_flavor(ephemeral=5)

    def boot_ephemeral_disk_beside_a_root_volume(self):
        """What the flavor has may be larger than what was asked for."""
        self.boot_flavor(
            ephemeral=5,
            imageRef='',
            block_device_mapping_v2=[
                {
                    'boot_index': 0,
                    'uuid': self.cinder.create_bootable(uuids.image),
                    'source_type': 'volume',
                    'destination_type': 'volume',
                },
                {
                    'boot_index': -1,
                    'source_type': 'blank',
                    'destination_type': 'local',
                    'volume_size': 3,
                },
            ],
        )

    def boot_vtpm(self):
        self.boot_with_property(hw_tpm_version='2.0', hw_tpm_model='tpm-crb')

    def boot_signed_image(self):
        self.boot_with_property(img_signature_hash_method='SHA-256')

    def boot_personality_files(self):
        self.boot_with_personality()

    def test_servers(self):
        for name, words in self.SERVERS.items():
            getattr(self, 'boot_' + name.replace(' ', '_'))()
            self.assert_refused(words)

    def test_share(self):
        self.boot_with_share()
        # Before 34 the host refuses it itself, in its own words.
        self.assert_refused('share', status='SHUTOFF')

    def test_old_peers_and_all_reasons(self):
        """Every reason is told. Cinder is needed for volumes only."""

        def refuse(context, microversion):
            raise exception.CinderAPIVersionNotAvailable(version=microversion)

        self.useFixture(
            fixtures.MockPatchObject(
                cinder, 'is_microversion_supported', refuse
            )
        )
        self.boot(volume_backed=True)
        self.assert_refused('block storage', '3.44')
        self.boot_with_property(
            hw_tpm_version='2.0',
            hw_tpm_model='tpm-crb',
            img_signature='c2lnbmF0dXJl',
        )
        self.assert_refused('emulated TPM', 'its image is signed')
        self.useFixture(
            fixtures.MockPatchObject(
                neutron.API,
                'has_port_binding_extension',
                lambda *args, **kwargs: False,
            )
        )
        self.boot()
        self.assert_refused('binding-extended')


class TestNamedHost(_Obstacles, refusals.RefusalTest):
    """nova-api says no, and nothing has happened."""

    def assert_refused(self, *words, status='ACTIVE'):
        error = self.migrate_and_fail()
        self.assertIn(error.response.status_code, (400, 409))
        text = str(error)
        for word in words:
            self.assertIn(word, text)
        self.assert_as_before(status)
        self.assertEqual([], list(self.migrations()))

    def test_compute_too_old(self):
        """Plain Nova says that there is no such host."""
        self.boot()
        with fixtures.MockPatchObject(old_peers, 'COMPUTE_VERSION', 999):
            self.assert_refused(
                'Host host2 is in another cell.',
                'there is a nova-compute of service version',
            )

    def test_hosts_that_are_not_offered(self):
        """Who may not cross cells learns nothing about hosts elsewhere."""
        self.boot_flavor(ephemeral=5)
        error = self.migrate_and_fail('nowhere')
        self.assertEqual(400, error.response.status_code)
        self.assertIn('nowhere could not be found', str(error))
        self.permit(refusals.CROSS_CELL, '!')
        self.assertIn('host2 could not be found', str(self.migrate_and_fail()))


class TestPlainApi(_Obstacles, refusals.PlainApiTest):
    """nova-conductor refuses what a plain nova-api lets through."""

    # A plain nova-api does not note who has personality files.
    SERVERS = {
        name: words
        for name, words in _Obstacles.SERVERS.items()
        if name != 'personality files'
    }

    def assert_refused(self, *words, status='ACTIVE'):
        try:
            self.resize(self.server, host='host2')
        except refusals.client.OpenStackApiException as exc:
            # Releases before 34 do not migrate servers with shares at all.
            self.assertEqual(409, exc.response.status_code)
            self.assert_as_before(status)
            return
        self.assert_as_before(status)
        self.assert_reason_is_told(*words)
        self.assertNotIn(
            'compute_prep_snapshot_based_resize_at_dest', self.events()
        )

    def test_disk_shrink_and_compute_too_old(self):
        self.boot_flavor(disk=5)
        # The image is as small as before a resize that made the disk grow.
        self.set_system_metadata(image_min_disk='1')
        smaller = self._create_flavor(
            vcpu=1, memory_mb=512, disk=2, ephemeral=0
        )
        self.api.post_server_action(
            self.server['id'], {'resize': {'flavorRef': smaller}}
        )
        self.wait_for_rest(self.server)
        self.assert_as_before()
        self.assert_reason_is_told('shrink from 5 GB to 2 GB')
        self.boot()
        with fixtures.MockPatchObject(old_peers, 'COMPUTE_VERSION', 999):
            self.assert_refused(
                'nova-compute on host1 has service version',
                'nova-compute on host2 has service version',
            )


class TestUnnamedHost(refusals.RefusalTest):
    """The move stays in the cell, where it may be possible."""

    def resize_to(self, **flavor):
        flavor = {'vcpu': 1, 'memory_mb': 1024, 'disk': 1, **flavor}
        self.api.post_server_action(
            self.server['id'],
            {'resize': {'flavorRef': self._create_flavor(**flavor)}},
        )
        self.server = self.wait_for_rest(self.server)

    def test_other_cells_are_not_offered(self):
        """There is no other host in the cell. The new flavor decides."""
        self.boot_flavor(ephemeral=5)
        self.resize_to(ephemeral=5)
        self.assert_as_before()
        self.assert_told('ephemeral disks (5 GB)')
        self.boot_flavor(disk=5)
        # The image is as small as before a resize that made the disk grow.
        self.set_system_metadata(image_min_disk='1')
        self.resize_to(disk=2, ephemeral=0)
        self.assert_as_before()
        self.assert_told('shrink from 5 GB to 2 GB')

    def test_host_of_the_same_cell(self):
        self.boot_flavor(ephemeral=5)
        self.start_host('host4', 'cell1')
        self.resize_to(ephemeral=5)
        self.assert_moved_to('host4')
        self.assert_told('ephemeral disks (5 GB)')
        # Who names a host of the cell has chosen it.
        self.server = self.confirm(self.server)
        self.server = self.resize(self.server, host='host1')
        self.assert_moved_to('host1')
        self.assertNotIn('api_stay_in_cell', self.events())
        # Nothing is told to who may not cross cells anyway.
        self.server = self.confirm(self.server)
        self.permit(refusals.CROSS_CELL, '!')
        self.resize_to(ephemeral=5)
        self.assert_moved_to('host4')
        self.assertNotIn('api_stay_in_cell', self.events())

    def assert_moved_to(self, host):
        self.assertEqual('VERIFY_RESIZE', self.server['status'])
        self.assertEqual(host, self.server['OS-EXT-SRV-ATTR:host'])

    def assert_told(self, words):
        event = self.events()['api_stay_in_cell']
        self.assertEqual('Success', event['result'])
        self.assertIn(words, event['details'])


class TestLosing(refusals.RefusalTest):
    """An operator lets it be lost, with a rule for each."""

    def test_ephemeral_disk(self):
        self.permit(losing.LOSE_PERSONALITY)
        self.boot_flavor(ephemeral=5)
        self.assertIn('ephemeral', str(self.migrate_and_fail()))
        # Somebody else may.
        self.permit(losing.LOSE_EPHEMERAL, 'user_id:somebody-else')
        self.assertIn('ephemeral', str(self.migrate_and_fail()))
        self.permit(losing.LOSE_EPHEMERAL)
        self.refuse_claim('host2')
        self.resize(self.server, host='host2')
        # It was for that request.
        self.mend()
        self.permit(losing.LOSE_EPHEMERAL, '!')
        self.assertIn('ephemeral', str(self.migrate_and_fail()))
        self.permit(losing.LOSE_EPHEMERAL)
        self.resize(self.server, host='host2')
        self.assert_taken_by('host2')

    def test_personality_files(self):
        self.boot_with_personality()
        self.assertIn('personality', str(self.migrate_and_fail()))
        self.permit(losing.LOSE_PERSONALITY)
        self.resize(self.server, host='host2')
        self.assert_taken_by('host2')


class TestEvacuate(refusals.RefusalTest):
    def test_host_of_another_cell(self):
        """Plain Nova answers 500 and leaves the server in its task."""
        server = self.boot()
        service = self.admin_api.get_services(
            host='host1', binary='nova-compute'
        )[0]
        self.admin_api.put_service_force_down(service['id'], True)
        error = self.assertRaises(
            refusals.client.OpenStackApiException,
            self.api.post_server_action,
            server['id'],
            {'evacuate': {'host': 'host2'}},
        )
        self.assertEqual(400, error.response.status_code)
        self.assertIn('host2 is in another cell', str(error))
        self.assertIsNone(
            self.api.get_server(server['id'])['OS-EXT-STS:task_state']
        )

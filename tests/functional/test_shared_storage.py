# SPDX-License-Identifier: Apache-2.0
"""Local disks on storage that both cells share (XC-26).

The virt driver here is a fake; what the libvirt driver says is in
test_libvirt_disks.
"""

from nova import exception
from nova import objects
from nova.compute import power_state

from nova_xcell.compute import left_disks
from tests.functional import refusals


class TestSharedStorage(refusals.RefusalTest):
    def share(self, *hosts):
        """Let hosts see the disks of every server."""
        for host in hosts:
            self.driver_of(host).xcell_local_disks = lambda instance: {
                '/shared/%s/disk' % instance.uuid: '1 2 3'
            }

    def driver_of(self, host):
        return self.computes[host].manager.driver

    def test_destination_sees_the_disks(self):
        server = self.boot()
        self.share('host1', 'host2', 'host3')
        self.resize(server)
        self.assert_as_before()
        self.assert_reason_is_told(
            'host2: local disks of the server are here already',
        )

    def test_alternate_that_does_not_share(self):
        server = self.boot()
        self.share('host1', 'host2')
        self.resize(server)
        self.assert_taken_by('host3')

    def test_destination_cannot_tell(self):
        server = self.boot()

        def fail(instance):
            raise exception.StorageError(reason='no monitor answers')

        self.driver_of('host2').xcell_local_disks = fail
        self.resize(server)
        self.assert_taken_by('host3')

    def test_source_knows_its_disks_again(self):
        server = self.boot()
        self.share('host1')
        self.resize(server)
        self.assert_taken_by('host2')
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(
                context, server['id'], expected_attrs=['system_metadata']
            )
        disks = self.driver_of('host1').xcell_local_disks(instance)
        self.assertTrue(left_disks.is_left_behind(instance))
        self.assertTrue(left_disks.is_unchanged(instance, disks))
        self.confirm(server)
        self.assertEqual([], self.wait_for_no_leak(server))


class TestHostRefuses(refusals.RefusalTest):
    """What only a host knows of a root disk or of a config drive."""

    def refuse(self, host, reason='its root disk is in Ceph'):
        self.computes[host].manager.driver.xcell_root_disk_obstacle = (
            lambda instance, at_source: reason
        )

    def test_root_disk_at_destination(self):
        server = self.boot()
        self.refuse('host2')
        self.resize(server)
        self.assert_taken_by('host3')

    def test_root_volume_is_not_asked_for(self):
        server = self.boot(volume_backed=True)
        self.refuse('host1')
        self.refuse('host2')
        self.resize(server)
        self.assert_taken_by('host2')

    def test_root_disk_at_source(self):
        server = self.boot()
        self.refuse('host1')
        self.resize(server, host='host2')
        self.assert_guest_untouched('its root disk is in Ceph')

    def test_personality_files_that_only_the_drive_tells_of(self):
        """The server was created before the plug-ins were there."""
        server = self.boot()
        driver = self.computes['host1'].manager.driver
        driver.xcell_has_personality = lambda instance: True
        self.resize(server, host='host2')
        self.assert_guest_untouched('personality files')

    def assert_guest_untouched(self, reason):
        # As in the host, the audit of the tracker drops host2's claim.
        self.assertEqual([], self.wait_for_no_leak(self.server, upkeep=True))
        self.assert_as_before()
        self.assert_reason_is_told(reason)
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(context, self.server['id'])
        driver = self.computes['host1'].manager.driver
        self.assertEqual(power_state.RUNNING, driver.get_info(instance).state)
        events = self.events()
        self.assertEqual(
            'Error',
            events['compute_prep_snapshot_based_resize_at_source']['result'],
        )

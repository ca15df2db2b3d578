# SPDX-License-Identifier: Apache-2.0
"""Local disks in the libvirt driver, on Nova's fake libvirt (XC-26)."""

import os
import types
from unittest import mock

import fixtures
from oslo_utils.fixture import uuidsentinel as uuids

from nova import context as nova_context
from nova import objects
from nova.storage import rbd_utils
from nova.tests.functional.libvirt import base

from nova_xcell.compute import left_disks


class FakeCeph:
    """A pool with the images of some servers."""

    def __init__(self):
        self.images = {}

    def install(self, test):
        driver = mock.Mock(spec=['pool', 'exists', 'cleanup_volumes'])
        driver.pool = 'vms'
        driver.exists.side_effect = lambda name: name in self.images
        driver.cleanup_volumes.side_effect = self._clean_up
        for name, replacement in (
            ('RBDDriver', lambda *args, **kwargs: driver),
            ('RADOSClient', mock.MagicMock()),
            (
                'RbdProxy',
                lambda: types.SimpleNamespace(
                    list=lambda ioctx: sorted(self.images)
                ),
            ),
            ('RBDVolumeProxy', self._open),
        ):
            test.useFixture(
                fixtures.MockPatchObject(rbd_utils, name, replacement)
            )

    def _open(self, driver, name, read_only=False):
        data = self.images[name]
        image = mock.MagicMock()
        image.__enter__.return_value = image
        image.size.return_value = len(data)
        image.modify_timestamp.return_value = data.count(b'!')
        image.list_snaps.return_value = [{'name': 'nova-resize'}]
        image.read.side_effect = lambda offset, size: data[offset:size]
        return image

    def _clean_up(self, chosen):
        self.images = {
            name: data
            for name, data in self.images.items()
            if not chosen(name)
        }


class TestLibvirtDisks(base.ServersTestBase):
    def setUp(self):
        super().setUp()
        self.start_compute()
        self.driver = self.computes['compute1'].manager.driver
        self.context = nova_context.get_admin_context()
        path = self.useFixture(fixtures.TempDir()).path
        self.flags(instances_path=path)
        self.folder = os.path.join(path, uuids.server)
        self.instance = objects.Instance(
            self.context,
            uuid=uuids.server,
            host='compute1',
            hidden=True,
            config_drive='True',
            trusted_certs=None,
            system_metadata={},
            flavor=objects.Flavor(extra_specs={}),
            task_state=None,
            resources=None,
        )
        self.stub_out('nova.objects.Instance.save', lambda *args, **kw: None)
        self.stub_out(
            'nova.virt.libvirt.driver.LibvirtDriver._undefine_domain',
            lambda *args, **kwargs: None,
        )

    def write(self, name='disk', content=b'data'):
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as disk:
            disk.write(content)
        return path

    def leave(self):
        """Do what a source does when the guest has gone."""
        self.instance.system_metadata[left_disks.NOTE] = left_disks.note(
            self.driver.xcell_local_disks(self.instance)
        )

    def clean_up(self):
        self.driver.cleanup(
            self.context,
            self.instance,
            network_info=[],
            destroy_disks=True,
            destroy_vifs=False,
        )

    def use_ceph(self):
        self.flags(images_type='rbd', group='libvirt')
        ceph = FakeCeph()
        ceph.install(self)
        return ceph

    # What a destination sees.

    def test_nothing_is_here(self):
        self.assertEqual({}, self.driver.xcell_local_disks(self.instance))

    def test_files_are_here(self):
        path = self.write()
        self.assertEqual(
            [path], list(self.driver.xcell_local_disks(self.instance))
        )

    def test_images_are_here(self):
        ceph = self.use_ceph()
        ceph.images = {
            uuids.server + '_disk.config': b'',
            uuids.other + '_disk': b'',
        }
        self.assertEqual(
            ['vms/%s_disk.config' % uuids.server],
            list(self.driver.xcell_local_disks(self.instance)),
        )

    # What is left at the source when the move is confirmed.

    def test_own_disks_are_deleted(self):
        self.write()
        self.leave()
        self.clean_up()
        self.assertFalse(os.path.exists(self.folder))

    def test_disk_that_is_written_elsewhere_is_kept(self):
        path = self.write()
        self.leave()
        os.utime(path, ns=(1, 1))
        self.clean_up()
        self.assertTrue(os.path.exists(path))

    def test_disk_that_came_from_elsewhere_is_kept(self):
        """A root volume, and a swap disk made by the destination."""
        self.write('console.log')
        self.leave()
        path = self.write('disk.swap')
        self.clean_up()
        self.assertTrue(os.path.exists(path))

    def test_server_that_is_here_is_deleted(self):
        self.write()
        self.leave()
        self.write('disk', b'other data')
        self.instance.hidden = False
        self.clean_up()
        self.assertFalse(os.path.exists(self.folder))

    def test_move_without_a_note_is_left_to_the_host(self):
        self.write()
        self.clean_up()
        self.assertFalse(os.path.exists(self.folder))

    def test_own_images_are_deleted(self):
        ceph = self.use_ceph()
        name = uuids.server + '_disk'
        ceph.images = {name: b'data'}
        self.leave()
        self.clean_up()
        self.assertEqual({}, ceph.images)

    def test_image_that_is_written_elsewhere_is_kept(self):
        ceph = self.use_ceph()
        name = uuids.server + '_disk'
        ceph.images = {name: b'data'}
        self.leave()
        ceph.images[name] = b'dat!'
        self.clean_up()
        self.assertEqual([name], list(ceph.images))

    # What else a host knows.

    def test_root_disk_in_ceph(self):
        self.assertIsNone(
            self.driver.xcell_root_disk_obstacle(self.instance, True)
        )
        self.flags(images_type='rbd', group='libvirt')
        for at_source in (True, False):
            self.assertIn(
                'Ceph',
                self.driver.xcell_root_disk_obstacle(self.instance, at_source),
            )

    def test_signatures_are_verified(self):
        self.flags(verify_glance_signatures=True, group='glance')
        self.assertIn(
            'signatures',
            self.driver.xcell_root_disk_obstacle(self.instance, False),
        )
        self.assertIsNone(
            self.driver.xcell_root_disk_obstacle(self.instance, True)
        )

    def test_personality_files(self):
        self.assertFalse(self.driver.xcell_has_personality(self.instance))
        self.write('disk.config', b'{"meta": {"files": "many"}}')
        self.assertFalse(self.driver.xcell_has_personality(self.instance))
        self.write('disk.config', b'\0{"files": [{"content_path": "/c"}]}\0')
        self.assertTrue(self.driver.xcell_has_personality(self.instance))

    def test_personality_files_in_ceph(self):
        ceph = self.use_ceph()
        self.assertFalse(self.driver.xcell_has_personality(self.instance))
        ceph.images[uuids.server + '_disk.config'] = b'"files": [{"path": "x"'
        self.assertTrue(self.driver.xcell_has_personality(self.instance))

# SPDX-License-Identifier: Apache-2.0
"""LibvirtDriver that knows what a move to another cell needs of a host."""

from __future__ import annotations

from oslo_log import log as logging

import nova.conf
from nova.virt.libvirt import driver

from nova_xcell.compute import left_disks
from nova_xcell.virt import local_disks
from nova_xcell.virt import volume_connection

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


class LibvirtDriver(driver.LibvirtDriver):
    """The host's driver, found by ``compute_driver`` under its name."""

    def can_connect_volume(self, context, connection_info, instance):
        """Tell whether a volume can be connected to this host.

        The volume is connected and disconnected again for real. See spec
        cross-cell-resize, "Developer impact".

        :param context: auth context
        :param connection_info: dict, what Cinder says for this host
        :param instance: nova.objects.Instance that uses the volume
        :returns: bool; the reason of a False is in the log
        """
        return volume_connection.can_connect(
            self, context, connection_info, instance
        )

    def xcell_local_disks(self, instance):
        """List what of a server this host sees outside of volumes.

        :param instance: nova.objects.Instance
        :returns: dict, what tells one state from another by path or image
        """
        return local_disks.seen(instance)

    def xcell_root_disk_obstacle(self, instance, at_source):
        """Tell why the local root disk of a server cannot be moved.

        :param instance: nova.objects.Instance
        :param at_source: whether it leaves this host, or comes to it
        :returns: the reason, or None
        """
        if CONF.libvirt.images_type == 'rbd':
            # Spawning takes a snapshot of a disk that does not exist yet, and
            # a revert goes back to one that was never taken.
            return 'its root disk %s in Ceph ([libvirt] images_type = rbd)' % (
                'is' if at_source else 'would be'
            )
        if not at_source and (
            instance.trusted_certs or CONF.glance.verify_glance_signatures
        ):
            return (
                'this host verifies signatures of images, and a snapshot of '
                'the root disk has none'
            )
        return None

    def xcell_has_personality(self, instance):
        """Tell whether the config drive of a server has personality files.

        :param instance: nova.objects.Instance of this host
        """
        return local_disks.has_personality(instance)

    def cleanup(
        self,
        context,
        instance,
        network_info,
        block_device_info=None,
        destroy_disks=True,
        migrate_data=None,
        destroy_vifs=True,
        destroy_secrets=True,
    ):
        """Clean up after a server, but keep disks that it uses elsewhere.

        See the host's method. When a move to another cell is confirmed, the
        source's disks are deleted. If something has changed on them since the
        guest left, they are not the source's alone.

        :param context: auth context
        :param instance: nova.objects.Instance
        :param network_info: see the host's method
        :param block_device_info: see the host's method
        :param destroy_disks: whether to delete the server's local disks
        :param migrate_data: see the host's method
        :param destroy_vifs: see the host's method
        :param destroy_secrets: see the host's method
        """
        if destroy_disks and left_disks.is_left_behind(instance):
            destroy_disks = not self._xcell_changed_since(instance)
        return super().cleanup(
            context,
            instance,
            network_info,
            block_device_info=block_device_info,
            destroy_disks=destroy_disks,
            migrate_data=migrate_data,
            destroy_vifs=destroy_vifs,
            destroy_secrets=destroy_secrets,
        )

    def _xcell_changed_since(self, instance) -> bool:
        disks = self.xcell_local_disks(instance)
        if left_disks.is_unchanged(instance, disks):
            return False
        LOG.error(
            'Keeping the disks of the server, which has moved to another '
            'cell: they have changed since it left, so it may be using them '
            'where it is now. If this host does not share its storage with '
            'that one, delete them: %s.',
            ', '.join(sorted(disks)),
            instance=instance,
        )
        return True

# SPDX-License-Identifier: Apache-2.0
"""LibvirtDriver that can tell whether it reaches a volume."""

from __future__ import annotations

from nova.virt.libvirt import driver

from nova_xcell.virt import volume_connection


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

# SPDX-License-Identifier: Apache-2.0
"""The volumes of a server whose guest is made anew.

They stay attached, as in a hard reboot: the driver disconnects them from this
host with the guest, and connects them again. Only those are attached that are
not, and the root volume once an image was written to it.
"""

from __future__ import annotations

from nova import objects
from nova.virt import driver as virt_driver

from nova_xcell.rebuild import attachments
from nova_xcell.rebuild import current
from nova_xcell.rebuild import outcomes


def without(block_device_info, bdm: objects.BlockDeviceMapping):
    """Leave out what is disconnected already.

    :param block_device_info: of the guest, as for the driver
    :param bdm: the volume that is
    :returns: the same without it
    """
    mapping = virt_driver.block_device_info_get_mapping(block_device_info)
    return dict(
        block_device_info,
        block_device_mapping=[
            device for device in mapping if device.volume_id != bdm.volume_id
        ],
    )


def keep(context, bdms, detach_root_bdm=True) -> None:
    """Leave all attached, where the host detaches them.

    :param context: auth context
    :param bdms: nova.objects.BlockDeviceMappingList
    :param detach_root_bdm: as the host calls it
    """


class Devices:
    """Attaches what the guest is to get.

    :param manager: nova.compute.manager.ComputeManager of this host
    :param rebuild: what was done so far
    """

    def __init__(self, manager, rebuild: current.Rebuild) -> None:
        self._manager = manager
        self._rebuild = rebuild

    def attach(self, context, instance: objects.Instance, bdms):
        """Attach the volumes that are not, and describe all devices.

        :param context: auth context
        :param instance: the server
        :param bdms: nova.objects.BlockDeviceMappingList
        :returns: block device info for the driver
        :raises: nova.exception.InvalidBDM
        """
        kept = attachments.Attachments(
            context, self._manager.volume_api, instance
        )
        for bdm in bdms:
            if bdm.is_volume and self._is_missing(context, bdm):
                with kept.kept(bdm):
                    self._manager._prep_block_device(
                        context,
                        instance,
                        objects.BlockDeviceMappingList(
                            context=context, objects=[bdm]
                        ),
                    )
        return self._manager._get_instance_block_device_info(
            context, instance, bdms=bdms
        )

    def _is_missing(self, context, bdm: objects.BlockDeviceMapping) -> bool:
        if bdm.is_root and self._rebuild.root is not None:
            return True
        if not self._rebuild.was_in_error:
            return False
        # A failed rebuild of a plain host leaves volumes like this.
        volume = self._manager.volume_api.get(context, bdm.volume_id)
        return volume['status'] == outcomes.KEPT

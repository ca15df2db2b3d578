# SPDX-License-Identifier: Apache-2.0
"""Swap follows the flavor to the other cell, and stays as it was (XC-26).

In a resize within a cell nova-compute changes the record of the swap disk.
Here the records of the target cell are the copy that is changed, so that the
way back has the old ones.
"""

from __future__ import annotations

from oslo_log import log as logging

from nova import block_device
from nova import objects
from nova.conductor.tasks import cross_cell_migrate

LOG = logging.getLogger(__name__)


def is_swap(bdm: objects.BlockDeviceMapping) -> bool:
    """Tell whether a block device is a swap disk.

    :param bdm: the device
    """
    return (
        bdm.source_type == 'blank'
        and bdm.destination_type == 'local'
        and bdm.guest_format == 'swap'
    )


def follow_flavor(
    context, instance: objects.Instance, old_mb: int, new_mb: int
) -> None:
    """Give a server the swap disk of its new flavor. May be done again.

    :param context: auth context targeted at the cell of the record
    :param instance: the server's record in the target cell
    :param old_mb: swap of the flavor it had
    :param new_mb: swap of the flavor it gets
    """
    if old_mb == new_mb:
        return
    swaps = [bdm for bdm in instance.get_bdms() if is_swap(bdm)]
    for bdm in swaps:
        if new_mb:
            bdm.volume_size = new_mb
            bdm.save()
        else:
            bdm.destroy()
    if new_mb and not swaps:
        objects.BlockDeviceMapping(
            context,
            instance_uuid=instance.uuid,
            **block_device.create_blank_bdm(new_mb, 'swap'),
        ).create()
    LOG.info(
        'The swap disk changes from %(old)d MB to %(new)d MB.',
        {'old': old_mb, 'new': new_mb},
        instance=instance,
    )


class RevertResizeTask(cross_cell_migrate.RevertResizeTask):
    """Takes the change of the swap disk back before records are compared.

    The host's task carries devices that came or went from the target cell to
    the source cell, and takes each of them for a volume.
    """

    def _update_bdms_in_source_cell(self, source_cell_context):
        """Carry over which volumes came and went, and leave swap alone.

        :param source_cell_context: context targeted at the source cell
        """
        self._xcell_restore_swap(source_cell_context)
        super()._update_bdms_in_source_cell(source_cell_context)

    def _delete_orphan_source_cell_bdms(self, source_cell_bdms):
        """Delete the records of volumes that went, and keep a swap disk.

        :param source_cell_bdms: devices that the target cell has not
        """
        super()._delete_orphan_source_cell_bdms(
            [bdm for bdm in source_cell_bdms if not is_swap(bdm)]
        )

    def _xcell_restore_swap(self, source_cell_context) -> None:
        before = self._xcell_swap_of(source_cell_context)
        for uuid, bdm in self._xcell_swap_of(self.context).items():
            if uuid not in before:
                bdm.destroy()
            elif bdm.volume_size != before[uuid].volume_size:
                bdm.volume_size = before[uuid].volume_size
                bdm.save()

    def _xcell_swap_of(self, context) -> dict[str, objects.BlockDeviceMapping]:
        return {
            bdm.uuid: bdm
            for bdm in objects.BlockDeviceMappingList.get_by_instance_uuid(
                context, self.instance.uuid
            )
            if is_swap(bdm)
        }

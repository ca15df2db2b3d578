# SPDX-License-Identifier: Apache-2.0
"""The facts about a server that decide whether it can move to another cell."""

from __future__ import annotations

from nova import objects
from nova.compute import utils as compute_utils
from nova.objects import share_mapping
from nova.virt import hardware

from nova_xcell.tasks import obstacles


def collect(
    context,
    instance: objects.Instance,
    flavor: objects.Flavor,
    network_api,
) -> obstacles.Facts:
    """Read the facts from the cell of the server, and from Neutron.

    :param context: auth context of the request
    :param instance: the server, with the context of its cell
    :param flavor: the flavor it gets; its own in a migration
    :param network_api: nova.network.neutron.API
    """
    cell_context = instance._context
    bdms = objects.BlockDeviceMappingList.get_by_instance_uuid(
        cell_context, instance.uuid
    )
    requests, _level = network_api.get_requested_resource_for_instance(
        context, instance.uuid
    )
    system_metadata = instance.system_metadata
    return obstacles.Facts(
        root_is_local=not compute_utils.is_volume_backed_instance(
            cell_context, instance, bdms
        ),
        old_root_gb=instance.flavor.root_gb,
        new_root_gb=flavor.root_gb,
        # The flavor stands for a disk that has no record of its own.
        ephemeral_gb=sum(
            bdm.volume_size or 0 for bdm in bdms if is_ephemeral(bdm)
        )
        or instance.flavor.ephemeral_gb,
        vtpm=_has_vtpm(instance),
        shares=len(
            share_mapping.ShareMappingList.get_by_instance_uuid(
                cell_context, instance.uuid
            )
        ),
        signed_image=obstacles.is_signed(system_metadata),
        config_drive=bool(instance.config_drive),
        personality=obstacles.HAS_PERSONALITY in system_metadata,
        port_requests=bool(requests),
    )


def is_ephemeral(bdm: objects.BlockDeviceMapping) -> bool:
    """Tell whether a block device is an ephemeral disk.

    :param bdm: the device
    """
    return (
        bdm.source_type == 'blank'
        and bdm.destination_type == 'local'
        and bdm.guest_format != 'swap'
    )


def _has_vtpm(instance: objects.Instance) -> bool:
    return (
        hardware.get_vtpm_constraint(instance.flavor, instance.image_meta)
        is not None
    )

# SPDX-License-Identifier: Apache-2.0
"""CPUs and devices of both hosts, in the migration contexts of a move (XC-25).

The destination makes the migration context when it claims. It knows nothing
of the devices that the server has at the source: their records are in the
other cell. The host puts the same context into the source's record.

So a plain source does not find the devices that it has to free at confirm,
and no host finds the device that belongs to an SR-IOV port: the name of the
device in the port's binding is looked up among the old ones. The destination
fails when the source's guest is gone, and so does the way back.

What is written here is all that the host's own nova-compute needs.

Nor does the destination know which physical function placement has chosen for
an SR-IOV port with a resource request (XC-24).
"""

from __future__ import annotations

from nova import objects
from nova.compute import utils as compute_utils
from nova.scheduler.client import report


def follow_placement(
    context, target: objects.Instance, request_spec: objects.RequestSpec
) -> None:
    """Ask for the devices that placement has chosen for the ports.

    To be called before a destination claims.

    :param context: auth context
    :param target: the server's record in the target cell, with which the
        destination is asked; not saved
    :param request_spec: has the providers of the destination
    :raises: nova.exception.AmbiguousResourceProviderForPCIRequest and
        UnexpectedResourceProviderNameForPCIRequest
    """
    chosen = request_spec.get_request_group_mapping()
    if chosen and target.pci_requests:
        compute_utils.update_pci_request_with_placement_allocations(
            context,
            report.report_client_singleton(),
            target.pci_requests.requests,
            chosen,
        )


def complete_contexts(
    source: objects.Instance, target: objects.Instance
) -> None:
    """Say in each migration context what there is on its host.

    To be called when the destination has claimed, and before the source is
    touched.

    :param source: the server's record in the source cell, with the
        destination's context; saved
    :param target: the server's record in the target cell; saved
    """
    devices = objects.PciDeviceList.get_by_instance_uuid(
        source._context, source.uuid
    )
    # The destination has written it to the database; without it the guest
    # would get the CPUs and devices that it had at the source.
    target.obj_load_attr('migration_context')
    _replace(target, old_pci_devices=devices)
    # The source gives its own devices back, be it to other servers or, in a
    # revert, to the ports. Those of the destination are none of its business.
    _replace(source, old_pci_devices=devices, new_pci_devices=devices)


def _replace(
    instance: objects.Instance, **devices: objects.PciDeviceList
) -> None:
    context = instance.migration_context.obj_clone()
    for name, value in devices.items():
        setattr(context, name, value)
    # Only what is set as a whole is saved for sure.
    instance.migration_context = context
    instance.save()

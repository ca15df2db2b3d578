# SPDX-License-Identifier: Apache-2.0
"""Give a server back the allocations that a failed rebuild has deleted.

Only what the flavor asks of the host itself is known here. ``nova-manage
placement heal_allocations`` does more, but its module cannot be imported: it
patches the process for eventlet.
"""

from __future__ import annotations

from nova import exception as nova_exception
from nova import objects
from nova.network import neutron
from nova.scheduler import utils as scheduler_utils
from nova.scheduler.client import report

#: Beginnings of extra specs that ask for more than the host itself has.
_NESTED = ('accel:', 'pci_passthrough:', 'resources')


class NotHere(nova_exception.NovaException):
    """The allocations are not known here."""

    msg_fmt = (
        'It has %(what)s; run nova-manage placement heal_allocations '
        '--instance %(server)s'
    )


def allocate(
    context,
    instance: objects.Instance,
    placement: report.SchedulerReportClient,
) -> None:
    """Make the allocations of a server that has none.

    :param context: admin context targeted at the cell of the server
    :param instance: the server
    :param placement: client of Placement
    :raises: :class:`NotHere`
    :raises: nova.exception.AllocationUpdateFailed
    """
    what = _beyond_the_flavor(context, instance)
    if what:
        raise NotHere(what=what, server=instance.uuid)
    node = objects.ComputeNode.get_by_host_and_nodename(
        context, instance.host, instance.node
    )
    resources = scheduler_utils.resources_from_flavor(
        instance, instance.flavor
    )
    is_done = placement.put_allocations(
        context,
        instance.uuid,
        {
            'allocations': {node.uuid: {'resources': resources}},
            'project_id': instance.project_id,
            'user_id': instance.user_id,
            # Only if it still has none.
            'consumer_generation': None,
        },
    )
    if not is_done:
        raise nova_exception.AllocationUpdateFailed(
            consumer_uuid=instance.uuid,
            error='Placement refuses %s on its host' % resources,
        )


def _beyond_the_flavor(context, instance: objects.Instance) -> str | None:
    specs = instance.flavor.extra_specs
    if any(key.startswith(_NESTED) for key in specs):
        return 'resources of its own in the flavor'
    if instance.pci_requests and instance.pci_requests.requests:
        return 'devices'
    groups, _params = neutron.API().get_requested_resource_for_instance(
        context, instance.uuid
    )
    return 'ports with resources' if groups else None

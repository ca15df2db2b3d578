# SPDX-License-Identifier: Apache-2.0
"""Services around Nova that are too old for a cross-cell move (XC-22)."""

from __future__ import annotations

from collections.abc import Iterator

from oslo_log import log as logging

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.network import constants
from nova.volume import cinder

from nova_xcell.tasks import obstacles

LOG = logging.getLogger(__name__)

#: Attachments that outlive the connection of a host.
CINDER_MICROVERSION = '3.44'

#: Service version of a nova-compute that knows cross-cell moves; the host's
#: API has it as MIN_COMPUTE_CROSS_CELL_RESIZE.
COMPUTE_VERSION = 47


def external(
    context, instance: objects.Instance, network_api
) -> Iterator[obstacles.Obstacle]:
    """Ask Cinder and Neutron for what the move needs.

    :param context: auth context of the request
    :param instance: the server; Cinder is asked only if it has volumes
    :param network_api: nova.network.neutron.API
    """
    if not network_api.has_port_binding_extension(context):
        yield obstacles.Obstacle(
            obstacles.OLD_NEUTRON,
            "the networking service does not have the extension '%s'"
            % constants.PORT_BINDING_EXTENDED,
        )
    bdms = objects.BlockDeviceMappingList.get_by_instance_uuid(
        instance._context, instance.uuid
    )
    if not any(bdm.is_volume for bdm in bdms):
        return
    try:
        cinder.is_microversion_supported(context, CINDER_MICROVERSION)
    except (
        nova_exception.CinderAPIVersionNotAvailable,
        nova_exception.UnsupportedCinderAPIVersion,
    ):
        yield obstacles.Obstacle(
            obstacles.OLD_CINDER,
            'the block storage service does not support microversion %s'
            % CINDER_MICROVERSION,
        )


def computes(
    context, instance: objects.Instance, selection: objects.Selection
) -> Iterator[obstacles.Obstacle]:
    """Look at the service versions of both hosts of a move.

    :param context: auth context targeted at the cell of the server
    :param instance: the server
    :param selection: the destination host
    """
    mapping = objects.CellMapping.get_by_uuid(context, selection.cell_uuid)
    with nova_context.target_cell(context, mapping) as target:
        for cell_context, host in (
            (context, instance.host),
            (target, selection.service_host),
        ):
            service = objects.Service.get_by_compute_host(cell_context, host)
            if service.version < COMPUTE_VERSION:
                yield obstacles.Obstacle(
                    obstacles.OLD_COMPUTE,
                    'nova-compute on %s has service version %d, and %d is '
                    'needed; upgrade it'
                    % (host, service.version, COMPUTE_VERSION),
                )

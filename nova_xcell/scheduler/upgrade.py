# SPDX-License-Identifier: Apache-2.0
"""Whether every compute that could report a trait does so."""

from __future__ import annotations

import typing as ty

from oslo_log import log as logging

from nova import context as nova_context
from nova import objects
from nova.scheduler.client import report

LOG = logging.getLogger(__name__)

#: What libvirt calls the hypervisor of kvm and qemu, the only ones that report
#: our traits.
HYPERVISOR = 'QEMU'

#: Of Placement; the first that knows forbidden traits.
_MICROVERSION = '1.22'


def is_over(context, traits: ty.Iterable[str]) -> bool:
    """Tell whether hosts without some traits will not have them later.

    :param context: auth context of the request
    :param traits: names of the traits
    :returns: False as long as an enabled kvm or qemu compute does not report
        one of them, or none at all does; also if it cannot be found out
    """
    try:
        return all(_reported(context, trait) for trait in traits)
    except Exception:
        LOG.warning(
            'It could not be found out whether every compute reports %s.',
            ', '.join(sorted(traits)),
            exc_info=True,
        )
        return False


def _reported(context, trait: str) -> bool:
    if not _computes(context, trait):
        # Nothing to wait for yet.
        return False
    without = _computes(context, '!%s,!COMPUTE_STATUS_DISABLED' % trait)
    return not without or not _any_could(context, without)


def _computes(context, required: str) -> list[str]:
    response = report.report_client_singleton().get(
        '/resource_providers?required=COMPUTE_NODE,%s' % required,
        version=_MICROVERSION,
        global_request_id=context.global_id,
    )
    response.raise_for_status()
    return [
        provider['uuid'] for provider in response.json()['resource_providers']
    ]


def _any_could(context, uuids: list[str]) -> bool:
    """Tell whether one of some compute nodes has our hypervisor."""
    found = nova_context.scatter_gather_all_cells(
        context, objects.ComputeNodeList.get_all_by_uuids, uuids
    )
    for nodes in found.values():
        if nova_context.is_cell_failure_sentinel(nodes):
            return True
        if any(node.hypervisor_type == HYPERVISOR for node in nodes):
            return True
    return False

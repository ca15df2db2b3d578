# SPDX-License-Identifier: Apache-2.0
"""Claims of a host: the devices of a server from another cell (XC-25).

The resource tracker finds this module under the name of the host's. It makes
the requests for devices anew from the flavor, and the claim of a move then
takes any device that fits. That of a move from another cell takes those that
placement has allocated.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import contextvars
import functools
import itertools
import types
import typing as ty

import os_traits
from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import claims
from nova.compute import pci_placement_translator

from nova_xcell.compute import placed_devices

LOG = logging.getLogger(__name__)

#: In how many ways a claim tries to share out the devices. Other requests of
#: the host wait for it, and one is enough unless NUMA policies differ.
MOST_WAYS = 32

# Of the preparation in this thread: allocations of the server by provider.
_allocations: contextvars.ContextVar[Mapping[str, dict]] = (
    contextvars.ContextVar('allocations', default=types.MappingProxyType({}))
)


def __getattr__(name: str) -> ty.Any:
    """Return the claim that the resource tracker looks up.

    Only a preparation that follows allocations gets ours. All else is the
    host's, as it is at that time.

    :param name: of a class of nova.compute.claims
    """
    if name == 'MoveClaim' and _allocations.get():
        return PlacedMoveClaim
    return getattr(claims, name)


@contextlib.contextmanager
def following(allocations: Mapping[str, dict]) -> Iterator[None]:
    """Let claims of this thread take the devices that are allocated.

    :param allocations: what the server has in placement, by provider
    """
    token = _allocations.set(allocations)
    try:
        yield
    finally:
        _allocations.reset(token)


class PlacedMoveClaim(claims.MoveClaim):
    """Takes the devices that placement has allocated."""

    def __init__(
        self,
        context,
        instance,
        nodename,
        flavor,
        image_meta,
        tracker,
        compute_node,
        pci_requests,
        migration,
        limits=None,
    ):
        """See the host's class.

        :param pci_requests: nova.objects.InstancePCIRequests; says afterwards
            from which providers its devices come
        :raises: nova.exception.ComputeResourcesUnavailable
        """
        claim = functools.partial(
            super().__init__,
            context,
            instance,
            nodename,
            flavor,
            image_meta,
            tracker,
            compute_node,
            pci_requests,
            migration,
            limits=limits,
        )
        requests = _requests_of_flavor(pci_requests)
        providers = _providers(tracker.provider_tree)
        ways = list(
            itertools.islice(
                placed_devices.ways(map(_described, requests), providers),
                MOST_WAYS,
            )
        )
        if not ways:
            if requests and providers:
                LOG.warning(
                    'The devices that the flavor asks for are not those that '
                    'are allocated in Placement; taking any that fit.',
                    instance=instance,
                )
            claim()
            return
        for number, way in enumerate(ways, 1):
            for request in requests:
                for spec in request.spec:
                    spec['rp_uuids'] = ','.join(way[request.request_id])
            try:
                claim()
                return
            except nova_exception.ComputeResourcesUnavailable:
                if number == len(ways):
                    raise


def forget_providers(instance: objects.Instance) -> None:
    """Do not leave in a server's record what was meant for the claim.

    The next host that claims from the record would look for the providers of
    this one.

    :param instance: the server, with the migration context of the claim;
        saved if there is something to forget
    """
    if any('rp_uuids' in spec for spec in _specs(instance.migration_context)):
        context = instance.migration_context.obj_clone()
        for spec in _specs(context):
            spec.pop('rp_uuids', None)
        # Only what is set as a whole is saved for sure.
        instance.migration_context = context
        instance.save()


def _specs(context: objects.MigrationContext) -> list[dict]:
    return [
        spec
        for request in _requests_of_flavor(context.new_pci_requests)
        for spec in request.spec
    ]


def _requests_of_flavor(
    pci_requests: objects.InstancePCIRequests | None,
) -> list[objects.InstancePCIRequest]:
    return [
        request
        for request in (pci_requests.requests if pci_requests else ())
        if request.source == objects.InstancePCIRequest.FLAVOR_ALIAS
    ]


def _described(request: objects.InstancePCIRequest) -> placed_devices.Request:
    # The scheduler has refused flavors with several, if it asks placement.
    spec = request.spec[0]
    return placed_devices.Request(
        request.request_id,
        request.count,
        pci_placement_translator.get_resource_class(
            spec.get('resource_class'),
            spec.get('vendor_id'),
            spec.get('product_id'),
        ),
        frozenset(pci_placement_translator.get_traits(spec.get('traits', ''))),
    )


def _providers(tree) -> list[placed_devices.Provider]:
    """Return the allocated providers that are PCI devices of this host."""
    return [
        placed_devices.Provider(
            uuid, allocation['resources'], frozenset(tree.data(uuid).traits)
        )
        for uuid, allocation in _allocations.get().items()
        if tree.exists(uuid)
        and tree.has_traits(uuid, [os_traits.COMPUTE_MANAGED_PCI_DEVICE])
    ]

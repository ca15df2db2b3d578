# SPDX-License-Identifier: Apache-2.0
"""Hosts that can migrate a server the way it wishes (MF-04)."""

from __future__ import annotations

import contextlib
import contextvars
import typing as ty

from oslo_log import log as logging

from nova import context as nova_context
from nova import objects
from nova.scheduler import request_filter

from nova_xcell.virt import server_wishes
from nova_xcell.virt import wishes

LOG = logging.getLogger(__name__)

#: Trait of a host, by what it can do.
TRAITS = {
    wishes.AUTO_CONVERGE: 'COMPUTE_MIGRATE_AUTO_CONVERGE',
    wishes.POST_COPY: 'COMPUTE_MIGRATE_POST_COPY',
}

NO_TRAITS: frozenset[str] = frozenset()

_required: contextvars.ContextVar[frozenset[str] | None] = (
    contextvars.ContextVar('nova_xcell_migration_traits', default=None)
)


def wished(context, spec: objects.RequestSpec) -> frozenset[str]:
    """Return the traits that a host has to have for a server.

    Only what is asked for (true) needs a host that can do it. A host that
    cannot is good for a server that rules it out (false).

    :param context: auth context of the request
    :param spec: what is scheduled
    """
    found = _of_spec(context, spec)
    return frozenset(
        trait for name, trait in TRAITS.items() if getattr(found, name)
    )


@contextlib.contextmanager
def required(traits: frozenset[str]) -> ty.Iterator[None]:
    """Let the request filter require some traits, whatever is wished.

    :param traits: names of the traits
    """
    token = _required.set(traits)
    try:
        yield
    finally:
        _required.reset(token)


@request_filter.trace_request_filter
def require_migration_traits(context, request_spec):
    """Require what a server wishes of the hosts it is offered.

    :param context: auth context of the request
    :param request_spec: nova.objects.RequestSpec, which is changed
    :returns: bool, whether there is something to require
    """
    traits = _required.get()
    if traits is None:
        traits = wished(context, request_spec)
    if not traits:
        return False
    request_spec.root_required.update(traits)
    LOG.debug(
        'Hosts have to report %s.',
        ', '.join(sorted(traits)),
        instance_uuid=request_spec.instance_uuid,
    )
    return True


#: The filters of the host and ours.
REQUEST_FILTERS = [
    *request_filter.ALL_REQUEST_FILTERS,
    require_migration_traits,
]


def _of_spec(context, spec: objects.RequestSpec) -> wishes.Wishes:
    properties = {}
    if 'image' in spec and spec.image and 'properties' in spec.image:
        of_image = spec.image.properties
        properties = {
            key: of_image.get(key)
            for key in (wishes.IMAGE_PROPERTY + name for name in TRAITS)
            # The host's own class raises for what it does not know.
            if key in of_image.fields
        }
    if not any(value is not None for value in properties.values()):
        instance = _moving_instance(context, spec)
        if instance is not None:
            properties = server_wishes.image_properties(instance)
    return wishes.tolerated(spec.flavor.extra_specs, properties)


def _moving_instance(
    context, spec: objects.RequestSpec
) -> objects.Instance | None:
    """Return the server, if it is one that moves.

    A request that was made when nothing knew our image properties has lost
    them; the server's record has them.
    """
    if (
        'requested_destination' not in spec
        or spec.requested_destination is None
        or 'cell' not in spec.requested_destination
        or spec.requested_destination.cell is None
    ):
        # A new server, which is in no cell yet.
        return None
    try:
        with nova_context.target_cell(
            context, spec.requested_destination.cell
        ) as cctxt:
            return objects.Instance.get_by_uuid(
                cctxt, spec.instance_uuid, expected_attrs=['system_metadata']
            )
    except Exception:
        LOG.warning(
            'The image properties of the server could not be read; what they '
            'say of live migrations is not asked of its next host.',
            instance_uuid=spec.instance_uuid,
            exc_info=True,
        )
        return None

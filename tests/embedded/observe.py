# SPDX-License-Identifier: Apache-2.0
"""Photograph one server over a whole embedded cloud.

Everything is read from where it is kept: the cells' databases, Placement's
API, the fixtures behind Neutron, Cinder and Glance, the resource trackers
and the hypervisors. Nothing is changed.
"""

from __future__ import annotations

import collections
from typing import Any

from nova import context as nova_context
from nova import exception
from nova import objects

from tests.embedded.invariants import leaks
from tests.embedded.snapshots import Attachment
from tests.embedded.snapshots import diff
from tests.embedded.snapshots import Move
from tests.embedded.snapshots import Record
from tests.embedded.snapshots import Snapshot

__all__ = ('Snapshot', 'diff', 'leaks', 'snapshot')

#: How Nova names the image that carries a root disk to another cell.
TEMPORARY_IMAGE_SUFFIX = '-resize-temp'


def snapshot(cloud: Any, server_id: str) -> Snapshot:
    """Take a snapshot of a server.

    :param cloud: the `tests.embedded.cloud.TwoCellCloud`
    :param server_id: the server's uuid; it need not exist any more
    :returns: all that exists of it
    """
    records: dict[str, Record] = {}
    moves: dict[str, tuple[Move, ...]] = {}
    consumers = [server_id]
    for cell in cloud.HOSTS:
        with cloud.context_of(cell) as context:
            record = _record(context, server_id)
            if record:
                records[cell] = record
            found = _moves(context, server_id)
        if found:
            moves[cell] = found
        consumers.extend(
            move.uuid for move in found if move.uuid not in consumers
        )
    return Snapshot(
        server=server_id,
        mapping=_mapping(server_id),
        records=records,
        spec_flavor=_spec_flavor(server_id),
        moves=moves,
        allocations=_allocations(cloud, consumers),
        bindings=_bindings(cloud, server_id),
        attachments=_attachments(cloud, server_id),
        images=_images(cloud, server_id),
        claims=_claims(cloud, server_id),
        guests=tuple(
            host
            for host, compute in _computes(cloud)
            if server_id in compute.manager.driver.list_instance_uuids()
        ),
        vcpus={
            host: node.vcpus_used
            for host, compute in _computes(cloud)
            for node in compute.manager.rt.compute_nodes.values()
        },
    )


def _record(context: Any, server_id: str) -> Record | None:
    try:
        instance = objects.Instance.get_by_uuid(
            context, server_id, expected_attrs=['flavor']
        )
    except exception.InstanceNotFound:
        return None
    devices = objects.BlockDeviceMappingList.get_by_instance_uuid(
        context, server_id
    )
    return Record(
        host=instance.host,
        node=instance.node,
        hidden=instance.hidden,
        vm_state=instance.vm_state,
        task_state=instance.task_state,
        flavor=instance.flavor.flavorid if instance.flavor else None,
        volumes={
            device.volume_id: device.attachment_id
            for device in devices
            if device.is_volume
        },
    )


def _moves(context: Any, server_id: str) -> tuple[Move, ...]:
    migrations = objects.MigrationList.get_by_filters(
        context,
        {'instance_uuid': server_id},
        sort_keys=['id'],
        sort_dirs=['asc'],
    )
    return tuple(
        Move(
            uuid=migration.uuid,
            status=migration.status,
            source=migration.source_compute,
            dest=migration.dest_compute,
        )
        for migration in migrations
    )


def _mapping(server_id: str) -> str | None:
    try:
        mapping = objects.InstanceMapping.get_by_instance_uuid(
            nova_context.get_admin_context(), server_id
        )
    except exception.InstanceMappingNotFound:
        return None
    return mapping.cell_mapping.name if mapping.cell_mapping else None


def _spec_flavor(server_id: str) -> str | None:
    try:
        spec = objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), server_id
        )
    except exception.RequestSpecNotFound:
        return None
    return spec.flavor.flavorid


def _allocations(cloud: Any, consumers: list[str]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    names: dict[str, str] = {}
    for consumer in consumers:
        found = cloud.placement.get(f'/allocations/{consumer}').body[
            'allocations'
        ]
        if found and not names:
            names = _hosts_by_provider(cloud)
        for provider, allocation in found.items():
            held.setdefault(consumer, {}).setdefault(
                names[provider], {}
            ).update(allocation['resources'])
    return held


def _hosts_by_provider(cloud: Any) -> dict[str, str]:
    """Return which host a provider is, or is a part of."""
    providers = cloud.placement.get(
        '/resource_providers', version='1.14'
    ).body['resource_providers']
    names = {provider['uuid']: provider['name'] for provider in providers}
    return {
        provider['uuid']: names[provider['root_provider_uuid']]
        for provider in providers
    }


def _bindings(cloud: Any, server_id: str) -> dict[str, dict[str, str]]:
    # A port that was taken from the server may have kept its bindings.
    ports = set(cloud.ports.get(server_id, ()))
    ports.update(
        port['id']
        for port in list(cloud.neutron._ports.values())
        if port.get('device_id') == server_id
    )
    return {
        port: {
            host: binding['status']
            for host, binding in list(
                cloud.neutron._port_bindings[port].items()
            )
        }
        for port in sorted(ports)
    }


def _attachments(cloud: Any, server_id: str) -> dict[str, Attachment]:
    found = {}
    for volume, attachments in list(cloud.cinder.volume_to_attachment.items()):
        for key, attachment in list(attachments.items()):
            if attachment['instance_uuid'] == server_id:
                found[key] = Attachment(
                    volume, (attachment['connector'] or {}).get('host')
                )
    return found


def _images(cloud: Any, server_id: str) -> tuple[str, ...]:
    return tuple(
        key
        for key, image in list(cloud.glance.images.items())
        if image.get('properties', {}).get('instance_uuid') == server_id
        and image['name'].endswith(TEMPORARY_IMAGE_SUFFIX)
    )


def _claims(cloud: Any, server_id: str) -> dict[str, tuple[str, ...]]:
    claims = collections.defaultdict(tuple)
    for host, compute in _computes(cloud):
        if server_id in compute.manager.rt.tracked_instances:
            claims[host] += ('instance',)
        if server_id in compute.manager.rt.tracked_migrations:
            claims[host] += ('migration',)
    return dict(claims)


def _computes(cloud: Any) -> list[tuple[str, Any]]:
    return sorted(cloud.computes.items())

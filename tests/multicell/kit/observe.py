# SPDX-License-Identifier: Apache-2.0
"""Photograph one server over the whole cloud.

Fills the `Snapshot` of the embedded cloud, so that one check, `leaks`,
judges both. All is read from where it is kept; nothing is changed.
"""

from __future__ import annotations

import json

from tests.embedded.invariants import RESIZED
from tests.embedded.snapshots import Attachment
from tests.embedded.snapshots import Move
from tests.embedded.snapshots import Record
from tests.embedded.snapshots import Snapshot
from tests.multicell import layout as lay
from tests.multicell.kit.clients import Clients

#: How Nova names the image that carries a root disk to another cell.
TEMPORARY_IMAGE_SUFFIX = '-resize-temp'

RECORD = (
    'select host, node, hidden, vm_state, task_state, flavor '
    'from instances join instance_extra '
    'on instance_extra.instance_uuid = instances.uuid '
    'where instances.uuid = %s and instances.deleted = 0'
)
SPEC = 'select spec from request_specs where instance_uuid = %s'
VOLUMES = (
    'select volume_id, attachment_id from block_device_mapping '
    'where instance_uuid = %s and deleted = 0 and volume_id is not null'
)
MOVES = (
    'select uuid, status, source_compute, dest_compute from migrations '
    'where instance_uuid = %s and deleted = 0 order by id'
)
MAPPING = (
    'select cell_mappings.name from instance_mappings '
    'join cell_mappings on cell_mappings.id = instance_mappings.cell_id '
    'where instance_uuid = %s'
)
ATTACHMENTS = (
    'select id, volume_id, connector, attached_host from volume_attachment '
    'where instance_uuid = %s and deleted = 0'
)
BINDINGS = (
    'select port_id, host, ml2_port_bindings.status from ml2_port_bindings '
    'join ports on ports.id = port_id where device_id = %s and host != ""'
)
IMAGES = (
    'select images.id from images join image_properties '
    'on image_properties.image_id = images.id '
    'where images.deleted = 0 and image_properties.deleted = 0 '
    'and image_properties.name = "instance_uuid" and value = %s '
    f'and images.name like "%%{TEMPORARY_IMAGE_SUFFIX}"'
)
NODES = 'select host, vcpus_used from compute_nodes where deleted = 0'


def snapshot(clients: Clients, server: str) -> Snapshot:
    """Take a snapshot of a server.

    :param clients: of the cloud
    :param server: its uuid; it need not exist any more
    :returns: all that exists of it
    """
    records, moves = {}, {}
    consumers = [server]
    vcpus = {}
    for cell in lay.CELLS:
        database = f'nova_{cell}'
        for row in clients.sql(database, RECORD, server):
            records[cell] = _record(clients, database, server, row)
        found = tuple(
            Move(*row.values()) for row in clients.sql(database, MOVES, server)
        )
        if found:
            moves[cell] = found
        consumers.extend(move.uuid for move in found)
        for row in clients.sql(database, NODES):
            vcpus[row['host']] = row['vcpus_used']
    mapping = clients.sql('nova_api', MAPPING, server)
    return Snapshot(
        server=server,
        mapping=mapping[0]['name'] if mapping else None,
        records=records,
        spec_flavor=_spec_flavor(clients, server),
        moves=moves,
        allocations=_allocations(clients, consumers),
        bindings=_bindings(clients, server),
        attachments=_attachments(clients, server),
        images=tuple(
            row['id'] for row in clients.sql('glance', IMAGES, server)
        ),
        claims=_claims(records),
        guests=tuple(
            host
            for host in lay.HOSTS
            if server
            in clients.on_host(
                host, 'virsh', 'list', '--all', '--uuid'
            ).split()
        ),
        vcpus=vcpus,
    )


def _record(clients: Clients, database: str, server: str, row: dict) -> Record:
    return Record(
        host=row['host'],
        node=row['node'],
        hidden=bool(row['hidden']),
        vm_state=row['vm_state'],
        task_state=row['task_state'],
        flavor=_flavor_id(json.loads(row['flavor'])['cur']),
        volumes={
            volume['volume_id']: volume['attachment_id']
            for volume in clients.sql(database, VOLUMES, server)
        },
    )


def _spec_flavor(clients: Clients, server: str) -> str | None:
    rows = clients.sql('nova_api', SPEC, server)
    if not rows:
        return None
    spec = json.loads(rows[0]['spec'])
    return _flavor_id(spec['nova_object.data']['flavor'])


def _flavor_id(flavor: dict) -> str:
    # The database keeps flavors as serialised objects.
    return flavor['nova_object.data']['flavorid']


def _allocations(clients: Clients, consumers: list[str]) -> dict:
    held = {}
    for consumer in dict.fromkeys(consumers):
        found = clients.placement(f'/allocations/{consumer}')['allocations']
        if found:
            held[consumer] = {
                clients.providers[provider]: allocation['resources']
                for provider, allocation in found.items()
            }
    return held


def _bindings(clients: Clients, server: str) -> dict:
    found: dict[str, dict[str, str]] = {}
    for row in clients.sql('neutron', BINDINGS, server):
        found.setdefault(row['port_id'], {})[row['host']] = row['status']
    return found


def _attachments(clients: Clients, server: str) -> dict[str, Attachment]:
    found = {}
    for row in clients.sql('cinder', ATTACHMENTS, server):
        connector = json.loads(row['connector'] or 'null') or {}
        host = connector.get('host') or row['attached_host']
        found[row['id']] = Attachment(row['volume_id'], host)
    return found


def _claims(records: dict[str, Record]) -> dict[str, tuple[str, ...]]:
    # A resource tracker's books are in the memory of nova-compute and cannot
    # be seen from here: what they should hold is taken for granted.
    return {
        record.host: ('instance',)
        for record in records.values()
        if record.host and not record.hidden
    }


def disks(clients: Clients, server: str, suffix: str = '') -> list[str]:
    """Return the hosts that have files of a server.

    :param clients: of the cloud
    :param server: its uuid
    :param suffix: ``_resize`` for what a move within a cell keeps
    """
    return [
        host
        for host in lay.HOSTS
        if (
            clients.layout.host_state(host)
            / 'compute/instances'
            / (server + suffix)
        ).exists()
    ]


def stray_files(clients: Clients, found: Snapshot) -> list[str]:
    """Name the hosts whose files of a server do not fit its records.

    :param clients: of the cloud
    :param found: a snapshot of it
    """
    wanted = {record.host for record in found.records.values() if record.host}
    there = set(disks(clients, found.server))
    stray = [f'leftover files on {host}' for host in sorted(there - wanted)]
    stray += [f'no files on {host}' for host in sorted(wanted - there)]
    if not (found.home and found.home.vm_state == RESIZED):
        stray += [
            f'leftover files of the move on {host}'
            for host in disks(clients, found.server, '_resize')
        ]
    return stray

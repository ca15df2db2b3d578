# SPDX-License-Identifier: Apache-2.0
"""What failed rebuilds of a plain host leave of a server: pure."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import enum

_ERROR = 'error'
#: Statuses of a server whose volumes or allocations are elsewhere.
_AWAY = ('resized', 'shelved_offloaded', 'building')


class Problem(enum.Enum):
    """What is wrong with a server, as the audit calls it."""

    ALLOCATIONS = 'no allocations'
    STALE = 'attachment of no device'
    MISSING = 'device without attachment'
    IMAGE = 'image out of step'
    VOLUME = 'volume in error'


#: What is done about them.
PLANS = {
    Problem.ALLOCATIONS: 'make those of the flavor',
    Problem.STALE: 'delete it',
    Problem.MISSING: 'reserve the volume',
    Problem.IMAGE: 'store what is on the volume',
    Problem.VOLUME: None,
}


@dataclasses.dataclass(frozen=True)
class Device:
    """A volume as a device of a server.

    :ivar volume_id: the volume
    :ivar attachment_id: its attachment, as the record of the server has it
    :ivar is_root: whether the server boots from it
    :ivar status: of the volume
    :ivar image_id: the image on it, as Cinder has it
    """

    volume_id: str
    attachment_id: str | None
    is_root: bool
    status: str
    image_id: str | None = None


@dataclasses.dataclass(frozen=True)
class Attachment:
    """An attachment of a server that Cinder has.

    :ivar id: its id
    :ivar volume_id: the volume
    :ivar is_reserved: whether it is not connected
    """

    id: str
    volume_id: str
    is_reserved: bool


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that was rebuilt, or was to be.

    :ivar uuid: its UUID
    :ivar vm_state: its state
    :ivar task_state: what is being done to it
    :ivar has_allocations: in placement
    :ivar image_ref: image that its record has
    :ivar images: what its metadata and its request spec call its image
    :ivar devices: its volumes
    :ivar attachments: of volumes to it
    """

    uuid: str
    vm_state: str
    task_state: str | None
    has_allocations: bool
    image_ref: str | None = None
    images: tuple[str | None, ...] = ()
    devices: tuple[Device, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclasses.dataclass(frozen=True)
class Leftover:
    """Something that is wrong with a server.

    :ivar problem: what
    :ivar thing: with which volume or attachment
    :ivar waits: why nothing can be done about it, or None
    """

    problem: Problem
    thing: str | None = None
    waits: str | None = None


def of(server: Server) -> list[Leftover]:
    """Return what is wrong with a server; nothing while it is worked on.

    :param server: the server
    """
    if server.task_state or server.vm_state in _AWAY:
        return []
    found = [*_of_attachments(server), *_of_root(server)]
    if not server.has_allocations:
        found.append(Leftover(Problem.ALLOCATIONS))
    return found


def _of_attachments(server: Server) -> Iterator[Leftover]:
    used = {device.attachment_id for device in server.devices}
    volumes = {device.volume_id for device in server.devices}
    for attachment in server.attachments:
        if attachment.id in used or attachment.volume_id not in volumes:
            continue
        waits = None
        if not attachment.is_reserved and server.vm_state != _ERROR:
            waits = 'it is connected, and the server is not in ERROR'
        yield Leftover(Problem.STALE, attachment.id, waits)
    existing = {attachment.id for attachment in server.attachments}
    for device in server.devices:
        if not device.attachment_id or device.attachment_id in existing:
            continue
        waits = None
        if server.vm_state != _ERROR:
            waits = 'the server is not in ERROR'
        elif device.status != 'available':
            waits = 'the volume is %s, maybe of others' % device.status
        yield Leftover(Problem.MISSING, device.volume_id, waits)


def _of_root(server: Server) -> Iterator[Leftover]:
    for device in server.devices:
        if not device.is_root:
            continue
        # In other states the user may have put another volume there.
        is_stale = server.vm_state == _ERROR and any(
            image and image != device.image_id for image in server.images
        )
        # That of a server on a volume is empty.
        if (is_stale and device.image_id) or server.image_ref:
            waits = None
            if device.status == 'downloading':
                waits = 'Cinder writes to the volume'
            yield Leftover(Problem.IMAGE, device.volume_id, waits)
        if server.vm_state == _ERROR and device.status.startswith('error'):
            yield Leftover(
                Problem.VOLUME,
                device.volume_id,
                'mend it in Cinder, and set its status to reserved',
            )

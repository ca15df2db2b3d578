# SPDX-License-Identifier: Apache-2.0
"""The hypervisor of the embedded cloud: Nova's fake one, with storage paths.

Nova's fake driver reaches every volume from every host. This one can be told
that its host has no path to a volume. It then answers `can_connect_volume`
with no, and a real connect fails as well, so that whoever does not ask first
runs into the same wall.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nova import exception
from nova.virt import fake

#: Called with (host, volume id, answer) whenever a host was asked.
VolumeCheckObserver = Callable[[str, str, bool], None]


def volume_id_of(connection_info: dict[str, Any]) -> str | None:
    """Name the volume that a connection info leads to.

    :param connection_info: as Cinder returns it for an attachment
    :returns: the volume's id, None when the info does not say
    """
    data = connection_info.get('data') or {}
    return (
        data.get('volume_id')
        or connection_info.get('volume_id')
        or connection_info.get('serial')
    )


class StoragePathFakeDriver(fake.MediumFakeDriver):
    """A fake driver whose host may lack the path to some volumes."""

    def __init__(self, virtapi: Any, read_only: bool = False) -> None:
        super().__init__(virtapi, read_only=read_only)
        self.unreachable: set[str] = set()
        self.observer: VolumeCheckObserver | None = None

    def can_connect_volume(
        self, context: Any, connection_info: dict[str, Any], instance: Any
    ) -> bool:
        """Say whether this host could connect a volume.

        :param context: request context
        :param connection_info: as Cinder returns it for an attachment
        :param instance: the instance the volume belongs to
        :returns: False for a volume registered as unreachable, else True
        """
        volume_id = volume_id_of(connection_info)
        answer = volume_id not in self.unreachable
        if self.observer:
            self.observer(self._host, volume_id or 'unknown', answer)
        return answer

    def spawn(
        self,
        context: Any,
        instance: Any,
        *args: Any,
        block_device_info: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Start a guest, connecting its volumes first.

        :param context: request context
        :param instance: the instance to start
        :param block_device_info: its block devices, volumes among them
        :raises: nova.exception.VolumeNotFound when one is unreachable
        """
        info = block_device_info or {}
        for mapping in info.get('block_device_mapping') or ():
            self._connect(mapping['connection_info'])
        super().spawn(
            context,
            instance,
            *args,
            block_device_info=block_device_info,
            **kwargs,
        )

    def attach_volume(
        self,
        context: Any,
        connection_info: dict[str, Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Attach a volume to a running guest.

        :param context: request context
        :param connection_info: as Cinder returns it for an attachment
        :raises: nova.exception.VolumeNotFound when it is unreachable
        """
        self._connect(connection_info)
        super().attach_volume(context, connection_info, *args, **kwargs)

    def _connect(self, connection_info: dict[str, Any]) -> None:
        volume_id = volume_id_of(connection_info)
        if volume_id in self.unreachable:
            raise exception.VolumeNotFound(volume_id=volume_id)

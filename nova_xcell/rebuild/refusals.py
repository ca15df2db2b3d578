# SPDX-License-Identifier: Apache-2.0
"""Why an image cannot be written to a volume, and when it has to be: pure."""

from __future__ import annotations

from collections.abc import Mapping
import typing as ty

#: Statuses of the volumes of a server that can be rebuilt once more: what a
#: failed rebuild leaves, and what operators set who mend it.
LEFT = ('reserved', 'error', 'available')
#: The same of volumes that the rebuild does not write to: what is on one in
#: error would be taken for good.
KEPT = ('reserved',)

#: Key in the metadata of a request: whether an image that the volume has
#: already is written once more. It is not stored.
WISH = 'xcell_reimage'

_GIB = 1024**3


def of_image(
    image: Mapping[str, ty.Any], volume: Mapping[str, ty.Any]
) -> str | None:
    """Tell why Cinder would refuse to write an image to a volume (VR-08).

    :param image: as the host gets it from Glance
    :param volume: as the host gets it from Cinder
    :returns: the reason, or None
    """
    size = image.get('size')
    if size is None:
        return 'its size is not known, it may have no data'
    room = volume.get('size') or 0
    needed = max(
        _gib(size),
        _gib(image.get('virtual_size') or 0),
        int(image.get('min_disk') or 0),
    )
    if needed > room:
        return 'it needs %d GiB, and volume %s has %d GiB' % (
            needed,
            volume['id'],
            room,
        )
    return None


def of_volume(volume: Mapping[str, ty.Any]) -> str | None:
    """Tell why a volume cannot be written to (VR-08).

    :param volume: as the host gets it from Cinder
    :returns: the reason, or None
    """
    if volume.get('multiattach'):
        return (
            'the root volume %s can be attached to several servers'
            % volume['id']
        )
    return None


def image_of(volume: Mapping[str, ty.Any]) -> str | None:
    """Return the image that a volume was made from, as Cinder has it.

    :param volume: as the host gets it from Cinder
    """
    return (volume.get('volume_image_metadata') or {}).get('image_id')


def keeps_volume(
    volume: Mapping[str, ty.Any], image_id: str, is_in_error: bool
) -> bool:
    """Tell whether a rebuild needs not write to the root volume (VR-10).

    :param volume: as the host gets it from Cinder
    :param image_id: the image that is asked for
    :param is_in_error: whether the server is in ERROR
    """
    if image_of(volume) != image_id:
        return False
    # After a reimage that failed nobody knows what is on it.
    return not (is_in_error and volume.get('status') in LEFT)


def take_wish(arguments: dict[str, ty.Any]) -> str | None:
    """Take out of a request what it says under :data:`WISH` (VR-10).

    :param arguments: of the rebuild; metadata with nothing else in it is
        taken out, so that the server keeps its own
    :returns: the value as it is; None if there is none
    """
    metadata = dict(arguments.get('metadata') or {})
    wish = metadata.pop(WISH, None)
    if wish is not None:
        if metadata:
            arguments['metadata'] = metadata
        else:
            del arguments['metadata']
    return wish


def _gib(size: int) -> int:
    return -(-int(size) // _GIB)

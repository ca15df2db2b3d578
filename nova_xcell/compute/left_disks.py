# SPDX-License-Identifier: Apache-2.0
"""What a source host has left of a server: pure, no host imports.

The note is in the system metadata of the source cell's record. It is only
looked at while that record is the hidden one, until confirm or revert.
"""

from __future__ import annotations

import collections.abc
import hashlib
import json
import typing as ty

#: Key of system metadata.
NOTE = 'xcell_left_disks'


def note(disks: collections.abc.Mapping[str, str]) -> str:
    """Return a digest of the local disks of a server.

    :param disks: what tells one state from another, by path or image
    """
    return hashlib.sha256(
        json.dumps(disks, sort_keys=True).encode()
    ).hexdigest()


def is_left_behind(instance: ty.Any) -> bool:
    """Tell whether a record is that of a server which has moved away.

    :param instance: nova.objects.Instance
    """
    return bool(
        'hidden' in instance
        and instance.hidden
        and NOTE in instance.system_metadata
    )


def is_unchanged(
    instance: ty.Any, disks: collections.abc.Mapping[str, str]
) -> bool:
    """Tell whether the disks are as the server has left them.

    :param instance: nova.objects.Instance that :func:`is_left_behind`
    :param disks: as they are now
    """
    return instance.system_metadata[NOTE] == note(disks)

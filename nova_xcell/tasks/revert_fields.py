# SPDX-License-Identifier: Apache-2.0
"""Which fields of a resized server go back with it at revert: pure.

The record in the source cell is as old as the move. What a user or an
administrator can change while the server waits for the decision is taken from
the target cell; what belongs to a host, a flavor or a cell is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Fields of a server that can be changed while it is resized.
INSTANCE = (
    'access_ip_v4',
    'access_ip_v6',
    'auto_disk_config',
    'display_description',
    'display_name',
    'hostname',
    'locked',
    'locked_by',
    'metadata',
)

#: Keys of system metadata, or how they begin, that can be changed then: the
#: reason of a lock, and the password that the guest has set.
SYSTEM_METADATA = ('locked_reason', 'password_')

#: Fields of a block device that stay as they are in the source cell.
KEPT_OF_DEVICE = (
    'attachment_id',
    'connection_info',
    'created_at',
    'deleted',
    'deleted_at',
    'id',
    'instance',
    'instance_uuid',
    'updated_at',
    'uuid',
)


def changed(
    fields: tuple[str, ...], source: Mapping, target: Mapping
) -> dict[str, Any]:
    """Return the fields in which the source's record is behind.

    :param fields: fields to look at
    :param source: the record in the source cell
    :param target: the record in the target cell
    :returns: new value by field
    """
    return {
        field: target[field]
        for field in fields
        if source[field] != target[field]
    }


def system_metadata(
    source: Mapping[str, str], target: Mapping[str, str]
) -> dict[str, str]:
    """Return the system metadata that the source's record should have.

    :param source: system metadata in the source cell
    :param target: system metadata in the target cell
    """
    kept = {
        key: value
        for key, value in source.items()
        if not key.startswith(SYSTEM_METADATA)
    }
    brought = {
        key: value
        for key, value in target.items()
        if key.startswith(SYSTEM_METADATA)
    }
    return {**kept, **brought}

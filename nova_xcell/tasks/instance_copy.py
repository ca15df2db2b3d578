# SPDX-License-Identifier: Apache-2.0
"""A server's record, ready to be written to another cell (XC-06)."""

from __future__ import annotations

from nova import objects

#: Fields that Instance.create() writes only if they are loaded, and writes as
#: empty if they are not.
STORED_FIELDS = (
    'device_metadata',
    'flavor',
    'info_cache',
    'keypairs',
    'metadata',
    'numa_topology',
    'pci_requests',
    'resources',
    'system_metadata',
    'trusted_certs',
    'vcpu_model',
)


def prepare(instance: objects.Instance) -> objects.Instance:
    """Return a copy of a server's record that may be given away.

    The host's clone shares nested objects with what it was made from, and
    create() then points those at the other cell. The original has to remain
    usable in its own cell when the move fails.

    :param instance: the record in the source cell; fields that are not loaded
        yet are loaded
    :returns: a complete copy that shares nothing with it
    """
    for field in STORED_FIELDS:
        if not instance.obj_attr_is_set(field):
            instance.obj_load_attr(field)
    return instance.obj_clone()

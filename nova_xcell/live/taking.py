# SPDX-License-Identifier: Apache-2.0
"""nova-conductor takes over the migration that nova-api has made.

See :mod:`nova_xcell.live.handing`. The host makes its record in the midst of
a method; what makes it is replaced, for that method only.
"""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception
from nova.objects import migration

from nova_xcell.live import handed

LOG = logging.getLogger(__name__)

# What the host has; looked up before the seam replaces it.
_host_create = migration.Migration.create


def create(self):
    """Make the record of a migration, or take over the one handed over.

    See the host's method.
    """
    uuid = handed.take()
    made = _found(self, uuid) if uuid else None
    if made is None:
        return _host_create(self)
    for name, value in self.obj_get_changes().items():
        setattr(made, name, value)
    made.hidden = False
    made.save()
    for name in made.fields:
        if made.obj_attr_is_set(name):
            setattr(self, name, getattr(made, name))
    self.obj_reset_changes()


def _found(
    wanted: migration.Migration, uuid: str
) -> migration.Migration | None:
    try:
        made = migration.Migration.get_by_uuid(wanted._context, uuid)
    except exception.MigrationNotFound:
        made = None
    if (
        made is None
        or made.instance_uuid != wanted.instance_uuid
        or made.status != 'accepted'
        or not made.hidden
    ):
        LOG.warning(
            'Migration %s of server %s cannot be taken over from nova-api; '
            'another one is made.',
            uuid,
            wanted.instance_uuid,
        )
        return None
    return made

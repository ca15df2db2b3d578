# SPDX-License-Identifier: Apache-2.0
"""Temporary images that could not be deleted when a move came to its end.

They cost space, not the server. So the move ends, the server says that there
may be one, and it is looked for again.
"""

from __future__ import annotations

from oslo_log import log as logging

from nova import objects

from nova_xcell.tasks import attempts
from nova_xcell.tasks import cells
from nova_xcell.tasks import leftovers
from nova_xcell.tasks import services

LOG = logging.getLogger(__name__)

#: Key of the system metadata of a server that may have left an image.
MARK = 'xcell_left_images'


def delete(clients: services.Services, instance: objects.Instance) -> bool:
    """Delete the temporary images of a server, or note that there may be some.

    :param clients: of the services
    :param instance: the server; saved
    :returns: whether there are none any more
    """
    try:
        leftovers.delete_images(instance._context, clients, instance)
    except Exception as exc:
        LOG.warning(
            'Images that a move may have left could not be looked for (%s): '
            'they are named %s. It is tried again.',
            attempts.reason_of(exc),
            leftovers.TEMPORARY_IMAGE_NAME % instance.display_name,
            instance=instance,
        )
        instance.system_metadata[MARK] = 'True'
        instance.save()
        return False
    if instance.system_metadata.pop(MARK, None):
        instance.save()
    return True


def delete_all(
    context, clients: services.Services, server: str | None = None
) -> None:
    """Look again for what servers may have left.

    :param context: admin context
    :param clients: of the services
    :param server: UUID of the only server to look at, None for all
    """
    filters = {'deleted': False, 'system_metadata': {MARK: 'True'}}
    if server is not None:
        filters['uuid'] = server
    for cell in cells.each(context):
        try:
            for instance in objects.InstanceList.get_by_filters(
                cells.targeted(context, cell),
                filters,
                expected_attrs=['system_metadata'],
            ):
                delete(clients, instance)
        except Exception as exc:
            LOG.warning(
                'Servers of cell %s that may have left images cannot be '
                'looked at: %s',
                cell.identity,
                attempts.reason_of(exc),
            )

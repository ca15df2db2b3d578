# SPDX-License-Identifier: Apache-2.0
"""Connect a volume to a libvirt host, and leave nothing of it."""

from __future__ import annotations

import copy

from oslo_log import log as logging

from nova import objects
import nova.conf
from nova.virt import block_device as driver_block_device

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


def can_connect(
    driver,
    context,
    connection_info: dict,
    instance: objects.Instance,
) -> bool:
    """Connect and disconnect a volume through the host's volume driver.

    Encryption is left alone: a key is not needed to see whether the storage
    answers.

    :param driver: nova.virt.libvirt.driver.LibvirtDriver
    :param context: auth context
    :param connection_info: what Cinder says for this host; not changed
    :param instance: the server that uses the volume
    :returns: False if one of the two failed; the log has the reason
    """
    volume_id = driver_block_device.get_volume_id(connection_info)
    if connection_info.get('multiattach') and _in_use_on_this_host(
        driver, context, volume_id
    ):
        # Disconnecting would take the volume away from that server.
        LOG.debug(
            'Volume %s is connected to this host for another server.',
            volume_id,
            instance=instance,
        )
        return True
    # The volume drivers note device paths in it.
    connection_info = copy.deepcopy(connection_info)
    try:
        volume_driver = driver._get_volume_driver(connection_info)
        volume_driver.connect_volume(connection_info, instance)
        volume_driver.disconnect_volume(connection_info, instance)
    except Exception:
        LOG.warning(
            'Volume %s cannot be connected to this host and disconnected '
            'again.',
            volume_id,
            instance=instance,
            exc_info=True,
        )
        _disconnect_leftovers(driver, connection_info, instance, volume_id)
        return False
    return True


def _in_use_on_this_host(driver, context, volume_id: str) -> bool:
    servers = objects.InstanceList.get_uuids_by_host(context, CONF.host)
    attachments = (
        driver._volume_api.get(context, volume_id).get('attachments') or {}
    )
    return any(server in attachments for server in servers)


def _disconnect_leftovers(
    driver,
    connection_info: dict,
    instance: objects.Instance,
    volume_id: str,
) -> None:
    """Remove devices that a failed connection may have left."""
    try:
        volume_driver = driver._get_volume_driver(connection_info)
        volume_driver.disconnect_volume(connection_info, instance, force=True)
    except Exception:
        LOG.debug(
            'Nothing of volume %s could be disconnected.',
            volume_id,
            instance=instance,
            exc_info=True,
        )

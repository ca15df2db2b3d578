# SPDX-License-Identifier: Apache-2.0
"""Can a host reach the volumes of a server that may move to it (XC-08)."""

from __future__ import annotations

import typing as ty

from os_brick.initiator import utils as brick_utils
from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.i18n import _
from nova.virt import block_device as driver_block_device

from nova_xcell import exception

LOG = logging.getLogger(__name__)


def check_volumes(
    context,
    driver,
    volume_api,
    instance: objects.Instance,
) -> None:
    """Let the virt driver connect every volume of a server once.

    Each volume gets an attachment for this host that lives only as long as
    the check, the way live migration makes one while the volume is still in
    use elsewhere. See spec cross-cell-resize, "Prep resize at dest".

    :param context: auth context targeted at the cell of this host
    :param driver: the host's virt driver; one that has no
        ``can_connect_volume``, or does not implement it, cannot tell and does
        not stand in the way
    :param volume_api: nova.volume.cinder.API
    :param instance: the server's record in the cell of this host
    :raises: nova.exception.MigrationPreCheckError naming the volume
    """
    can_connect_volume = getattr(driver, 'can_connect_volume', None)
    if can_connect_volume is None:
        return
    for bdm in instance.get_bdms():
        if not bdm.is_volume:
            continue
        try:
            reachable = _check_volume(
                context, driver, volume_api, instance, bdm, can_connect_volume
            )
        except NotImplementedError:
            LOG.debug(
                'The virt driver cannot tell whether a volume can be '
                'connected.',
                instance=instance,
            )
            return
        except Exception as exc:
            LOG.warning(
                'Volume %s cannot be connected to this host.',
                bdm.volume_id,
                instance=instance,
                exc_info=True,
            )
            raise _unreachable(bdm.volume_id, exception.shown(exc))
        if not reachable:
            raise _unreachable(bdm.volume_id, _('see the log of nova-compute'))


def _check_volume(
    context,
    driver,
    volume_api,
    instance: objects.Instance,
    bdm: objects.BlockDeviceMapping,
    can_connect_volume: ty.Callable,
) -> bool:
    volume = driver_block_device.DriverVolumeBlockDevice._get_volume(
        context, volume_api, bdm.volume_id
    )
    connector = driver.get_volume_connector(instance)
    # As wherever Nova connects or disconnects a volume: targets may be shared
    # with volumes of other servers of this host.
    with brick_utils.guard_connection(volume):
        attachment = volume_api.attachment_create(
            context,
            bdm.volume_id,
            instance.uuid,
            connector=connector,
            mountpoint=bdm.device_name,
        )
        try:
            connection_info = dict(attachment['connection_info'])
            # Nova adds these two itself wherever it connects a volume.
            connection_info['serial'] = bdm.volume_id
            if volume.get('multiattach'):
                connection_info['multiattach'] = True
            return can_connect_volume(context, connection_info, instance)
        finally:
            _delete_attachment(context, volume_api, attachment['id'], instance)


def _delete_attachment(
    context,
    volume_api,
    attachment_id: str,
    instance: objects.Instance,
) -> None:
    try:
        volume_api.attachment_delete(context, attachment_id)
    except nova_exception.VolumeAttachmentNotFound:
        LOG.debug(
            'Attachment %s is gone already.', attachment_id, instance=instance
        )
    except Exception:
        # The host is refused then: Cinder may not let it connect the volume
        # a second time. The server has not been touched.
        LOG.error(
            'Volume attachment %s was made to check a volume and could '
            'not be deleted; delete it.',
            attachment_id,
            instance=instance,
        )
        raise


def _unreachable(
    volume_id: str, reason: object
) -> nova_exception.MigrationPreCheckError:
    return nova_exception.MigrationPreCheckError(
        reason=_('Volume %(volume)s cannot be connected: %(reason)s')
        % {'volume': volume_id, 'reason': reason}
    )

# SPDX-License-Identifier: Apache-2.0
"""Refuse moves whose local disks the hosts cannot handle (XC-26).

What only the hosts know: whether they share the storage of local disks, and
what is on a config drive. Both checks come before the guest is touched. Virt
drivers without the methods cannot tell, and do not stand in the way.
"""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import utils as compute_utils
from nova.i18n import _

from nova_xcell.compute import left_disks
from nova_xcell.tasks import obstacles

LOG = logging.getLogger(__name__)


def check_destination(context, driver, instance: objects.Instance) -> None:
    """Refuse a server that this host should get from another cell.

    :param context: auth context targeted at the cell of this host
    :param driver: the virt driver of this host
    :param instance: the server's record in that cell
    :raises: nova.exception.MigrationPreCheckError
    """
    disks = _ask(driver, 'xcell_local_disks', instance)
    if disks:
        raise nova_exception.MigrationPreCheckError(
            reason=_(
                'local disks of the server are here already, on storage '
                'shared with the source host or left over: %s'
            )
            % ', '.join(sorted(disks))
        )
    _check_root_disk(context, driver, instance, at_source=False)


def check_source(context, driver, instance: objects.Instance) -> None:
    """Refuse a server that should leave this host for another cell.

    :param context: auth context targeted at the cell of this host
    :param driver: the virt driver of this host
    :param instance: the server
    :raises: nova.exception.MigrationPreCheckError
    """
    _check_root_disk(context, driver, instance, at_source=True)
    may_lose = obstacles.granted(
        context.request_id, instance.system_metadata.get(obstacles.MAY_LOSE)
    )
    if obstacles.PERSONALITY not in may_lose and _ask(
        driver, 'xcell_has_personality', instance
    ):
        raise nova_exception.MigrationPreCheckError(
            reason=obstacles.personality_reason()
        )


def _check_root_disk(
    context, driver, instance: objects.Instance, at_source: bool
) -> None:
    if compute_utils.is_volume_backed_instance(context, instance):
        return
    reason = _ask(driver, 'xcell_root_disk_obstacle', instance, at_source)
    if reason:
        raise nova_exception.MigrationPreCheckError(reason=reason)


def note_what_is_left(driver, instance: objects.Instance) -> None:
    """Remember the disks of a server that has left, to know them again.

    :param driver: the virt driver of this host
    :param instance: the server; saved
    """
    try:
        disks = _ask(driver, 'xcell_local_disks', instance)
        if disks is not None:
            instance.system_metadata[left_disks.NOTE] = left_disks.note(disks)
            instance.save()
    except Exception:
        LOG.exception(
            'It could not be noted which disks the server has left here. '
            'Before its move is confirmed, make sure that this host does not '
            'share their storage with the destination.',
            instance=instance,
        )


def _ask(driver, method: str, *arguments):
    """Call a method of ours, None if the driver does not have it."""
    function = getattr(driver, method, None)
    return None if function is None else function(*arguments)

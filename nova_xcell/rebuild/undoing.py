# SPDX-License-Identifier: Apache-2.0
"""Bring a server to the end that its rebuild has after an error."""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import power_state

from nova_xcell import exception
from nova_xcell.rebuild import before
from nova_xcell.rebuild import current
from nova_xcell.rebuild import outcomes

LOG = logging.getLogger(__name__)


def clean_up(
    context,
    manager,
    instance: objects.Instance,
    rebuild: current.Rebuild,
    exc: Exception,
) -> None:
    """Bring a server to its end; see :mod:`nova_xcell.rebuild.outcomes`.

    :param context: auth context
    :param manager: nova.compute.manager.ComputeManager of this host
    :param instance: the server
    :param rebuild: what was done to it
    :param exc: why that was not finished
    :raises: nova.exception.InstanceFaultRollback if the server is as it was;
        what keeps it from being that otherwise
    """
    try:
        _clean_up(context, manager, instance, rebuild, exc)
    except nova_exception.InstanceNotFound as missing:
        exc = missing
    if isinstance(exc, nova_exception.InstanceNotFound):
        if _is_deleted(context, instance):
            forget(rebuild)
            raise exc
        # Only its guest is missing. The host takes the error for a sign that
        # the server is, and would leave it in its task for good.
        raise nova_exception.BuildAbortException(
            instance_uuid=instance.uuid, reason=exception.shown(exc)
        ) from exc


def _clean_up(
    context,
    manager,
    instance: objects.Instance,
    rebuild: current.Rebuild,
    exc: Exception,
) -> None:
    end = outcomes.end(rebuild.content)
    if not end.is_restored:
        if not end.has_new_image:
            put_record_back(context, instance, rebuild)
        return
    LOG.warning(
        'The rebuild was not done, and nothing was overwritten: %s',
        exc,
        instance=instance,
    )
    _put_back(context, manager, instance, rebuild)
    raise nova_exception.InstanceFaultRollback(
        inner_exception=nova_exception.BuildAbortException(
            instance_uuid=instance.uuid, reason=exception.shown(exc)
        )
    ) from exc


def _is_deleted(context, instance: objects.Instance) -> bool:
    try:
        objects.Instance.get_by_uuid(context, instance.uuid)
    except nova_exception.InstanceNotFound:
        return True
    return False


def put_record_back(
    context, instance: objects.Instance, rebuild: current.Rebuild
) -> None:
    """Undo what nova-api has changed in the records of a server.

    :param context: auth context
    :param instance: the server; it is saved
    :param rebuild: what it was
    """
    before.put_back(
        context,
        instance,
        rebuild.image_ref,
        rebuild.orig_sys_metadata,
    )


def forget(rebuild: current.Rebuild | None) -> None:
    """Leave nothing of a server that was deleted meanwhile.

    :param rebuild: what was done to it; None if that was left to the host
    """
    # What stands in its record goes with it.
    if rebuild and rebuild.root:
        rebuild.root.forget()


def _put_back(
    context, manager, instance: objects.Instance, rebuild: current.Rebuild
) -> None:
    """Make the server what it was before the rebuild.

    :raises: what keeps it from running again; it is in ERROR then
    """
    put_record_back(context, instance, rebuild)
    if rebuild.root:
        rebuild.root.take_back()
        # An attachment whose answer was lost.
        rebuild.root.drop_stale()
    if rebuild.was_running and not _is_running(manager, instance):
        manager._power_on(context, instance)
        instance.power_state = manager._get_power_state(instance)
        instance.save()


def _is_running(manager, instance: objects.Instance) -> bool:
    # It is if what failed was to switch it off.
    return manager._get_power_state(instance) == power_state.RUNNING

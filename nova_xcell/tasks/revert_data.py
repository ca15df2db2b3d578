# SPDX-License-Identifier: Apache-2.0
"""Brings back what was changed on a resized server, at revert (XC-14).

Which fields these are is decided in :mod:`nova_xcell.tasks.revert_fields`.
"""

from __future__ import annotations

from nova import context as nova_context
from nova import objects

from nova_xcell.tasks import revert_fields


def bring_back(
    source_instance: objects.Instance,
    target_context: nova_context.RequestContext,
) -> None:
    """Set on the source's record what was changed; the caller saves it.

    Tags are written at once. Done again it changes nothing.

    :param source_instance: Instance of the source cell
    :param target_context: context aimed at the target cell
    """
    target = objects.Instance.get_by_uuid(
        target_context,
        source_instance.uuid,
        expected_attrs=['metadata', 'system_metadata', 'tags'],
    )
    for field, value in revert_fields.changed(
        revert_fields.INSTANCE, source_instance, target
    ).items():
        setattr(source_instance, field, value)
    system_metadata = revert_fields.system_metadata(
        source_instance.system_metadata, target.system_metadata
    )
    if system_metadata != source_instance.system_metadata:
        source_instance.system_metadata = system_metadata
    _bring_back_tags(source_instance, target)


def _bring_back_tags(
    source: objects.Instance, target: objects.Instance
) -> None:
    context = source._context
    wanted = {tag.tag for tag in target.tags}
    tags = objects.TagList.get_by_resource_id(context, source.uuid)
    if wanted != {tag.tag for tag in tags}:
        # Takes away those that are not wanted.
        objects.TagList.create(context, source.uuid, sorted(wanted))


def bring_back_device(
    source: objects.BlockDeviceMapping,
    target: objects.BlockDeviceMapping,
) -> str | None:
    """Set on a device's record what was changed; the caller saves it.

    :param source: record in the source cell
    :param target: record of the same device in the target cell
    :returns: the volume that was there before, if it is another one now. The
        caller makes an attachment for the new one, and deletes the old one's
    """
    before = source.volume_id
    fields = tuple(
        field
        for field in source.obj_fields
        if field not in revert_fields.KEPT_OF_DEVICE
        and field in source
        and field in target
    )
    for field, value in revert_fields.changed(fields, source, target).items():
        setattr(source, field, value)
    if before == source.volume_id:
        return None
    source.connection_info = target.connection_info
    return before

# SPDX-License-Identifier: Apache-2.0
"""What a server was before a rebuild, and giving it back.

nova-api writes the new image, and whatever else the request changes, into the
records of the server before anybody has looked whether the rebuild can be
done. What was there before goes with the request, in the system metadata that
nova-api sends along and that a plain service reads two kinds of keys of. If
it is missing, because nova-api has no plug-ins, what comes from the image is
taken from the old system metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
import json
import typing as ty

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova import utils
from nova.objects import base

LOG = logging.getLogger(__name__)

#: Key in the system metadata that goes with a request.
KEY = 'xcell_before_rebuild'

#: What a rebuild may change in the record of a server.
_FIELDS = (
    'architecture',
    'auto_disk_config',
    'display_description',
    'display_name',
    'hostname',
    'image_ref',
    'kernel_id',
    'key_data',
    'key_name',
    'metadata',
    'os_type',
    'ramdisk_id',
    'user_data',
    'vm_mode',
)
#: Argument of a rebuild: objects of the server that it changes.
_OBJECTS = {'key_name': 'keypairs', 'trusted_certs': 'trusted_certs'}
#: What the host takes from the properties of an image, and what it is without.
_FROM_IMAGE = {
    'architecture': None,
    'kernel_id': '',
    'os_type': None,
    'ramdisk_id': '',
    'vm_mode': None,
}


def collect(
    context, instance: objects.Instance, asked: Mapping[str, ty.Any]
) -> str:
    """Note what a server is.

    :param context: auth context of the request
    :param instance: the server
    :param asked: arguments of the rebuild
    :returns: a text for :func:`put_back`
    """
    noted: dict[str, ty.Any] = {
        'fields': {name: getattr(instance, name) for name in _FIELDS},
        'objects': {
            name: _primitive(getattr(instance, name))
            for argument, name in _OBJECTS.items()
            if argument in asked
        },
    }
    try:
        spec = objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
        noted['request_spec_image'] = _primitive(spec.image)
    except nova_exception.RequestSpecNotFound:
        # The host's method will say so.
        pass
    return json.dumps(noted)


def recorded_image(
    instance: objects.Instance, orig_image_ref: str | None
) -> str | None:
    """Return the image that the record of a server had before a rebuild.

    :param instance: the server as nova-api has left it
    :param orig_image_ref: its image; that of the volume if it is on one
    """
    # A server on a volume has none, and the host takes that for a sign.
    return orig_image_ref if instance.image_ref else instance.image_ref


def put_back(
    context,
    instance: objects.Instance,
    image_ref: str | None,
    orig_sys_metadata: Mapping[str, str],
) -> None:
    """Give a server what it was.

    :param context: auth context targeted at the cell of the server
    :param instance: the server; it is saved
    :param image_ref: what :func:`recorded_image` has returned
    :param orig_sys_metadata: system metadata that it had, with what
        :func:`collect` has noted if that is known
    """
    noted = json.loads(orig_sys_metadata.get(KEY) or '{}')
    fields = noted.get('fields')
    if fields is None:
        prefix = utils.SM_IMAGE_PROP_PREFIX
        fields = {
            name: orig_sys_metadata.get(prefix + name, default)
            for name, default in _FROM_IMAGE.items()
        }
        fields['image_ref'] = image_ref
    for name, value in fields.items():
        if getattr(instance, name) != value:
            setattr(instance, name, value)
    for name, primitive in noted.get('objects', {}).items():
        setattr(instance, name, _object(primitive))
    exchange_image(instance, orig_sys_metadata)
    instance.save()
    _put_request_spec_back(context, instance, noted, orig_sys_metadata)


def exchange_image(
    instance: objects.Instance, stored: Mapping[str, str]
) -> None:
    """Exchange what is stored of the image; the rest may have changed.

    :param instance: the server; it is not saved
    :param stored: system metadata; what is not of the image is passed over
    """
    prefix = utils.SM_IMAGE_PROP_PREFIX
    metadata = {
        key: value
        for key, value in instance.system_metadata.items()
        if not key.startswith(prefix)
    }
    metadata.update(
        (key, value) for key, value in stored.items() if key.startswith(prefix)
    )
    instance.system_metadata = metadata


def _put_request_spec_back(
    context,
    instance: objects.Instance,
    noted: Mapping[str, ty.Any],
    orig_sys_metadata: Mapping[str, str],
) -> None:
    if 'request_spec_image' in noted:
        image = _object(noted['request_spec_image'])
    else:
        image = objects.ImageMeta.from_dict(
            utils.get_image_from_system_metadata(dict(orig_sys_metadata))
        )
    try:
        spec = objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
        spec.image = image
        spec.save()
    except Exception:
        # The conductor of a cell may not see the database it is in.
        LOG.warning(
            'The request spec of the server keeps the image of a rebuild '
            'that was not done, until the next one.',
            instance=instance,
            exc_info=True,
        )


def _primitive(value: base.NovaObject | None) -> dict | None:
    return None if value is None else value.obj_to_primitive()


def _object(primitive: dict | None) -> base.NovaObject | None:
    if primitive is None:
        return None
    return base.NovaObject.obj_from_primitive(primitive)

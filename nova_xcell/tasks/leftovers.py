# SPDX-License-Identifier: Apache-2.0
"""What a move leaves in Cinder, Glance and Placement, and how it goes."""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import utils as compute_utils

from nova_xcell.tasks import image_auth
from nova_xcell.tasks import services

LOG = logging.getLogger(__name__)

#: How the host names the image of a root disk that moves.
TEMPORARY_IMAGE_NAME = '%s-resize-temp'


def attachments_of(instance: objects.Instance) -> list[str]:
    """Return the volume attachments that a record of a server names.

    :param instance: the record
    """
    return _attachments(instance.get_bdms())


def _attachments(bdms: objects.BlockDeviceMappingList) -> list[str]:
    return [
        bdm.attachment_id
        for bdm in bdms
        if bdm.is_volume and bdm.attachment_id
    ]


def delete_attachments(
    context, clients: services.Services, instance: objects.Instance
) -> None:
    """Delete the volume attachments of a server that its records do not know.

    :param context: auth context targeted at the cell of the server
    :param clients: of the services
    :param instance: the one record that the server has, in that cell
    """
    bdms = instance.get_bdms()
    if not any(bdm.is_volume for bdm in bdms):
        return
    wanted = _attachments(bdms)
    for attachment in clients.volume.attachment_get_all(
        context, instance_id=instance.uuid
    ):
        if attachment['id'] not in wanted:
            LOG.info(
                'Deleting volume attachment %s, which a move has left.',
                attachment['id'],
                instance=instance,
            )
            delete_attachment(context, clients, attachment['id'])


def delete_attachment(
    context, clients: services.Services, attachment_id: str
) -> None:
    """Delete a volume attachment; one that is gone is fine.

    :param context: auth context
    :param clients: of the services
    :param attachment_id: UUID of the attachment
    """
    try:
        clients.volume.attachment_delete(context, attachment_id)
    except nova_exception.VolumeAttachmentNotFound:
        LOG.debug('Attachment %s is gone already.', attachment_id)


def ensure_attachments(
    context, clients: services.Services, instance: objects.Instance
) -> None:
    """Give each volume of a server an attachment that Cinder knows.

    A host that dies between deleting one and creating the next leaves a
    record that points at nothing.

    :param context: auth context targeted at the cell of the record
    :param clients: of the services
    :param instance: the record
    """
    for bdm in instance.get_bdms():
        if not (bdm.is_volume and bdm.attachment_id):
            continue
        try:
            clients.volume.attachment_get(context, bdm.attachment_id)
        except nova_exception.VolumeAttachmentNotFound:
            bdm.attachment_id = clients.volume.attachment_create(
                context, bdm.volume_id, instance.uuid
            )['id']
            bdm.save()


def delete_images(
    context, clients: services.Services, instance: objects.Instance
) -> None:
    """Delete the temporary images that carry the root disk of a server.

    :param context: auth context; one without a token asks as
        :mod:`nova_xcell.tasks.image_auth` says
    :param clients: of the services
    :param instance: the server
    """
    if compute_utils.is_volume_backed_instance(context, instance):
        return
    context = image_auth.authenticated(context)
    name = TEMPORARY_IMAGE_NAME % instance.display_name
    for image in clients.image.get_all(
        context, filters={'property-instance_uuid': instance.uuid}
    ):
        owner = (image.get('properties') or {}).get('instance_uuid')
        if image.get('name') == name and owner == instance.uuid:
            LOG.info(
                'Deleting image %s, which a move has left.',
                image['id'],
                instance=instance,
            )
            try:
                clients.image.delete(context, image['id'])
            except (
                nova_exception.ImageNotFound,
                nova_exception.ImageNotAuthorized,
            ):
                LOG.debug('Image %s is gone already.', image['id'])


def return_allocations(
    context,
    clients: services.Services,
    instance: objects.Instance,
    migration: objects.Migration,
) -> None:
    """Give the resources of the source back to the server.

    What the server holds at the destination goes with that.

    :param context: auth context
    :param clients: of the services
    :param instance: the server
    :param migration: the migration that holds them
    :raises: nova.exception.AllocationMoveFailed
    """
    held = clients.placement.get_allocs_for_consumer(context, migration.uuid)
    if held['allocations']:
        clients.placement.move_allocations(
            context, migration.uuid, instance.uuid
        )


def delete_allocations(
    context, clients: services.Services, migration: objects.Migration
) -> None:
    """Drop the resources that a migration holds for the way back.

    :param context: auth context
    :param clients: of the services
    :param migration: the migration
    :raises: nova.exception.AllocationDeleteFailed
    """
    clients.placement.delete_allocation_for_instance(
        context, migration.uuid, consumer_type='migration', force=True
    )

# SPDX-License-Identifier: Apache-2.0
"""Attachments of a server that is rebuilt: none leaks, and none is missed.

A volume whose last attachment is deleted is free for other servers (VR-03).
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from oslo_log import log as logging
from oslo_utils import excutils

from nova import exception as nova_exception
from nova import objects

LOG = logging.getLogger(__name__)


class Attachments:
    """What Cinder has for one server.

    :param context: auth context
    :param volume_api: nova.volume.cinder.API
    :param instance: the server
    """

    def __init__(
        self, context, volume_api, instance: objects.Instance
    ) -> None:
        self._context = context
        self._volume_api = volume_api
        self._instance = instance

    def create(self, volume_id: str) -> str:
        """Make an attachment that only reserves a volume.

        :param volume_id: the volume
        :returns: id of the attachment
        """
        return self._volume_api.attachment_create(
            self._context, volume_id, self._instance.uuid
        )['id']

    def exists(self, attachment_id: str) -> bool | None:
        """Tell whether there is an attachment.

        :param attachment_id: its id
        :returns: None if Cinder does not tell
        """
        try:
            self._volume_api.attachment_get(self._context, attachment_id)
        except nova_exception.VolumeAttachmentNotFound:
            return False
        except Exception:
            LOG.warning(
                'Cinder does not tell whether there is an attachment %s.',
                attachment_id,
                instance=self._instance,
                exc_info=True,
            )
            return None
        return True

    def delete(self, attachment_id: str) -> None:
        """Delete an attachment; it is gone afterwards.

        :param attachment_id: its id
        :raises: what Cinder's client raises if it is not gone
        """
        try:
            self._volume_api.attachment_delete(self._context, attachment_id)
        except nova_exception.VolumeAttachmentNotFound:
            return
        except Exception:
            if self.exists(attachment_id) is not False:
                raise
            LOG.info(
                'Attachment %s is gone, though Cinder has answered with an '
                'error.',
                attachment_id,
                instance=self._instance,
            )

    def drop(self, attachment_id: str) -> None:
        """Delete an attachment that nothing depends on.

        If that fails it is deleted when the server is rebuilt once more.

        :param attachment_id: its id
        """
        try:
            self.delete(attachment_id)
        except Exception:
            LOG.error(
                'Attachment %s was made for a rebuild and could not be '
                'deleted.',
                attachment_id,
                instance=self._instance,
                exc_info=True,
            )

    def drop_stale(self, volume_id: str) -> None:
        """Delete attachments that no device of the server has.

        Cinder writes to no volume that has two of them (VR-06).

        :param volume_id: the volume
        """
        try:
            found = self._volume_api.attachment_get_all(
                self._context, instance_id=self._instance.uuid
            )
            known = self._known()
        except Exception:
            LOG.warning(
                'Could not look for attachments that are left of a rebuild '
                'that has failed.',
                instance=self._instance,
                exc_info=True,
            )
            return
        for attachment in found:
            if (
                attachment['id'] not in known
                and attachment.get('volume_id', volume_id) == volume_id
                and attachment.get('instance', self._instance.uuid)
                == self._instance.uuid
            ):
                LOG.info(
                    'Deleting attachment %s of volume %s, which no device of '
                    'the server has.',
                    attachment['id'],
                    volume_id,
                    instance=self._instance,
                )
                self.drop(attachment['id'])

    def _known(self) -> set[str | None]:
        return {
            bdm.attachment_id
            for bdm in objects.BlockDeviceMappingList.get_by_instance_uuid(
                self._context, self._instance.uuid
            )
        }

    @contextlib.contextmanager
    def kept(self, bdm: objects.BlockDeviceMapping) -> Iterator[None]:
        """Keep a volume reserved whatever happens to its attachment within.

        The host deletes an attachment that Cinder does not complete, and
        Cinder lets nobody reserve a volume whose attachment is neither
        reserved nor complete. After an error the volume has one attachment,
        which only reserves it.

        :param bdm: the volume as a device of the server
        """
        guard = self.create(bdm.volume_id)
        try:
            yield
        except Exception:
            with excutils.save_and_reraise_exception():
                tried = bdm.attachment_id
                bdm.attachment_id = guard
                # It says how to reach what may belong to others by now.
                bdm.connection_info = None
                bdm.save()
                if tried:
                    self.drop(tried)
        else:
            self.drop(guard)

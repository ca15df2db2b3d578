# SPDX-License-Identifier: Apache-2.0
"""The root volume of a server that is rebuilt: let go, and taken back.

It has an attachment of the server at any time, so that it is never free for
others (VR-03).
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from oslo_log import log as logging
from oslo_serialization import jsonutils
from oslo_utils import excutils

from nova import exception as nova_exception
from nova import objects
from nova.virt import block_device as driver_block_device

LOG = logging.getLogger(__name__)


class RootVolume:
    """The volume, its attachment, and its connection to this host.

    :param context: auth context
    :param manager: nova.compute.manager.ComputeManager of this host
    :param instance: the server
    :param bdm: nova.objects.BlockDeviceMapping of the volume
    :param was_in_use: False for a volume that a failed rebuild has left; what
        is on it is not known, so it stays reserved whatever happens
    """

    def __init__(
        self,
        context,
        manager,
        instance: objects.Instance,
        bdm: objects.BlockDeviceMapping,
        was_in_use: bool,
    ) -> None:
        self._context = context
        self._manager = manager
        self._volume_api = manager.volume_api
        self._instance = instance
        self._bdm = bdm
        self._was_in_use = was_in_use
        self._old: str | None = bdm.attachment_id
        self._new: str | None = None
        self._is_disconnected = False

    def let_go(self) -> None:
        """Disconnect the volume, and keep it reserved for the server.

        If it fails, :meth:`take_back` undoes what was done.
        """
        self._new = self._volume_api.attachment_create(
            self._context, self._bdm.volume_id, self._instance.uuid
        )['id']
        # Half of it may be done when it fails.
        self._is_disconnected = True
        if self._bdm.connection_info:
            self._manager._detach_root_volume(
                self._context, self._instance, self._bdm
            )
        self._bdm.attachment_id = self._new
        self._bdm.save()
        if self._old:
            self._delete_old()
        self._old = None

    def _delete_old(self) -> None:
        try:
            self._volume_api.attachment_delete(self._context, self._old)
        except nova_exception.VolumeAttachmentNotFound:
            return
        except Exception:
            if not self._is_gone(self._old):
                raise
            LOG.info(
                'Attachment %s is gone, though Cinder has answered with an '
                'error.',
                self._old,
                instance=self._instance,
            )

    def _is_gone(self, attachment_id: str) -> bool:
        try:
            self._volume_api.attachment_get(self._context, attachment_id)
        except nova_exception.VolumeAttachmentNotFound:
            return True
        except Exception:
            # It was there a moment ago.
            return False
        return False

    def take_back(self) -> None:
        """Make the volume what it was, with nothing written to it.

        It has the one attachment that it had, or one that is like it.
        """
        if self._new and self._old:
            if self._bdm.attachment_id != self._old:
                self._bdm.attachment_id = self._old
                self._bdm.save()
            self._drop(self._new)
        elif self._new and self._was_in_use:
            # As at the spawn of a guest: the volume is in use afterwards.
            driver_block_device.convert_volume(self._bdm).attach(
                self._context,
                self._instance,
                self._volume_api,
                self._manager.driver,
            )
        if self._is_disconnected and self._was_in_use:
            self._connect()

    @contextlib.contextmanager
    def kept_from_others(self) -> Iterator[None]:
        """Keep the volume reserved whatever happens to its attachment within.

        The host deletes the attachment if Cinder does not complete it.
        """
        guard = self._volume_api.attachment_create(
            self._context, self._bdm.volume_id, self._instance.uuid
        )['id']
        try:
            yield
        except Exception:
            with excutils.save_and_reraise_exception():
                if self._is_gone(self._bdm.attachment_id):
                    self._bdm.attachment_id = guard
                    self._bdm.save()
                else:
                    self._drop(guard)
        else:
            self._drop(guard)

    def drop_stale(self) -> None:
        """Delete attachments that the record of the server does not have.

        Cinder writes to no volume that has two of them (VR-06).
        """
        try:
            for attachment in self._volume_api.attachment_get_all(
                self._context, instance_id=self._instance.uuid
            ):
                volume_id = attachment.get('volume_id', self._bdm.volume_id)
                if (
                    volume_id == self._bdm.volume_id
                    and attachment['id'] not in self._known()
                ):
                    LOG.info(
                        'Deleting attachment %s of volume %s, which no device '
                        'of the server has.',
                        attachment['id'],
                        volume_id,
                        instance=self._instance,
                    )
                    self._volume_api.attachment_delete(
                        self._context, attachment['id']
                    )
        except Exception:
            LOG.warning(
                'Could not look for attachments that are left of a rebuild '
                'that has failed.',
                instance=self._instance,
                exc_info=True,
            )

    def _known(self) -> set[str | None]:
        return {
            bdm.attachment_id
            for bdm in objects.BlockDeviceMappingList.get_by_instance_uuid(
                self._context, self._instance.uuid
            )
        }

    def forget(self) -> None:
        """Leave nothing of a server that was deleted meanwhile.

        Whoever deletes it deletes the attachment that its record has.
        """
        if self._new and self._old:
            self._drop(self._new)

    def _drop(self, attachment_id: str) -> None:
        try:
            self._volume_api.attachment_delete(self._context, attachment_id)
        except Exception:
            LOG.error(
                'Attachment %s of volume %s was made for a rebuild and could '
                'not be deleted.',
                attachment_id,
                self._bdm.volume_id,
                instance=self._instance,
                exc_info=True,
            )

    def _connect(self) -> None:
        if not self._bdm.connection_info:
            return
        try:
            self._manager.driver.attach_volume(
                self._context,
                jsonutils.loads(self._bdm.connection_info),
                self._instance,
                self._bdm.device_name,
                disk_bus=self._bdm.disk_bus,
                device_type=self._bdm.device_type,
            )
        except nova_exception.InstanceNotFound:
            # A server in ERROR may have no guest; it gets one, and the
            # volume with it, when it is rebuilt or rebooted.
            LOG.debug(
                'There is no guest to connect volume %s to.',
                self._bdm.volume_id,
                instance=self._instance,
            )

# SPDX-License-Identifier: Apache-2.0
"""The root volume of a server that is rebuilt: let go, and taken back.

It has an attachment of the server at any time, so that it is never free for
others (VR-03).
"""

from __future__ import annotations

from oslo_log import log as logging
from oslo_serialization import jsonutils

from nova import exception as nova_exception
from nova import objects
from nova.virt import block_device as driver_block_device

from nova_xcell.rebuild import attachments

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
        self._instance = instance
        self._bdm = bdm
        self._was_in_use = was_in_use
        self._attachments = attachments.Attachments(
            context, manager.volume_api, instance
        )
        self._old: str | None = bdm.attachment_id
        self._new: str | None = None
        self._connection_info: str | None = bdm.connection_info
        self._is_connected = True
        self._may_be_connected = True

    def let_go(self) -> None:
        """Disconnect the volume, and keep it reserved for the server.

        If it fails, :meth:`take_back` undoes what was done.
        """
        self._new = self._attachments.create(self._bdm.volume_id)
        # What a failed rebuild has left was disconnected then; how that was
        # reached may lead to a volume of others by now.
        if self._connection_info and self._was_in_use:
            self._is_connected = False
            self._manager._detach_root_volume(
                self._context, self._instance, self._bdm
            )
            self._may_be_connected = False
        self._record(self._new, None)
        if self._old:
            self._attachments.delete(self._old)
        self._old = None
        # What failed rebuilds of a plain host have left, or such as ended when
        # Cinder deleted no attachment.
        self.drop_stale()

    def take_back(self) -> None:
        """Make the volume what it was, with nothing written to it.

        It has the one attachment that it had, or one that is like it.
        """
        if self._new is None:
            return
        if self._old:
            is_there = self._attachments.exists(self._old)
            if is_there is False:
                self._old = None
            else:
                self._record(self._old, self._connection_info)
                # With none of both the volume would be free.
                if is_there:
                    self._attachments.drop(self._new)
        if not self._was_in_use:
            return
        if not self._old:
            self._attach()
        if not self._is_connected:
            self._connect()

    def drop_stale(self) -> None:
        """Delete attachments that the record of the server does not have."""
        self._attachments.drop_stale(self._bdm.volume_id)

    def forget(self) -> None:
        """Leave nothing of a server that was deleted meanwhile.

        Whoever deletes it deletes the attachment that its record has.
        """
        if self._new and self._old:
            self._attachments.drop(self._new)

    def _record(self, attachment_id: str, connection_info: str | None) -> None:
        """Note how the server has the volume.

        :param attachment_id: the attachment
        :param connection_info: how it is reached; None if it is not
            connected. A guest that is started must not reach for it then: the
            storage may have given the place to a volume of others.
        """
        self._bdm.attachment_id = attachment_id
        self._bdm.connection_info = connection_info
        self._bdm.save()

    def _attach(self) -> None:
        self._record(self._new, None)
        with self._attachments.kept(self._bdm):
            # As at the spawn of a guest: the volume is in use afterwards.
            driver_block_device.convert_volume(self._bdm).attach(
                self._context,
                self._instance,
                self._manager.volume_api,
                self._manager.driver,
            )

    def _connect(self) -> None:
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
        except Exception:
            if not self._may_be_connected:
                raise
            # The guest shows it when it is started.
            LOG.warning(
                'Volume %s was not disconnected, and could not be connected '
                'either.',
                self._bdm.volume_id,
                instance=self._instance,
                exc_info=True,
            )

# SPDX-License-Identifier: Apache-2.0
"""The compute API refuses what cannot be rebuilt, before it touches it."""

from __future__ import annotations

import contextvars
import dataclasses

from oslo_log import log as logging
from oslo_utils import strutils

from nova import exception as nova_exception
from nova import objects
from nova.compute import utils as compute_utils
from nova.compute import vm_states
from nova.i18n import _
from nova.volume import cinder

from nova_xcell.rebuild import before
from nova_xcell.rebuild import handing
from nova_xcell.rebuild import refusals

LOG = logging.getLogger(__name__)

#: Microversion of Cinder that can reimage.
CINDER_REIMAGE = '3.68'
#: Service version of the first nova-compute that can (RPC 6.1).
COMPUTE_REIMAGE = 64


class ReimageNotSupported(nova_exception.InstanceIsLocked):
    """A service is too old.

    The host's controller answers its base class with 409 and the message.
    """

    msg_fmt = _('The server cannot be rebuilt with a new image: %(reason)s')


@dataclasses.dataclass(frozen=True)
class _Request:
    """A request to rebuild a server on its way through the host's method."""

    instance: objects.Instance
    writes_to_volume: bool


_request: contextvars.ContextVar[_Request | None] = contextvars.ContextVar(
    'nova_xcell_rebuild_request', default=None
)


class Rebuilds:
    """Goes before the host's compute API."""

    def rebuild(
        self,
        context,
        instance,
        image_href,
        admin_password,
        files_to_inject=None,
        reimage_boot_volume=False,
        **kwargs,
    ):
        """Rebuild a server.

        See the host's method for the parameters. The image that a root volume
        has already is not written to it once more unless the request says so
        in its metadata (VR-10).

        :raises: :class:`ReimageNotSupported`
        :raises: nova.exception.ImageUnacceptable
        :raises: nova.exception.InvalidMetadata
        :raises: nova.exception.InvalidVolume
        """
        is_asked = self._xcell_is_asked(kwargs, reimage_boot_volume)
        if reimage_boot_volume and not is_asked:
            reimage_boot_volume = not self._xcell_keeps_volume(
                context, instance, image_href
            )
        noted = before.collect(context, instance, kwargs)
        token = _request.set(_Request(instance, reimage_boot_volume))
        try:
            with handing.over(noted):
                return super().rebuild(
                    context,
                    instance,
                    image_href,
                    admin_password,
                    files_to_inject=files_to_inject,
                    reimage_boot_volume=reimage_boot_volume,
                    **kwargs,
                )
        finally:
            _request.reset(token)

    @staticmethod
    def _xcell_is_asked(kwargs, is_possible: bool) -> bool:
        wish = refusals.take_wish(kwargs)
        if wish is None:
            return False
        try:
            is_asked = strutils.bool_from_string(wish, strict=True)
        except ValueError as exc:
            raise nova_exception.InvalidMetadata(
                reason='%s: %s' % (refusals.WISH, exc)
            )
        if is_asked and not is_possible:
            raise nova_exception.InvalidMetadata(
                reason=_('%s needs microversion 2.93') % refusals.WISH
            )
        return is_asked

    def _xcell_keeps_volume(
        self, context, instance: objects.Instance, image_id: str
    ) -> bool:
        root_bdm = compute_utils.get_root_bdm(context, instance)
        if root_bdm is None or not root_bdm.is_volume:
            return False
        try:
            volume = self.volume_api.get(context, root_bdm.volume_id)
        except Exception:
            # The host's method says what is wrong.
            return False
        return refusals.keeps_volume(
            volume, image_id, instance.vm_state == vm_states.ERROR
        )

    def _checks_for_create_and_rebuild(
        self,
        context,
        image_id,
        image,
        flavor,
        metadata,
        files_to_inject,
        root_bdm,
        min_comp_ver,
        validate_numa=True,
    ):
        """Check what is common to creating and rebuilding a server.

        See the host's method for the parameters. Nothing has been changed
        when a rebuild comes here, and the server is in a state for it.

        :raises: :class:`ReimageNotSupported`
        :raises: nova.exception.ImageUnacceptable
        :raises: nova.exception.InvalidVolume
        """
        super()._checks_for_create_and_rebuild(
            context,
            image_id,
            image,
            flavor,
            metadata,
            files_to_inject,
            root_bdm,
            min_comp_ver,
            validate_numa=validate_numa,
        )
        request = _request.get()
        if (
            request
            and request.writes_to_volume
            and root_bdm
            and root_bdm.is_volume
        ):
            self._xcell_refuse_reimage(
                context, request.instance, image_id, image, root_bdm
            )

    def _xcell_refuse_reimage(
        self, context, instance: objects.Instance, image_id, image, root_bdm
    ) -> None:
        self._xcell_refuse_old_services(context, instance)
        volume = self.volume_api.get(context, root_bdm.volume_id)
        reason = refusals.of_volume(volume)
        if reason:
            raise nova_exception.InvalidVolume(reason=reason)
        reason = refusals.of_image(image, volume)
        if reason:
            raise nova_exception.ImageUnacceptable(
                image_id=image_id, reason=reason
            )

    @staticmethod
    def _xcell_refuse_old_services(
        context, instance: objects.Instance
    ) -> None:
        try:
            cinder.is_microversion_supported(context, CINDER_REIMAGE)
        except nova_exception.CinderAPIVersionNotAvailable:
            raise ReimageNotSupported(
                reason=_(
                    'the block storage service does not know microversion %s.'
                )
                % CINDER_REIMAGE
            )
        service = objects.Service.get_by_compute_host(context, instance.host)
        if service.version < COMPUTE_REIMAGE:
            raise ReimageNotSupported(
                reason=_('the nova-compute service of its host is too old.')
            )

    def _check_volume_status(self, context, bdms):
        """Check that the volumes of a server are attached.

        See the host's method. A server in ERROR can be rebuilt again though a
        rebuild that failed has left its volumes reserved for it (VR-05).

        :param context: auth context of the request
        :param bdms: nova.objects.BlockDeviceMappingList
        :raises: nova.exception.InvalidVolume
        """
        request = _request.get()
        if request and request.instance.vm_state == vm_states.ERROR:
            bdms = [
                bdm
                for bdm in bdms
                if not bdm.volume_id
                or not self._xcell_is_left(context, bdm, request)
            ]
        super()._check_volume_status(context, bdms)

    def _xcell_is_left(
        self, context, bdm: objects.BlockDeviceMapping, request: _Request
    ) -> bool:
        """Tell whether a failed rebuild has left a volume like this."""
        is_written = bdm.is_root and request.writes_to_volume
        volume = self.volume_api.get(context, bdm.volume_id)
        if not bdm.attachment_id or volume['status'] not in (
            refusals.LEFT if is_written else refusals.KEPT
        ):
            return False
        try:
            self.volume_api.attachment_get(context, bdm.attachment_id)
        except nova_exception.VolumeAttachmentNotFound:
            # Whose it is now is not known.
            return False
        return True

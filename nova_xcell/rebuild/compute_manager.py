# SPDX-License-Identifier: Apache-2.0
"""ComputeManager that loses nothing when a rebuild fails.

The host destroys the guest, lets the root volume go and only then asks Cinder
to write the new image; whatever goes wrong, the server is in ERROR and cannot
be rebuilt again. Here the guest is only switched off before Cinder is asked,
and the host's method goes on when the new image is on the volume. See
:mod:`nova_xcell.rebuild.outcomes` for what a failure leaves.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import power_state
from nova.compute import utils as compute_utils
from nova.compute import vm_states
from nova.virt import driver as virt_driver

from nova_xcell.rebuild import before
from nova_xcell.rebuild import outcomes
from nova_xcell.rebuild import refusals
from nova_xcell.rebuild import reimaging
from nova_xcell.rebuild import root_volume

LOG = logging.getLogger(__name__)


@dataclasses.dataclass
class _Rebuild:
    """A rebuild of a server where it is.

    :ivar orig_image_ref: see the host's method
    :ivar orig_sys_metadata: see the host's method
    :ivar was_in_error: whether the server was in ERROR when it began
    :ivar obstacle: what keeps it from beginning
    :ivar has_begun: whether the work on the server has
    :ivar content: what is on the root disk
    :ivar is_running: whether the guest was, if it was switched off
    :ivar root: the root volume once it is touched
    """

    orig_image_ref: str | None
    orig_sys_metadata: dict[str, str]
    was_in_error: bool
    obstacle: Exception | None = None
    has_begun: bool = False
    content: outcomes.Content = outcomes.Content.OLD
    is_running: bool = False
    root: root_volume.RootVolume | None = None


_current: contextvars.ContextVar[_Rebuild | None] = contextvars.ContextVar(
    'nova_xcell_rebuild', default=None
)


class Rebuilds:
    """Goes before the host's ComputeManager."""

    def rebuild_instance(
        self,
        context,
        instance,
        orig_image_ref,
        image_ref,
        injected_files,
        new_pass,
        orig_sys_metadata,
        bdms,
        recreate,
        on_shared_storage,
        preserve_ephemeral,
        migration,
        scheduled_node,
        limits,
        request_spec,
        accel_uuids,
        reimage_boot_volume=None,
        target_state=None,
    ):
        """Rebuild a server; if it cannot be done, leave it as it was.

        See the host's method for the parameters.

        :raises: what the host's method raises
        """
        rebuild = None
        # A driver with a rebuild of its own is alone with it.
        if not recreate and not self._xcell_driver_rebuilds():
            rebuild = _Rebuild(
                orig_image_ref,
                orig_sys_metadata or {},
                instance.vm_state == vm_states.ERROR,
            )
            self._xcell_look_at_image(context, instance, image_ref, rebuild)
        token = _current.set(rebuild)
        try:
            return super().rebuild_instance(
                context,
                instance,
                orig_image_ref,
                image_ref,
                injected_files,
                new_pass,
                orig_sys_metadata,
                bdms,
                recreate,
                on_shared_storage,
                preserve_ephemeral,
                migration,
                scheduled_node,
                limits,
                request_spec,
                accel_uuids,
                reimage_boot_volume,
                target_state,
            )
        except Exception:
            # The host leaves the server in its state, as nothing was done.
            if rebuild and not rebuild.has_begun:
                self._xcell_put_record_back(context, instance, rebuild)
            raise
        finally:
            _current.reset(token)

    def _xcell_look_at_image(
        self, context, instance, image_ref: str | None, rebuild: _Rebuild
    ) -> None:
        """Put the record back before the server's task ends, if need be.

        The host's method ends the task as soon as it misses the image.
        """
        if not image_ref:
            return
        try:
            objects.ImageMeta.from_image_ref(
                context, self.image_api, image_ref
            )
        except Exception as exc:
            rebuild.obstacle = exc
            self._xcell_put_record_back(context, instance, rebuild)

    def _xcell_driver_rebuilds(self) -> bool:
        return (
            getattr(type(self.driver), 'rebuild', None)
            is not virt_driver.ComputeDriver.rebuild
        )

    def _do_rebuild_instance_with_claim(
        self,
        context,
        instance,
        orig_image_ref,
        image_meta,
        injected_files,
        new_pass,
        orig_sys_metadata,
        bdms,
        evacuate,
        on_shared_storage,
        preserve_ephemeral,
        migration,
        request_spec,
        allocations,
        rebuild_claim,
        scheduled_node,
        limits,
        accel_uuids,
        reimage_boot_volume,
        target_state,
    ):
        """Do the work of a rebuild.

        See the host's method for the parameters.

        :raises: nova.exception.InstanceFaultRollback if the server is as it
            was; the host then leaves it in its state, with the reason
        """
        rebuild = _current.get()
        if rebuild:
            rebuild.has_begun = True
        try:
            if rebuild and rebuild.obstacle:
                raise rebuild.obstacle
            return super()._do_rebuild_instance_with_claim(
                context,
                instance,
                orig_image_ref,
                image_meta,
                injected_files,
                new_pass,
                orig_sys_metadata,
                bdms,
                evacuate,
                on_shared_storage,
                preserve_ephemeral,
                migration,
                request_spec,
                allocations,
                rebuild_claim,
                scheduled_node,
                limits,
                accel_uuids,
                reimage_boot_volume,
                target_state,
            )
        except (
            nova_exception.InstanceNotFound,
            nova_exception.UnexpectedDeletingTaskStateError,
        ):
            self._xcell_forget(rebuild)
            raise
        except Exception as exc:
            if rebuild:
                self._xcell_clean_up(context, instance, rebuild, exc)
            raise

    @staticmethod
    def _xcell_forget(rebuild: _Rebuild | None) -> None:
        # Deleted meanwhile; what stands in its record goes with it.
        if rebuild and rebuild.root:
            rebuild.root.forget()

    def _xcell_clean_up(
        self, context, instance: objects.Instance, rebuild: _Rebuild, exc
    ) -> None:
        """Bring a server to the end that its rebuild has after an error.

        :raises: nova.exception.InstanceFaultRollback if the server is as it
            was; what keeps it from running again otherwise
        """
        end = outcomes.end(rebuild.content)
        if not end.is_restored:
            if not end.has_new_image:
                self._xcell_put_record_back(context, instance, rebuild)
            return
        LOG.warning(
            'The rebuild was not done, and nothing was overwritten: %s',
            exc,
            instance=instance,
        )
        try:
            self._xcell_put_back(context, instance, rebuild)
        except nova_exception.InstanceNotFound:
            # Deleted meanwhile, and noticed only now.
            self._xcell_forget(rebuild)
            raise
        raise nova_exception.InstanceFaultRollback(
            inner_exception=nova_exception.BuildAbortException(
                instance_uuid=instance.uuid, reason=str(exc)
            )
        ) from exc

    def _xcell_put_back(
        self, context, instance: objects.Instance, rebuild: _Rebuild
    ) -> None:
        """Make the server what it was before the rebuild.

        :raises: what keeps it from running again; it is in ERROR then
        """
        self._xcell_put_record_back(context, instance, rebuild)
        if rebuild.root:
            rebuild.root.take_back()
            # An attachment whose answer was lost.
            rebuild.root.drop_stale()
        if rebuild.is_running:
            self._power_on(context, instance)
            instance.power_state = self._get_power_state(instance)
            instance.save()

    def _xcell_put_record_back(
        self, context, instance: objects.Instance, rebuild: _Rebuild
    ) -> None:
        before.put_back(
            context,
            instance,
            rebuild.orig_image_ref,
            rebuild.orig_sys_metadata,
        )

    def _power_off_instance(self, context, instance, clean_shutdown=True):
        """Power off a guest, if there is one.

        See the host's method. A server in ERROR that is rebuilt may have
        none; not every driver overlooks that.

        :param context: auth context
        :param instance: the server
        :param clean_shutdown: whether the guest may shut down by itself
        """
        rebuild = _current.get()
        try:
            super()._power_off_instance(
                context, instance, clean_shutdown=clean_shutdown
            )
        except nova_exception.InstanceNotFound:
            if rebuild is None or not rebuild.was_in_error:
                raise
            LOG.info('The server to rebuild has no guest.', instance=instance)

    def _rebuild_default_impl(
        self,
        context,
        instance,
        image_meta,
        injected_files,
        admin_password,
        allocations,
        bdms,
        detach_block_devices,
        attach_block_devices,
        network_info=None,
        evacuate=False,
        block_device_info=None,
        preserve_ephemeral=False,
        accel_uuids=None,
        reimage_boot_volume=False,
    ):
        """Make the guest anew; on a volume, write to that one first.

        See the host's method for the parameters. What is left to it when the
        image is on the volume is to destroy the guest and to spawn it again.

        :raises: :class:`~nova_xcell.rebuild.reimaging.ReimageRefused`
        :raises: :class:`~nova_xcell.rebuild.reimaging.ReimageFailed`
        """
        rebuild = _current.get()
        if rebuild and not preserve_ephemeral:
            root_bdm = compute_utils.get_root_bdm(context, instance, bdms)
            if root_bdm and root_bdm.is_volume:
                if reimage_boot_volume:
                    self._xcell_reimage(
                        context, instance, root_bdm, image_meta.id
                    )
                    block_device_info = self._xcell_without_root(
                        block_device_info, root_bdm
                    )
                detach_block_devices = self._xcell_keep_connected
                attach_block_devices = self._xcell_attach
            rebuild.content = outcomes.Content.NEW
        super()._rebuild_default_impl(
            context,
            instance,
            image_meta,
            injected_files,
            admin_password,
            allocations,
            bdms,
            detach_block_devices,
            attach_block_devices,
            network_info=network_info,
            evacuate=evacuate,
            block_device_info=block_device_info,
            preserve_ephemeral=preserve_ephemeral,
            accel_uuids=accel_uuids,
            reimage_boot_volume=reimage_boot_volume,
        )

    def _xcell_reimage(
        self,
        context,
        instance: objects.Instance,
        root_bdm: objects.BlockDeviceMapping,
        image_id: str,
    ) -> None:
        rebuild = _current.get()
        volume = self.volume_api.get(context, root_bdm.volume_id)
        rebuild.is_running = (
            self._get_power_state(instance) == power_state.RUNNING
        )
        self._power_off_instance(context, instance, clean_shutdown=True)
        rebuild.root = root_volume.RootVolume(
            context,
            self,
            instance,
            root_bdm,
            volume['status'] not in refusals.LEFT,
        )
        # What failed rebuilds of a plain host have left, or such as ended when
        # Cinder deleted no attachment.
        rebuild.root.drop_stale()
        rebuild.root.let_go()
        reimage = reimaging.Reimage(
            context,
            instance,
            volume,
            image_id,
            self.virtapi,
            self.volume_api,
        )
        rebuild.content = outcomes.Content.UNKNOWN
        try:
            reimage.run()
        except reimaging.ReimageRefused:
            rebuild.content = outcomes.Content.OLD
            raise

    def _rebuild_volume_backed_instance(
        self, context, instance, bdms, image_id
    ):
        """Write an image to the root volume, unless that is done already.

        :param context: auth context
        :param instance: the server
        :param bdms: nova.objects.BlockDeviceMappingList
        :param image_id: the image
        """
        if _current.get() is None:
            super()._rebuild_volume_backed_instance(
                context, instance, bdms, image_id
            )

    @staticmethod
    def _xcell_without_root(block_device_info, root_bdm):
        """Leave out what is disconnected already."""
        mapping = virt_driver.block_device_info_get_mapping(block_device_info)
        return dict(
            block_device_info,
            block_device_mapping=[
                device
                for device in mapping
                if device.volume_id != root_bdm.volume_id
            ],
        )

    @staticmethod
    def _xcell_keep_connected(context, bdms, detach_root_bdm=True) -> None:
        """Leave volumes attached, as a hard reboot does.

        The driver disconnects them from this host with the guest, and
        connects them again.
        """

    def _xcell_attach(self, context, instance, bdms):
        """Attach the volumes that are not, and describe all devices."""
        rebuild = _current.get()
        missing = [
            bdm
            for bdm in bdms
            if bdm.is_volume
            and (
                (bdm.is_root and rebuild.root is not None)
                or self._xcell_is_reserved(context, bdm)
            )
        ]
        with contextlib.ExitStack() as stack:
            if rebuild.root is not None:
                stack.enter_context(rebuild.root.kept_from_others())
            self._prep_block_device(
                context,
                instance,
                objects.BlockDeviceMappingList(
                    context=context, objects=missing
                ),
            )
        return self._get_instance_block_device_info(
            context, instance, bdms=bdms
        )

    def _xcell_is_reserved(
        self, context, bdm: objects.BlockDeviceMapping
    ) -> bool:
        """Tell whether a failed rebuild of a plain host has left a volume."""
        return (
            _current.get().was_in_error
            and self.volume_api.get(context, bdm.volume_id)['status']
            == outcomes.KEPT
        )

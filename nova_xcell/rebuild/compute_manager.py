# SPDX-License-Identifier: Apache-2.0
"""ComputeManager that loses nothing when a rebuild fails.

The host destroys the guest, lets the root volume go and only then asks Cinder
to write the new image; whatever goes wrong, the server is in ERROR and cannot
be rebuilt again. Here the guest is only switched off before Cinder is asked,
and the host's method goes on when the new image is on the volume. See
:mod:`nova_xcell.rebuild.outcomes` for what a failure leaves.
"""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import power_state
from nova.compute import utils as compute_utils
from nova.compute import vm_states
from nova.virt import driver as virt_driver

from nova_xcell.rebuild import before
from nova_xcell.rebuild import current
from nova_xcell.rebuild import devices
from nova_xcell.rebuild import interrupted
from nova_xcell.rebuild import outcomes
from nova_xcell.rebuild import refusals
from nova_xcell.rebuild import reimaging
from nova_xcell.rebuild import root_volume
from nova_xcell.rebuild import undoing

LOG = logging.getLogger(__name__)


class Rebuilds:
    """Goes before the host's ComputeManager."""

    def _init_instance(self, context, instance):
        """Look after a server of this host when nova-compute starts.

        See the host's method.

        :param context: auth context of the service
        :param instance: the server
        """
        super()._init_instance(context, instance)
        if instance.host == self.host:
            interrupted.end(instance)

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
            rebuild = current.Rebuild(
                before.recorded_image(instance, orig_image_ref),
                orig_sys_metadata or {},
                instance.vm_state == vm_states.ERROR,
            )
            self._xcell_look_at_image(context, instance, image_ref, rebuild)
        token = current.rebuild.set(rebuild)
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
                undoing.put_record_back(context, instance, rebuild)
            raise
        finally:
            current.rebuild.reset(token)

    def _xcell_look_at_image(
        self,
        context,
        instance,
        image_ref: str | None,
        rebuild: current.Rebuild,
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
            undoing.put_record_back(context, instance, rebuild)

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
        rebuild = current.rebuild.get()
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
        except nova_exception.UnexpectedDeletingTaskStateError:
            undoing.forget(rebuild)
            raise
        except Exception as exc:
            if rebuild:
                undoing.clean_up(context, self, instance, rebuild, exc)
            raise

    def _power_off_instance(self, context, instance, clean_shutdown=True):
        """Power off a guest, if there is one.

        See the host's method. A server in ERROR that is rebuilt may have
        none; not every driver overlooks that.

        :param context: auth context
        :param instance: the server
        :param clean_shutdown: whether the guest may shut down by itself
        """
        rebuild = current.rebuild.get()
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
        rebuild = current.rebuild.get()
        if rebuild and not preserve_ephemeral:
            root_bdm = compute_utils.get_root_bdm(context, instance, bdms)
            if root_bdm and root_bdm.is_volume:
                if reimage_boot_volume:
                    self._xcell_reimage(
                        context, instance, root_bdm, image_meta, rebuild
                    )
                    block_device_info = devices.without(
                        block_device_info, root_bdm
                    )
                detach_block_devices = devices.keep
                attach_block_devices = devices.Devices(self, rebuild).attach
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
        image_meta: objects.ImageMeta,
        rebuild: current.Rebuild,
    ) -> None:
        """Write an image to the root volume; undo nothing if that fails.

        :raises: :class:`~nova_xcell.rebuild.reimaging.ReimageRefused`
        :raises: :class:`~nova_xcell.rebuild.reimaging.ReimageFailed`
        """
        volume = self.volume_api.get(context, root_bdm.volume_id)
        self._xcell_refuse(image_meta, volume)
        rebuild.was_running = (
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
        rebuild.root.let_go()
        reimage = reimaging.Reimage(
            context,
            instance,
            volume,
            image_meta.id,
            self.virtapi,
            self.volume_api,
        )
        rebuild.content = outcomes.Content.UNKNOWN
        try:
            reimage.run()
        except reimaging.ReimageRefused:
            rebuild.content = outcomes.Content.OLD
            raise

    @staticmethod
    def _xcell_refuse(image_meta: objects.ImageMeta, volume) -> None:
        """Refuse once more what nova-api refuses.

        It may have no plug-ins, and the volume may have changed since.
        """
        image = {
            name: getattr(image_meta, name)
            for name in ('size', 'virtual_size', 'min_disk')
            if image_meta.obj_attr_is_set(name)
        }
        reason = refusals.of_volume(volume) or refusals.of_image(image, volume)
        if reason:
            raise reimaging.ReimageRefused(
                volume_id=volume['id'], reason=reason
            )

    def _rebuild_volume_backed_instance(
        self, context, instance, bdms, image_id
    ):
        """Write an image to the root volume, unless that is done already.

        :param context: auth context
        :param instance: the server
        :param bdms: nova.objects.BlockDeviceMappingList
        :param image_id: the image
        """
        if current.rebuild.get() is None:
            super()._rebuild_volume_backed_instance(
                context, instance, bdms, image_id
            )

# SPDX-License-Identifier: Apache-2.0
"""The seams of rebuilds."""

import functools

from nova_xcell import features
from nova_xcell.seams.seam import API
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import COMPUTE
from nova_xcell.seams.seam import CONDUCTOR
from nova_xcell.seams.seam import EXTENDED
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import Seam

_Seam = functools.partial(Seam, feature=features.VOLUME_BACKED_REBUILD.name)

_API: tuple[Seam, ...] = (
    _Seam(
        'nova.compute.api',
        'API',
        EXTENDED,
        plugin=('nova_xcell.api', 'rebuilds'),
        services=API,
    ),
    *(
        _Seam(
            'nova.compute.api',
            'API.%s' % method,
            OVERRIDDEN,
            signature,
            services=API,
        )
        for method, signature in (
            (
                'rebuild',
                '(self, context, instance, image_href, admin_password, '
                'files_to_inject=None, reimage_boot_volume=False, **kwargs)',
            ),
            (
                '_checks_for_create_and_rebuild',
                '(self, context, image_id, image, flavor, metadata, '
                'files_to_inject, root_bdm, min_comp_ver, '
                'validate_numa=True)',
            ),
            ('_check_volume_status', '(self, context, bdms)'),
        )
    ),
    # The class names itself in super().
    _Seam(
        'nova.conductor.rpcapi',
        'ComputeTaskAPI.rebuild_instance',
        REPLACED,
        '(self, ctxt, instance, new_pass, injected_files, image_ref, '
        'orig_image_ref, orig_sys_metadata, bdms, recreate=False, '
        'on_shared_storage=False, host=None, preserve_ephemeral=False, '
        'request_spec=None, reimage_boot_volume=False, target_state=None)',
        plugin=('nova_xcell.api', 'rebuild_instance'),
        services=API,
    ),
    _Seam(
        'nova.volume.cinder',
        'is_microversion_supported',
        CALLED,
        '(context, microversion)',
        services=API,
    ),
)

_CONDUCTOR: tuple[Seam, ...] = (
    _Seam(
        'nova.conductor.manager',
        'ComputeTaskManager',
        EXTENDED,
        plugin=('nova_xcell.tasks', 'rebuilds'),
        services=CONDUCTOR,
    ),
    _Seam(
        'nova.conductor.manager',
        'ComputeTaskManager.rebuild_instance',
        OVERRIDDEN,
        '(self, context, instance, orig_image_ref, image_ref, '
        'injected_files, new_pass, orig_sys_metadata, bdms, recreate, '
        'on_shared_storage, preserve_ephemeral=False, host=None, '
        'request_spec=None, reimage_boot_volume=False, target_state=None)',
        services=CONDUCTOR,
    ),
    _Seam(
        'nova.conductor.manager',
        'ComputeTaskManager._set_vm_state_and_notify',
        OVERRIDDEN,
        '(self, context, instance_uuid, method, updates, ex, request_spec)',
        services=CONDUCTOR,
    ),
)

_COMPUTE: tuple[Seam, ...] = (
    # The same class for every feature, see nova_xcell.compute.service_manager.
    _Seam(
        'nova.service',
        'SERVICE_MANAGERS',
        REPLACED,
        item='nova-compute',
        plugin=('nova_xcell.compute', 'manager'),
        services=COMPUTE,
    ),
    _Seam(
        'nova.compute.resource_tracker',
        'ResourceTracker.delete_allocation_for_evacuated_instance',
        REPLACED,
        "(self, context, instance, node, node_type='source')",
        plugin=(
            'nova_xcell.compute',
            'delete_allocation_for_evacuated_instance',
        ),
        services=COMPUTE,
    ),
    *(
        _Seam(
            'nova.compute.manager',
            'ComputeManager.%s' % method,
            OVERRIDDEN,
            signature,
            services=COMPUTE,
        )
        for method, signature in (
            ('_init_instance', '(self, context, instance)'),
            (
                'rebuild_instance',
                '(self, context, instance, orig_image_ref, image_ref, '
                'injected_files, new_pass, orig_sys_metadata, bdms, '
                'recreate, on_shared_storage, preserve_ephemeral, migration, '
                'scheduled_node, limits, request_spec, accel_uuids, '
                'reimage_boot_volume=None, target_state=None)',
            ),
            (
                '_do_rebuild_instance_with_claim',
                '(self, context, instance, orig_image_ref, image_meta, '
                'injected_files, new_pass, orig_sys_metadata, bdms, '
                'evacuate, on_shared_storage, preserve_ephemeral, migration, '
                'request_spec, allocations, rebuild_claim, scheduled_node, '
                'limits, accel_uuids, reimage_boot_volume, target_state)',
            ),
            (
                '_rebuild_default_impl',
                '(self, context, instance, image_meta, injected_files, '
                'admin_password, allocations, bdms, detach_block_devices, '
                'attach_block_devices, network_info=None, evacuate=False, '
                'block_device_info=None, preserve_ephemeral=False, '
                'accel_uuids=None, reimage_boot_volume=False)',
            ),
            (
                '_rebuild_volume_backed_instance',
                '(self, context, instance, bdms, image_id)',
            ),
            (
                '_power_off_instance',
                '(self, context, instance, clean_shutdown=True)',
            ),
        )
    ),
    *(
        _Seam(
            'nova.compute.manager',
            attribute,
            CALLED,
            signature,
            services=COMPUTE,
        )
        for attribute, signature in (
            (
                'ComputeManager._detach_root_volume',
                '(self, context, instance, root_bdm)',
            ),
            ('ComputeManager._get_power_state', '(self, instance)'),
            (
                'ComputeManager._get_instance_block_device_info',
                '(self, context, instance, refresh_conn_info=False, '
                'bdms=None)',
            ),
            ('ComputeManager._power_on', '(self, context, instance)'),
            (
                'ComputeManager._prep_block_device',
                '(self, context, instance, bdms)',
            ),
            ('ComputeVirtAPI.exit_wait_early', '(self, events)'),
        )
    ),
    # Nova 33 was the first to call the limit a timeout.
    *(
        _Seam(
            'nova.compute.manager',
            'ComputeVirtAPI.wait_for_instance_event',
            CALLED,
            '(self, instance, event_names, %s=300, error_callback=None)'
            % limit,
            services=COMPUTE,
            nova_releases=found_in,
        )
        for limit, found_in in (
            ('deadline', (31, 32)),
            ('timeout', (33, 34)),
        )
    ),
    *(
        _Seam(module, attribute, CALLED, signature, services=COMPUTE)
        for module, attribute, signature in (
            (
                'nova.virt.block_device',
                'DriverVolumeBlockDevice.attach',
                '(self, context, instance, volume_api, virt_driver, '
                'do_driver_attach=False, **kwargs)',
            ),
            (
                'nova.virt.block_device',
                'convert_volume',
                '(volume_bdm)',
            ),
            (
                'nova.virt.driver',
                'ComputeDriver.attach_volume',
                '(self, context, connection_info, instance, mountpoint, '
                'disk_bus=None, device_type=None, encryption=None)',
            ),
            (
                'nova.virt.driver',
                'block_device_info_get_mapping',
                '(block_device_info)',
            ),
            (
                'nova.virt.driver',
                'ComputeDriver.rebuild',
                '(self, context, instance, image_meta, injected_files, '
                'admin_password, allocations, bdms, detach_block_devices, '
                'attach_block_devices, network_info=None, evacuate=False, '
                'block_device_info=None, preserve_ephemeral=False, '
                'accel_uuids=None, reimage_boot_volume=False)',
            ),
            (
                'nova.compute.utils',
                'get_root_bdm',
                '(context, instance, bdms=None)',
            ),
            (
                'nova.objects.image_meta',
                'ImageMeta.from_image_ref',
                '(context, image_api, image_ref)',
            ),
        )
    ),
    # What translates Cinder's errors hides the last arguments.
    *(
        _Seam(
            'nova.volume.cinder',
            'API.%s' % method,
            CALLED,
            '(self, ctx, %s, *args, **kwargs)' % first,
            services=COMPUTE,
        )
        for method, first in (
            ('get', 'volume_id'),
            ('attachment_create', 'volume_id'),
            ('attachment_get', 'attachment_id'),
            ('attachment_delete', 'attachment_id'),
            ('reimage_volume', 'volume_id'),
        )
    ),
    _Seam(
        'nova.volume.cinder',
        'API.attachment_get_all',
        CALLED,
        '(self, context, instance_id=None, volume_id=None)',
        services=COMPUTE,
    ),
)

# In nova-xcell-manage, which runs where a nova-conductor can.
_AUDIT: tuple[Seam, ...] = tuple(
    _Seam(module, attribute, CALLED, signature, services=CONDUCTOR)
    for module, attribute, signature in (
        (
            'nova.scheduler.utils',
            'resources_from_flavor',
            '(instance, flavor)',
        ),
        (
            'nova.scheduler.client.report',
            'SchedulerReportClient.put_allocations',
            '(self, context, consumer_uuid, payload)',
        ),
        (
            'nova.network.neutron',
            'API.get_requested_resource_for_instance',
            '(self, context, instance_uuid)',
        ),
        (
            'nova.block_device',
            'get_image_metadata_from_volume',
            '(volume)',
        ),
        (
            'nova.utils',
            'get_system_metadata_from_image',
            '(image_meta, flavor=None)',
        ),
    )
)

SEAMS: tuple[Seam, ...] = _API + _CONDUCTOR + _COMPUTE + _AUDIT

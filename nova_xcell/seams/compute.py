# SPDX-License-Identifier: Apache-2.0
"""The seams of nova-compute."""

from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import COMPUTE
from nova_xcell.seams.seam import CONDUCTOR
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import Seam

SEAMS: tuple[Seam, ...] = (
    # Compute: what a destination host checks and claims.
    Seam(
        'nova.service',
        'SERVICE_MANAGERS',
        REPLACED,
        item='nova-compute',
        plugin=('nova_xcell.compute', 'manager'),
        services=COMPUTE,
    ),
    *(
        Seam(
            'nova.compute.manager',
            'ComputeManager.%s' % method,
            OVERRIDDEN,
            signature,
            services=COMPUTE,
        )
        for method, signature in (
            (
                'prep_snapshot_based_resize_at_source',
                '(self, ctxt, instance, migration, snapshot_id=None)',
            ),
            (
                'finish_snapshot_based_resize_at_dest',
                '(self, ctxt, instance, migration, snapshot_id)',
            ),
            (
                'confirm_snapshot_based_resize_at_source',
                '(self, ctxt, instance, migration)',
            ),
            (
                'revert_snapshot_based_resize_at_dest',
                '(self, ctxt, instance, migration)',
            ),
            (
                'finish_revert_snapshot_based_resize_at_source',
                '(self, ctxt, instance, migration)',
            ),
        )
    ),
    Seam(
        'nova.compute.manager',
        'ComputeManager._prep_snapshot_based_resize_at_source',
        OVERRIDDEN,
        '(self, ctxt, instance, migration, snapshot_id=None)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.manager',
        'ComputeManager._update_instance_after_spawn',
        OVERRIDDEN,
        '(self, instance, vm_state=%r)' % 'active',
        services=COMPUTE,
    ),
    # The hidden record of a server is left alone, and not counted.
    Seam(
        'nova.compute.manager',
        'ComputeManager._init_instance',
        OVERRIDDEN,
        '(self, context, instance)',
        services=COMPUTE,
    ),
    # ResourceTracker finds the class through the module's name in its own
    # namespace. It names itself in super(), as the tasks of the conductor do.
    Seam(
        'nova.compute.resource_tracker',
        'compute_stats',
        REPLACED,
        plugin=('nova_xcell.views', 'stats'),
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.stats',
        'Stats.update_stats_for_instance',
        OVERRIDDEN,
        '(self, instance, is_removed=False)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.manager',
        'ComputeManager._power_on',
        CALLED,
        '(self, context, instance)',
        services=COMPUTE,
    ),
    Seam(
        'nova.network.neutron',
        'API.bind_ports_to_host',
        OVERRIDDEN,
        '(self, context, instance, host, vnic_types=None, port_profiles=None)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.get_binding_profile_allocation',
        CALLED,
        '(self, context, port_id, resource_provider_mapping)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'get_binding_profile',
        CALLED,
        '(port)',
        services=COMPUTE,
    ),
    Seam(
        'nova.network.neutron',
        'API.migrate_instance_finish',
        OVERRIDDEN,
        '(self, context, instance, migration, provider_mappings)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.utils',
        'update_pci_request_with_placement_allocations',
        CALLED,
        '(context, report_client, pci_requests, provider_mapping)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.setup_networks_on_host',
        CALLED,
        '(self, context, instance, host=None, teardown=False)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.manager',
        'ComputeManager.prep_snapshot_based_resize_at_dest',
        OVERRIDDEN,
        '(self, ctxt, instance, flavor, nodename, migration, limits)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.resource_tracker',
        'ResourceTracker.drop_move_claim',
        CALLED,
        "(self, context, instance, nodename, flavor=None, prefix='new_')",
        services=COMPUTE,
    ),
    # The devices of a claim are those in placement. As with compute_stats, the
    # resource tracker finds the class through the name of its module.
    Seam(
        'nova.compute.resource_tracker',
        'claims',
        REPLACED,
        plugin=('nova_xcell.compute', 'claims'),
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.claims',
        'MoveClaim.__init__',
        OVERRIDDEN,
        '(self, context, instance, nodename, flavor, image_meta, tracker, '
        'compute_node, pci_requests, migration, limits=None)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.resource_tracker',
        'ResourceTracker._move_claim',
        CALLED,
        '(self, context, instance, new_flavor, nodename, migration, '
        'allocations, move_type=None, image_meta=None, limits=None)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.pci_placement_translator',
        'get_resource_class',
        CALLED,
        '(requested_name, vendor_id, product_id)',
        services=COMPUTE,
    ),
    Seam(
        'nova.compute.pci_placement_translator',
        'get_traits',
        CALLED,
        '(traits_str)',
        services=COMPUTE,
    ),
    Seam(
        'nova.pci.stats',
        'PciDeviceStats._get_rp_uuids_for_request',
        CALLED,
        '(self, provider_mapping, request)',
        services=COMPUTE,
    ),
    Seam(
        'nova.virt.block_device',
        'DriverVolumeBlockDevice._get_volume',
        CALLED,
        '(context, volume_api, volume_id)',
        services=COMPUTE,
    ),
    # Virt driver: can a volume be reached.
    Seam(
        'nova.virt.libvirt',
        'LibvirtDriver',
        REPLACED,
        plugin=('nova_xcell.virt', 'libvirt'),
        services=COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver._get_volume_driver',
        CALLED,
        '(self, connection_info)',
        services=COMPUTE,
    ),
    # Virt driver: local disks.
    Seam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver.cleanup',
        OVERRIDDEN,
        '(self, context, instance, network_info, block_device_info=None, '
        'destroy_disks=True, migrate_data=None, destroy_vifs=True, '
        'destroy_secrets=True)',
        services=COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.utils',
        'get_instance_path',
        CALLED,
        '(instance, relative=False)',
        services=COMPUTE,
    ),
    Seam(
        'nova.storage.rbd_utils',
        'RADOSClient.__init__',
        CALLED,
        '(self, driver, pool=None)',
        services=COMPUTE,
    ),
    Seam(
        'nova.storage.rbd_utils',
        'RBDVolumeProxy.__init__',
        CALLED,
        '(self, driver, name, pool=None, snapshot=None, read_only=False)',
        services=COMPUTE,
    ),
)

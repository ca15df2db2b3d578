# SPDX-License-Identifier: Apache-2.0
"""The seams of nova-api and nova-scheduler."""

from nova_xcell.seams.seam import API
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import COMPUTE
from nova_xcell.seams.seam import CONDUCTOR
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import SCHEDULER
from nova_xcell.seams.seam import Seam

SEAMS: tuple[Seam, ...] = (
    # API: what cannot be carried is refused at once. Controllers look the
    # class up in its module when they are made. It does not name itself in
    # super(). nova-compute uses it too, for other things than it overrides.
    Seam(
        'nova.compute.api',
        'API',
        REPLACED,
        plugin=('nova_xcell.api', 'compute_api'),
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'API.resize',
        OVERRIDDEN,
        '(self, context, instance, flavor_id=None, clean_shutdown=True, '
        'host_name=None, auto_disk_config=None)',
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'API._allow_cross_cell_resize',
        OVERRIDDEN,
        '(self, context, instance, min_comp_ver)',
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'API._validate_host_for_cold_migrate',
        OVERRIDDEN,
        '(context, instance, host_name, allow_cross_cell_resize)',
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'API._get_source_compute_service',
        OVERRIDDEN,
        '(context, migration)',
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'API.evacuate',
        OVERRIDDEN,
        '(self, context, instance, host, on_shared_storage, '
        'admin_password=None, force=None, target_state=None)',
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'API._check_injected_file_quota',
        OVERRIDDEN,
        '(self, context, injected_files)',
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'API._populate_instance_names',
        OVERRIDDEN,
        '(self, instance, num_instances, index)',
        services=API,
    ),
    # What is listed and counted while a server has records in two cells.
    Seam(
        'nova.compute.api',
        'API.get_migrations',
        OVERRIDDEN,
        '(self, context, filters)',
        services=API,
    ),
    # It names itself in super(), once, in what ours does not call.
    Seam(
        'nova.compute.migration_list',
        'MigrationLister',
        REPLACED,
        plugin=('nova_xcell.views', 'migration_lister'),
        services=API,
    ),
    Seam(
        'nova.compute.migration_list',
        'MigrationLister.__init__',
        OVERRIDDEN,
        '(self, sort_keys, sort_dirs)',
        services=API,
    ),
    Seam(
        'nova.compute.migration_list',
        'MigrationLister.get_by_filters',
        OVERRIDDEN,
        '(self, ctx, filters, limit, marker, **kwargs)',
        services=API,
    ),
    Seam(
        'nova.compute.migration_list',
        'MigrationLister.get_marker_record',
        OVERRIDDEN,
        '(self, ctx, marker)',
        services=API,
    ),
    Seam(
        'nova.compute.migration_list',
        'MigrationSortContext.__init__',
        CALLED,
        '(self, sort_keys, sort_dirs)',
        services=API,
    ),
    Seam(
        'nova.compute.multi_cell_list',
        'CrossCellLister.__init__',
        CALLED,
        '(self, sort_ctx, cells=None, batch_size=None)',
        services=API,
    ),
    Seam(
        'nova.db.main.api',
        'migration_get_by_uuid',
        CALLED,
        '(context, migration_uuid)',
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'HostAPI',
        REPLACED,
        plugin=('nova_xcell.views', 'host_api'),
        services=API,
    ),
    Seam(
        'nova.compute.api',
        'HostAPI.instance_get_all_by_host',
        OVERRIDDEN,
        '(self, context, host_name)',
        services=API,
    ),
    # There is no class to exchange: it is a registered object of the host's.
    Seam(
        'nova.objects.instance',
        'InstanceList.get_active_by_window_joined',
        REPLACED,
        '(context, begin, end=None, project_id=None, host=None, '
        'expected_attrs=None, use_slave=False, limit=None, marker=None)',
        plugin=('nova_xcell.views', 'usage'),
        services=API + COMPUTE,
    ),
    # Our policy rules are registered with the host's.
    Seam(
        'nova.policies',
        'list_rules',
        REPLACED,
        '()',
        plugin=('nova_xcell.api', 'policies'),
        services=API,
    ),
    # Facts about a server, for nova-api and nova-conductor.
    Seam(
        'nova.compute.utils',
        'is_volume_backed_instance',
        CALLED,
        '(context, instance, bdms=None)',
        services=API + CONDUCTOR + COMPUTE,
    ),
    Seam(
        'nova.virt.hardware',
        'get_vtpm_constraint',
        CALLED,
        '(flavor, image_meta)',
        services=API + CONDUCTOR,
    ),
    Seam(
        'nova.volume.cinder',
        'is_microversion_supported',
        CALLED,
        '(context, microversion)',
        services=API + CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.has_port_binding_extension',
        CALLED,
        '(self, context=None, client=None)',
        services=API + CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.get_requested_resource_for_instance',
        CALLED,
        '(self, context, instance_uuid)',
        services=API + CONDUCTOR,
    ),
    # Scheduler: which cell a move should go to.
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher',
        REPLACED,
        plugin=('nova_xcell.weighers', 'cross_cell'),
        services=SCHEDULER,
    ),
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher._weigh_object',
        OVERRIDDEN,
        '(self, host_state, weight_properties)',
        services=SCHEDULER,
    ),
    # Does not call super(), see there.
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher.weigh_objects',
        OVERRIDDEN,
        '(self, weighed_obj_list, weight_properties)',
        services=SCHEDULER,
    ),
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher.weight_multiplier',
        CALLED,
        '(self, host_state)',
        services=SCHEDULER,
    ),
)

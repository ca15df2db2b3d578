# SPDX-License-Identifier: Apache-2.0
"""The seams of live migration: its API."""

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

_ApiSeam = functools.partial(Seam, feature=features.LIVE_MIGRATION_API.name)

# The API that tells what happens (LM).
_API_SEAMS: tuple[Seam, ...] = (
    _ApiSeam(
        'nova.api.openstack.compute.migrate_server',
        'MigrateServerController._migrate_live',
        REPLACED,
        '(self, req, id, body)',
        plugin=('nova_xcell.api', 'migrate_live'),
        services=API,
    ),
    _ApiSeam(
        'nova.api.openstack.compute.server_migrations',
        'ServerMigrationsController.show',
        REPLACED,
        '(self, req, server_id, id)',
        plugin=('nova_xcell.api', 'show_server_migration'),
        services=API,
    ),
    # Nova 31 looks the method up here.
    _ApiSeam(
        'nova.api.openstack.compute.server_migrations',
        'ServerMigrationsController.versioned_methods',
        REPLACED,
        item='show',
        plugin=('nova_xcell.api', 'show_server_migration_31'),
        services=API,
        nova_releases=(31,),
    ),
    # Nova 33 was the first to check answers against a schema.
    *(
        _ApiSeam(
            'nova.api.openstack.compute.schemas.server_migrations',
            'show_response_%s' % version,
            REPLACED,
            item='properties',
            plugin=('nova_xcell.api', 'show_server_migration_%s' % version),
            services=API,
            nova_releases=(33, 34),
        )
        for version in ('v223', 'v259', 'v280')
    ),
    _ApiSeam(
        'nova.api.openstack.compute.server_migrations',
        'output',
        CALLED,
        '(migration, include_uuid=False, include_user_project=False)',
        services=API,
        nova_releases=(31,),
    ),
    _ApiSeam(
        'nova.api.openstack.compute.server_migrations',
        'output',
        CALLED,
        '(migration, include_uuid=False, include_user_project=False, '
        'include_host=True)',
        services=API,
        nova_releases=(32, 33, 34),
    ),
    _ApiSeam(
        'nova.api.openstack.compute.migrations',
        'MigrationsController._output',
        REPLACED,
        '(self, req, migrations_obj, add_link=False, add_uuid=False, '
        'add_user_project=False)',
        plugin=('nova_xcell.api', 'output_migrations'),
        services=API,
        nova_releases=(31,),
    ),
    _ApiSeam(
        'nova.api.openstack.compute.migrations',
        'MigrationsController._output',
        REPLACED,
        '(self, req, migrations_obj, add_link=False, add_uuid=False, '
        'add_user_project=False, add_host=True)',
        plugin=('nova_xcell.api', 'output_migrations'),
        services=API,
        nova_releases=(32, 33, 34),
    ),
    _ApiSeam(
        'nova.api.openstack.common',
        'ViewBuilder._get_href_link',
        CALLED,
        '(self, request, identifier, collection_name)',
        services=API,
    ),
    _ApiSeam(
        'nova.api.openstack.common',
        'ViewBuilder._get_links',
        CALLED,
        '(self, request, identifier, collection_name)',
        services=API,
    ),
    _ApiSeam(
        'nova.compute.api',
        'API',
        EXTENDED,
        plugin=('nova_xcell.api', 'live_migrations'),
        services=API,
    ),
    _ApiSeam(
        'nova.compute.api',
        'API.live_migrate',
        OVERRIDDEN,
        '(self, context, instance, block_migration, disk_over_commit, '
        'host_name, force=None, async_=False)',
        services=API,
    ),
    _ApiSeam(
        'nova.compute.api',
        'API.get_migrations_in_progress_by_instance',
        OVERRIDDEN,
        '(self, context, instance_uuid, migration_type=None)',
        services=API,
    ),
    _ApiSeam(
        'nova.compute.api',
        'API.get_migrations_sorted',
        OVERRIDDEN,
        '(self, context, filters, sort_dirs=None, sort_keys=None, '
        'limit=None, marker=None)',
        services=API,
    ),
    _ApiSeam(
        'nova.policies',
        'list_rules',
        REPLACED,
        '()',
        plugin=('nova_xcell.api', 'policies'),
        services=API,
    ),
    # The migration goes from nova-api to nova-conductor. Both classes of the
    # conductor's RPC name themselves in super(), so that they cannot be
    # extended.
    _ApiSeam(
        'nova.conductor.rpcapi',
        'ComputeTaskAPI.live_migrate_instance',
        REPLACED,
        '(self, context, instance, scheduler_hint, block_migration, '
        'disk_over_commit, request_spec)',
        plugin=('nova_xcell.api', 'live_migrate_instance'),
        services=API,
    ),
    _ApiSeam(
        'nova.conductor.rpcapi',
        'ComputeTaskAPI.migrate_server',
        REPLACED,
        '(self, context, instance, scheduler_hint, live, rebuild, flavor, '
        'block_migration, disk_over_commit, reservations=None, '
        'clean_shutdown=True, request_spec=None, host_list=None, '
        'do_cast=False)',
        plugin=('nova_xcell.api', 'migrate_server'),
        services=API,
    ),
    _ApiSeam(
        'nova.db.main.api',
        'pick_context_manager_writer',
        CALLED,
        '(f)',
        services=API,
    ),
    _ApiSeam(
        'nova.conductor.manager',
        'ConductorManager.__init__',
        REPLACED,
        '(self, *args, **kwargs)',
        plugin=('nova_xcell.tasks', 'conductor_init'),
        services=CONDUCTOR,
    ),
    _ApiSeam(
        'nova.conductor.manager',
        'ComputeTaskManager',
        EXTENDED,
        plugin=('nova_xcell.tasks', 'live_migrations'),
        services=CONDUCTOR,
    ),
    _ApiSeam(
        'nova.conductor.manager',
        'ComputeTaskManager._live_migrate',
        OVERRIDDEN,
        '(self, context, instance, scheduler_hint, block_migration, '
        'disk_over_commit, request_spec)',
        services=CONDUCTOR,
    ),
    # There is no class to exchange: it is a registered object of the host's.
    _ApiSeam(
        'nova.objects.migration',
        'Migration.create',
        REPLACED,
        '(self)',
        plugin=('nova_xcell.tasks', 'create_migration'),
        services=CONDUCTOR,
    ),
    # The class names itself in super().
    _ApiSeam(
        'nova.conductor.tasks.live_migrate',
        'LiveMigrationTask._call_livem_checks_on_host',
        REPLACED,
        '(self, destination, provider_mapping)',
        plugin=('nova_xcell.tasks', 'live_migration_checks'),
        services=CONDUCTOR,
    ),
    _ApiSeam(
        'nova.virt.libvirt',
        'LibvirtDriver',
        EXTENDED,
        plugin=('nova_xcell.virt', 'live_migrations'),
        services=COMPUTE,
    ),
    _ApiSeam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver.check_can_live_migrate_destination',
        OVERRIDDEN,
        '(self, context, instance, src_compute_info, dst_compute_info, '
        'block_migration=False, disk_over_commit=False)',
        services=COMPUTE,
    ),
    _ApiSeam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver._live_migration_operation',
        OVERRIDDEN,
        '(self, context, instance, dest, block_migration, migrate_data, '
        'guest, device_names)',
        services=COMPUTE,
    ),
    _ApiSeam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver._get_local_gb_info',
        CALLED,
        '()',
        services=COMPUTE,
    ),
)

SEAMS: tuple[Seam, ...] = _API_SEAMS

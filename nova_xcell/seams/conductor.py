# SPDX-License-Identifier: Apache-2.0
"""The seams of nova-conductor."""

from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import CONDUCTOR
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import Seam

SEAMS: tuple[Seam, ...] = (
    # Conductor: the flow of a move. MigrationTask finds the task through the
    # module's name in its own namespace. The class cannot be exchanged in its
    # own module: it names itself in super(), and would find our subclass.
    Seam(
        'nova.conductor.tasks.migrate',
        'cross_cell_migrate',
        REPLACED,
        plugin=('nova_xcell.tasks', 'cross_cell_migrate'),
        services=CONDUCTOR,
    ),
    # ComputeTaskManager finds the tasks of confirm and revert likewise.
    Seam(
        'nova.conductor.manager',
        'cross_cell_migrate',
        REPLACED,
        plugin=('nova_xcell.tasks', 'cross_cell_migrate'),
        services=CONDUCTOR,
    ),
    # What it does with a move that has failed. ConductorManager looks it up
    # in its module; it does not name itself in super().
    Seam(
        'nova.conductor.manager',
        'ComputeTaskManager',
        REPLACED,
        plugin=('nova_xcell.tasks', 'task_manager'),
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.manager',
        'ComputeTaskManager._cold_migrate',
        OVERRIDDEN,
        '(self, context, instance, flavor, filter_properties, '
        'clean_shutdown, request_spec, host_list)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.manager',
        'ComputeTaskManager._set_vm_state_and_notify',
        OVERRIDDEN,
        '(self, context, instance_uuid, method, updates, ex, request_spec)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.service',
        'SERVICE_MANAGERS',
        REPLACED,
        item='nova-conductor',
        plugin=('nova_xcell.tasks', 'conductor_manager'),
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._perform_external_api_checks',
        OVERRIDDEN,
        '(self)',
        services=CONDUCTOR,
    ),
    # Swap follows the flavor, and is as it was after a revert.
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._update_bdms_in_source_cell',
        OVERRIDDEN,
        '(self, source_cell_context)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._delete_orphan_source_cell_bdms',
        OVERRIDDEN,
        '(self, source_cell_bdms)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.block_device',
        'create_blank_bdm',
        CALLED,
        '(size, guest_format=None)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask.__init__',
        CALLED,
        '(self, context, instance, flavor, request_spec, source_migration, '
        'compute_rpcapi, host_selection, alternate_hosts)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._setup_target_cell_db',
        OVERRIDDEN,
        '(self)',
        services=CONDUCTOR,
    ),
    # The one above does not call super(), which would make the host's
    # TargetDBSetupTask; nor does _execute of ours.
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._get_target_cell_mapping',
        CALLED,
        '(self)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'TargetDBSetupTask.__init__',
        CALLED,
        '(self, context, instance, source_migration, target_cell_context)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'TargetDBSetupTask._execute',
        OVERRIDDEN,
        '(self)',
        services=CONDUCTOR,
    ),
    # What was done with a server while it was resized. The host's method for
    # the actions is not called, ours does more than its work.
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._update_instance_in_source_cell',
        OVERRIDDEN,
        '(self, instance)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._update_instance_actions_in_source_cell',
        OVERRIDDEN,
        '(self, source_cell_context)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        'get_context_manager',
        CALLED,
        '(context)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        '_validate_unique_server_name',
        CALLED,
        '(context, name)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        'ec2_instance_create',
        CALLED,
        '(context, instance_uuid, id=None)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._prep_resize_at_dest',
        OVERRIDDEN,
        '(self, target_cell_migration)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._finish_resize_at_dest',
        OVERRIDDEN,
        '(self, target_cell_migration, target_cell_mapping, snapshot_id)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.utils',
        'claim_resources',
        CALLED,
        '(ctx, client, spec_obj, instance_uuid, alloc_req, '
        'allocation_request_version=None)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.utils',
        'fill_provider_mapping',
        CALLED,
        '(request_spec, host_selection)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.client.report',
        'SchedulerReportClient.delete_allocation_for_instance',
        CALLED,
        "(self, context, uuid, consumer_type='instance', force=False)",
        services=CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.client.report',
        'SchedulerReportClient.remove_provider_tree_from_instance_allocation',
        CALLED,
        '(self, context, consumer_uuid, root_rp_uuid)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.compute.api',
        'API.confirm_resize',
        CALLED,
        '(self, context, instance, migration=None)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        'pick_context_manager_writer',
        CALLED,
        '(f)',
        services=CONDUCTOR,
    ),
    *(
        Seam(
            'nova.compute.rpcapi',
            'ComputeAPI.%s' % method,
            OVERRIDDEN,
            signature,
            services=CONDUCTOR,
        )
        for method, signature in (
            (
                'prep_snapshot_based_resize_at_source',
                '(self, ctxt, instance, migration, snapshot_id=None)',
            ),
            (
                'finish_snapshot_based_resize_at_dest',
                '(self, ctxt, instance, migration, snapshot_id, request_spec)',
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
    *(
        Seam(
            'nova.conductor.tasks.cross_cell_migrate',
            name,
            kind,
            signature,
            services=CONDUCTOR,
        )
        for name, kind, signature in (
            ('CrossCellMigrationTask._execute', OVERRIDDEN, '(self)'),
            ('CrossCellMigrationTask.rollback', OVERRIDDEN, '(self, ex)'),
            (
                'ConfirmResizeTask.__init__',
                CALLED,
                '(self, context, instance, migration, legacy_notifier, '
                'compute_rpcapi)',
            ),
            ('ConfirmResizeTask._execute', OVERRIDDEN, '(self)'),
            ('ConfirmResizeTask.rollback', OVERRIDDEN, '(self, ex)'),
            (
                'RevertResizeTask.__init__',
                CALLED,
                '(self, context, instance, migration, legacy_notifier, '
                'compute_rpcapi)',
            ),
            ('RevertResizeTask._execute', OVERRIDDEN, '(self)'),
            ('RevertResizeTask.rollback', OVERRIDDEN, '(self, ex)'),
            (
                'RevertResizeTask._update_instance_mapping',
                CALLED,
                '(self, source_cell_instance, source_cell_mapping)',
            ),
        )
    ),
    Seam(
        'nova.scheduler.client.report',
        'SchedulerReportClient.move_allocations',
        CALLED,
        '(self, context, source_consumer_uuid, target_consumer_uuid)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.migrate_instance_start',
        CALLED,
        '(self, context, instance, migration)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.delete_port_binding',
        CALLED,
        '(self, context, port_id, host)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.volume.cinder',
        'API.attachment_get_all',
        CALLED,
        '(self, context, instance_id=None, volume_id=None)',
        services=CONDUCTOR,
    ),
    Seam(
        'nova.compute.rpcapi',
        'ComputeAPI.drop_move_claim_at_destination',
        CALLED,
        '(self, ctxt, instance, host)',
        services=CONDUCTOR,
    ),
)

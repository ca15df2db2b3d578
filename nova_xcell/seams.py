# SPDX-License-Identifier: Apache-2.0
"""The seams: every host attribute the plug-ins replace, override or rely on.

This is the one table. It is checked when a service arms (by
:mod:`nova_xcell.loader`) and by the contract tests against every supported
release; ``nova-xcell-status upgrade check`` prints what it finds.
"""

import dataclasses
import importlib
import inspect
import types
import typing as ty

from nova_xcell import exception
from nova_xcell import features
from nova_xcell import releases

#: The value of the attribute is exchanged for the plug-in's.
REPLACED = 'replaced'
#: A subclass of ours overrides it, and calls ``super()`` unless the row says
#: that it does not.
OVERRIDDEN = 'overridden'
#: Not a public interface of the host, but called by the plug-ins.
CALLED = 'called'


@dataclasses.dataclass(frozen=True)
class Seam:
    """One attribute of the host.

    :ivar module: host module that holds it; checked and installed as soon as
        that module is imported, not before
    :ivar attribute: dotted name inside the module
    :ivar kind: :data:`REPLACED`, :data:`OVERRIDDEN` or :data:`CALLED`
    :ivar signature: the parameters relied on, as ``inspect`` spells them
        without annotations; None for what is not called
    :ivar plugin: for a replaced one, stevedore namespace and name of what
        takes its place
    :ivar item: for a replaced one that is a dictionary, the key
    :ivar feature: the feature it belongs to
    :ivar services: services it has an effect in
    :ivar nova_releases: major versions of Nova it holds for
    """

    module: str
    attribute: str
    kind: str
    signature: str | None = None
    plugin: tuple[str, str] | None = None
    item: str | None = None
    feature: str = features.CROSS_CELL_RESIZE.name
    services: tuple[str, ...] = ()
    nova_releases: tuple[int, ...] = releases.SUPPORTED['nova'][1]

    @property
    def path(self) -> str:
        """Dotted path, for messages."""
        item = '[%s]' % self.item if self.item else ''
        return '%s.%s%s' % (self.module, self.attribute, item)


_API = ('nova-api',)
_CONDUCTOR = ('nova-conductor',)
_COMPUTE = ('nova-compute',)
_SCHEDULER = ('nova-scheduler',)

SEAMS: tuple[Seam, ...] = (
    # API: what cannot be carried is refused at once. Controllers look the
    # class up in its module when they are made. It does not name itself in
    # super(). nova-compute uses it too, for other things than it overrides.
    Seam(
        'nova.compute.api',
        'API',
        REPLACED,
        plugin=('nova_xcell.api', 'compute_api'),
        services=_API,
    ),
    Seam(
        'nova.compute.api',
        'API.resize',
        OVERRIDDEN,
        '(self, context, instance, flavor_id=None, clean_shutdown=True, '
        'host_name=None, auto_disk_config=None)',
        services=_API,
    ),
    Seam(
        'nova.compute.api',
        'API._allow_cross_cell_resize',
        OVERRIDDEN,
        '(self, context, instance, min_comp_ver)',
        services=_API,
    ),
    Seam(
        'nova.compute.api',
        'API.evacuate',
        OVERRIDDEN,
        '(self, context, instance, host, on_shared_storage, '
        'admin_password=None, force=None, target_state=None)',
        services=_API,
    ),
    Seam(
        'nova.compute.api',
        'API._check_injected_file_quota',
        OVERRIDDEN,
        '(self, context, injected_files)',
        services=_API,
    ),
    Seam(
        'nova.compute.api',
        'API._populate_instance_names',
        OVERRIDDEN,
        '(self, instance, num_instances, index)',
        services=_API,
    ),
    # Our policy rules are registered with the host's.
    Seam(
        'nova.policies',
        'list_rules',
        REPLACED,
        '()',
        plugin=('nova_xcell.api', 'policies'),
        services=_API,
    ),
    # Facts about a server, for nova-api and nova-conductor.
    Seam(
        'nova.compute.utils',
        'is_volume_backed_instance',
        CALLED,
        '(context, instance, bdms=None)',
        services=_API + _CONDUCTOR + _COMPUTE,
    ),
    Seam(
        'nova.virt.hardware',
        'get_vtpm_constraint',
        CALLED,
        '(flavor, image_meta)',
        services=_API + _CONDUCTOR,
    ),
    Seam(
        'nova.volume.cinder',
        'is_microversion_supported',
        CALLED,
        '(context, microversion)',
        services=_API + _CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.has_port_binding_extension',
        CALLED,
        '(self, context=None, client=None)',
        services=_API + _CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.get_requested_resource_for_instance',
        CALLED,
        '(self, context, instance_uuid)',
        services=_API + _CONDUCTOR,
    ),
    # Scheduler: which cell a move should go to.
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher',
        REPLACED,
        plugin=('nova_xcell.weighers', 'cross_cell'),
        services=_SCHEDULER,
    ),
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher._weigh_object',
        OVERRIDDEN,
        '(self, host_state, weight_properties)',
        services=_SCHEDULER,
    ),
    # Does not call super(), see there.
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher.weigh_objects',
        OVERRIDDEN,
        '(self, weighed_obj_list, weight_properties)',
        services=_SCHEDULER,
    ),
    Seam(
        'nova.scheduler.weights.cross_cell',
        'CrossCellWeigher.weight_multiplier',
        CALLED,
        '(self, host_state)',
        services=_SCHEDULER,
    ),
    # Conductor: the flow of a move. MigrationTask finds the task through the
    # module's name in its own namespace. The class cannot be exchanged in its
    # own module: it names itself in super(), and would find our subclass.
    Seam(
        'nova.conductor.tasks.migrate',
        'cross_cell_migrate',
        REPLACED,
        plugin=('nova_xcell.tasks', 'cross_cell_migrate'),
        services=_CONDUCTOR,
    ),
    # ComputeTaskManager finds the tasks of confirm and revert likewise.
    Seam(
        'nova.conductor.manager',
        'cross_cell_migrate',
        REPLACED,
        plugin=('nova_xcell.tasks', 'cross_cell_migrate'),
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.service',
        'SERVICE_MANAGERS',
        REPLACED,
        item='nova-conductor',
        plugin=('nova_xcell.tasks', 'conductor_manager'),
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._perform_external_api_checks',
        OVERRIDDEN,
        '(self)',
        services=_CONDUCTOR,
    ),
    # Swap follows the flavor, and is as it was after a revert.
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._update_bdms_in_source_cell',
        OVERRIDDEN,
        '(self, source_cell_context)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._delete_orphan_source_cell_bdms',
        OVERRIDDEN,
        '(self, source_cell_bdms)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.block_device',
        'create_blank_bdm',
        CALLED,
        '(size, guest_format=None)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask.__init__',
        CALLED,
        '(self, context, instance, flavor, request_spec, source_migration, '
        'compute_rpcapi, host_selection, alternate_hosts)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._setup_target_cell_db',
        OVERRIDDEN,
        '(self)',
        services=_CONDUCTOR,
    ),
    # The one above does not call super(), which would make the host's
    # TargetDBSetupTask; nor does _execute of ours.
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._get_target_cell_mapping',
        CALLED,
        '(self)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'TargetDBSetupTask.__init__',
        CALLED,
        '(self, context, instance, source_migration, target_cell_context)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'TargetDBSetupTask._execute',
        OVERRIDDEN,
        '(self)',
        services=_CONDUCTOR,
    ),
    # What was done with a server while it was resized. The host's method for
    # the actions is not called, ours does more than its work.
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._update_instance_in_source_cell',
        OVERRIDDEN,
        '(self, instance)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._update_bdms_in_source_cell',
        OVERRIDDEN,
        '(self, source_cell_context)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'RevertResizeTask._update_instance_actions_in_source_cell',
        OVERRIDDEN,
        '(self, source_cell_context)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        'get_context_manager',
        CALLED,
        '(context)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        '_validate_unique_server_name',
        CALLED,
        '(context, name)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        'ec2_instance_create',
        CALLED,
        '(context, instance_uuid, id=None)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._prep_resize_at_dest',
        OVERRIDDEN,
        '(self, target_cell_migration)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.conductor.tasks.cross_cell_migrate',
        'CrossCellMigrationTask._finish_resize_at_dest',
        OVERRIDDEN,
        '(self, target_cell_migration, target_cell_mapping, snapshot_id)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.utils',
        'claim_resources',
        CALLED,
        '(ctx, client, spec_obj, instance_uuid, alloc_req, '
        'allocation_request_version=None)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.utils',
        'fill_provider_mapping',
        CALLED,
        '(request_spec, host_selection)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.client.report',
        'SchedulerReportClient.delete_allocation_for_instance',
        CALLED,
        "(self, context, uuid, consumer_type='instance', force=False)",
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.scheduler.client.report',
        'SchedulerReportClient.remove_provider_tree_from_instance_allocation',
        CALLED,
        '(self, context, consumer_uuid, root_rp_uuid)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.compute.api',
        'API.confirm_resize',
        CALLED,
        '(self, context, instance, migration=None)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.db.main.api',
        'pick_context_manager_writer',
        CALLED,
        '(f)',
        services=_CONDUCTOR,
    ),
    *(
        Seam(
            'nova.compute.rpcapi',
            'ComputeAPI.%s' % method,
            OVERRIDDEN,
            signature,
            services=_CONDUCTOR,
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
            services=_CONDUCTOR,
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
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.migrate_instance_start',
        CALLED,
        '(self, context, instance, migration)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.delete_port_binding',
        CALLED,
        '(self, context, port_id, host)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.volume.cinder',
        'API.attachment_get_all',
        CALLED,
        '(self, context, instance_id=None, volume_id=None)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.compute.rpcapi',
        'ComputeAPI.drop_move_claim_at_destination',
        CALLED,
        '(self, ctxt, instance, host)',
        services=_CONDUCTOR,
    ),
    # Compute: what a destination host checks and claims.
    Seam(
        'nova.service',
        'SERVICE_MANAGERS',
        REPLACED,
        item='nova-compute',
        plugin=('nova_xcell.compute', 'manager'),
        services=_COMPUTE,
    ),
    *(
        Seam(
            'nova.compute.manager',
            'ComputeManager.%s' % method,
            OVERRIDDEN,
            signature,
            services=_COMPUTE,
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
        'ComputeManager._power_on',
        CALLED,
        '(self, context, instance)',
        services=_COMPUTE,
    ),
    Seam(
        'nova.network.neutron',
        'API.bind_ports_to_host',
        OVERRIDDEN,
        '(self, context, instance, host, vnic_types=None, port_profiles=None)',
        services=_CONDUCTOR,
    ),
    Seam(
        'nova.network.neutron',
        'API.setup_networks_on_host',
        CALLED,
        '(self, context, instance, host=None, teardown=False)',
        services=_COMPUTE,
    ),
    Seam(
        'nova.compute.manager',
        'ComputeManager.prep_snapshot_based_resize_at_dest',
        OVERRIDDEN,
        '(self, ctxt, instance, flavor, nodename, migration, limits)',
        services=_COMPUTE,
    ),
    Seam(
        'nova.compute.resource_tracker',
        'ResourceTracker.drop_move_claim',
        CALLED,
        "(self, context, instance, nodename, flavor=None, prefix='new_')",
        services=_COMPUTE,
    ),
    Seam(
        'nova.virt.block_device',
        'DriverVolumeBlockDevice._get_volume',
        CALLED,
        '(context, volume_api, volume_id)',
        services=_COMPUTE,
    ),
    # Virt driver: can a volume be reached.
    Seam(
        'nova.virt.libvirt',
        'LibvirtDriver',
        REPLACED,
        plugin=('nova_xcell.virt', 'libvirt'),
        services=_COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver._get_volume_driver',
        CALLED,
        '(self, connection_info)',
        services=_COMPUTE,
    ),
    # Virt driver: local disks.
    Seam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver.cleanup',
        OVERRIDDEN,
        '(self, context, instance, network_info, block_device_info=None, '
        'destroy_disks=True, migrate_data=None, destroy_vifs=True, '
        'destroy_secrets=True)',
        services=_COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.utils',
        'get_instance_path',
        CALLED,
        '(instance, relative=False)',
        services=_COMPUTE,
    ),
    Seam(
        'nova.storage.rbd_utils',
        'RADOSClient.__init__',
        CALLED,
        '(self, driver, pool=None)',
        services=_COMPUTE,
    ),
    Seam(
        'nova.storage.rbd_utils',
        'RBDVolumeProxy.__init__',
        CALLED,
        '(self, driver, name, pool=None, snapshot=None, read_only=False)',
        services=_COMPUTE,
    ),
)


def for_features(
    names: ty.Iterable[str],
    nova_release: int,
) -> tuple[Seam, ...]:
    """Return the seams of some features in one release of the host.

    :param names: names of features
    :param nova_release: major version of Nova
    """
    wanted = set(names)
    return tuple(
        seam
        for seam in SEAMS
        if seam.feature in wanted and nova_release in seam.nova_releases
    )


def holder(seam: Seam, module: types.ModuleType) -> tuple[ty.Any, str]:
    """Return the object that holds a seam's attribute, and its last name.

    :param seam: the seam
    :param module: its imported module
    :raises: AttributeError if the host has no such attribute
    """
    *parents, name = seam.attribute.split('.')
    owner: ty.Any = module
    for parent in parents:
        owner = getattr(owner, parent)
    getattr(owner, name)
    return owner, name


def check(seam: Seam, module: types.ModuleType) -> None:
    """Compare a seam with the host.

    :param seam: the seam
    :param module: its imported module
    :raises: :class:`~nova_xcell.exception.SeamChanged`
    """
    try:
        owner, name = holder(seam, module)
    except AttributeError as exc:
        raise exception.SeamChanged(path=seam.path, reason=exc)
    value = getattr(owner, name)
    if seam.item is not None and seam.item not in value:
        raise exception.SeamChanged(path=seam.path, reason='no such key')
    if seam.signature is None:
        return
    found = spell_signature(value)
    if found != seam.signature:
        raise exception.SeamChanged(
            path=seam.path,
            reason='expected %s, found %s' % (seam.signature, found),
        )


def spell_signature(function: ty.Callable) -> str:
    """Return the parameters of a function without annotations.

    :param function: a function or method of the host, decorated or not
    """
    signature = inspect.signature(_undecorated(function))
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    return str(
        signature.replace(
            parameters=parameters, return_annotation=inspect.Signature.empty
        )
    )


def _undecorated(function: ty.Callable) -> ty.Callable:
    function = inspect.unwrap(function)
    if str(inspect.signature(function)) == '(*args, **kwargs)':
        # oslo.messaging's decorators leave no __wrapped__.
        for cell in getattr(function, '__closure__', None) or ():
            if inspect.isfunction(cell.cell_contents):
                return _undecorated(cell.cell_contents)
    return function


def check_all(seams: ty.Iterable[Seam]) -> dict[Seam, str]:
    """Import and check seams, for the status command and the tests.

    :param seams: the seams to look at
    :returns: what is wrong, by seam; empty if all is well
    """
    problems = {}
    for seam in seams:
        try:
            check(seam, importlib.import_module(seam.module))
        except (exception.SeamChanged, ImportError) as exc:
            problems[seam] = str(exc)
    return problems

# SPDX-License-Identifier: Apache-2.0
"""The seams of live migration: what servers wish, in nova-api and others."""

import functools

from nova_xcell import features
from nova_xcell.seams.seam import API
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import COMPUTE
from nova_xcell.seams.seam import CONDUCTOR
from nova_xcell.seams.seam import EXTENDED
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import SCHEDULER
from nova_xcell.seams.seam import Seam

_Flags = functools.partial(Seam, feature=features.LIVE_MIGRATION_FLAGS.name)

_EVERYWHERE = API + CONDUCTOR + SCHEDULER + COMPUTE

# What flavors and images wish, in nova-api and nova-scheduler.
_WISHES: tuple[Seam, ...] = (
    # The class stands in two places, which the host's register() would fill.
    # The third, the module's own name for it, is left alone: the class names
    # itself in super().
    _Flags(
        'nova.objects.image_meta',
        'objects.ImageMetaProps',
        REPLACED,
        plugin=('nova_xcell.objects', 'image_meta_props'),
        services=_EVERYWHERE,
    ),
    _Flags(
        'nova.objects.image_meta',
        'base.NovaObjectRegistry._registry._obj_classes',
        REPLACED,
        item='ImageMetaProps',
        plugin=('nova_xcell.objects', 'registered_image_meta_props'),
        services=_EVERYWHERE,
    ),
    _Flags(
        'nova.objects.image_meta',
        'ImageMetaProps.from_dict',
        CALLED,
        '(image_props)',
        services=_EVERYWHERE,
    ),
    _Flags(
        'nova.utils',
        'get_image_from_system_metadata',
        CALLED,
        '(system_meta)',
        services=API + SCHEDULER,
    ),
    # nova-api asks it for every key of a flavor, through its entry point.
    _Flags(
        'nova.api.validation.extra_specs.base',
        'ExtraSpecValidator',
        CALLED,
        '(name, description, value, deprecated=False, '
        'parameters=<factory>, name_regex=None, value_regex=None)',
        services=API,
    ),
    _Flags(
        'nova.api.validation.extra_specs.base',
        'ExtraSpecValidator.validate',
        OVERRIDDEN,
        '(self, name, value)',
        services=API,
    ),
    _Flags(
        'nova.api.validation.extra_specs.validators',
        'validate',
        CALLED,
        '(name, value)',
        services=API,
    ),
    _Flags(
        'nova.compute.api',
        'API',
        EXTENDED,
        plugin=('nova_xcell.api', 'migration_wishes'),
        services=API,
    ),
    _Flags(
        'nova.compute.api',
        'API._checks_for_create_and_rebuild',
        OVERRIDDEN,
        '(self, context, image_id, image, flavor, metadata, files_to_inject, '
        'root_bdm, min_comp_ver, validate_numa=True)',
        services=API,
    ),
    # A static method, which ours is not.
    _Flags(
        'nova.compute.api',
        'API._validate_flavor_image_numa_pci',
        OVERRIDDEN,
        '(image, flavor, validate_numa=True, validate_pci=False)',
        services=API,
    ),
    _Flags(
        'nova.compute.api',
        'API.live_migrate_abort',
        OVERRIDDEN,
        '(self, context, instance, migration_id, '
        'support_abort_in_queue=False)',
        services=API,
    ),
    _Flags(
        'nova.compute.api',
        'check_instance_state',
        CALLED,
        '(vm_state=None, task_state=(None,), must_have_launched=True)',
        services=API,
    ),
    _Flags(
        'nova.compute.api',
        'check_instance_lock',
        CALLED,
        '(function)',
        services=API,
    ),
    _Flags(
        'nova.scheduler.request_filter',
        'ALL_REQUEST_FILTERS',
        REPLACED,
        plugin=('nova_xcell.scheduler', 'migration_traits'),
        services=SCHEDULER,
    ),
    _Flags(
        'nova.scheduler.request_filter',
        'process_reqspec',
        CALLED,
        '(ctxt, request_spec)',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.scheduler.request_filter',
        'trace_request_filter',
        CALLED,
        '(fn)',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.scheduler.manager',
        'SchedulerManager',
        EXTENDED,
        plugin=('nova_xcell.scheduler', 'wished_traits'),
        services=SCHEDULER,
    ),
    _Flags(
        'nova.scheduler.manager',
        'SchedulerManager.select_destinations',
        OVERRIDDEN,
        '(self, context, request_spec=None, filter_properties=None, '
        'spec_obj=<object>, instance_uuids=None, return_objects=False, '
        'return_alternates=False)',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.scheduler.client.report',
        'report_client_singleton',
        CALLED,
        '()',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.scheduler.client.report',
        'SchedulerReportClient.get',
        CALLED,
        '(self, url, version=None, global_request_id=None)',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.scheduler.utils',
        'request_is_rebuild',
        CALLED,
        '(spec_obj)',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.context',
        'scatter_gather_all_cells',
        CALLED,
        '(context, fn, *args, **kwargs)',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.context',
        'is_cell_failure_sentinel',
        CALLED,
        '(record)',
        services=SCHEDULER,
    ),
    _Flags(
        'nova.objects.compute_node',
        'ComputeNodeList.get_all_by_uuids',
        CALLED,
        '(cls, context, compute_uuids)',
        services=SCHEDULER,
    ),
)

SEAMS: tuple[Seam, ...] = _WISHES

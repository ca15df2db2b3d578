# SPDX-License-Identifier: Apache-2.0
"""The seams of POST /reshaper, in Placement."""

import functools

from nova_xcell import features
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import PLACEMENT
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import Seam

_Seam = functools.partial(
    Seam, feature=features.RESHAPE_HANDLER.name, services=PLACEMENT
)

# Whether Placement allows what is over capacity if it was worse before.
_NEVER_OVER_CAPACITY = (13,)
_OVER_CAPACITY_IF_WORSE = (14, 15, 16)

# Modules that the handler looks its functions up in.
_MODULES: tuple[Seam, ...] = tuple(
    _Seam(
        'placement.handlers.reshaper',
        name,
        REPLACED,
        plugin=('nova_xcell.placement', name),
    )
    for name in ('allocation', 'data_util', 'db_api', 'reshaper', 'util')
)

_HANDLERS: tuple[Seam, ...] = tuple(
    _Seam('placement.%s' % module, name, kind, signature)
    for module, name, kind, signature in (
        (
            'handlers.allocation',
            'inspect_consumers',
            OVERRIDDEN,
            '(context, data, want_version)',
        ),
        (
            'handlers.allocation',
            'create_allocation_list',
            OVERRIDDEN,
            '(context, data, consumers)',
        ),
        (
            'handlers.allocation',
            'delete_consumers',
            OVERRIDDEN,
            '(consumers)',
        ),
        (
            'handlers.allocation',
            '_resource_providers_by_uuid',
            CALLED,
            '(ctx, rp_uuids)',
        ),
        (
            'handlers.util',
            'update_consumers',
            OVERRIDDEN,
            '(consumers, request_attrs)',
        ),
        (
            'handlers.util',
            'ensure_consumer',
            CALLED,
            '(ctx, consumer_uuid, project_id, user_id, consumer_generation, '
            'consumer_type, want_version)',
        ),
        (
            'handlers.util',
            'get_or_create_consumer_type_id',
            CALLED,
            '(ctx, name)',
        ),
        (
            'handlers.util',
            '_create_consumer',
            CALLED,
            '(ctx, consumer_uuid, project, user, consumer_type_id)',
        ),
        (
            'handlers.util',
            '_get_or_create_project',
            CALLED,
            '(ctx, project_id)',
        ),
        ('handlers.util', '_get_or_create_user', CALLED, '(ctx, user_id)'),
        (
            'handlers.util',
            'RequestAttr',
            CALLED,
            '(project, user, consumer_type_id)',
        ),
        ('util', 'extract_json', OVERRIDDEN, '(body, schema)'),
    )
)

_OBJECTS: tuple[Seam, ...] = tuple(
    _Seam('placement.objects.%s' % module, name, kind, signature)
    for module, name, kind, signature in (
        ('reshaper', 'reshape', OVERRIDDEN, '(ctx, inventories, allocations)'),
        (
            'allocation',
            'Allocation.__init__',
            CALLED,
            '(self, id=None, resource_provider=None, consumer=None, '
            'resource_class=None, used=0, updated_at=None, created_at=None)',
        ),
        (
            'consumer',
            'Consumer.__init__',
            CALLED,
            '(self, context, id=None, uuid=None, project=None, user=None, '
            'generation=None, consumer_type_id=None, updated_at=None, '
            'created_at=None)',
        ),
        (
            'consumer',
            'Consumer._from_db_object',
            CALLED,
            '(ctx, target, source)',
        ),
        (
            'consumer',
            'delete_consumers_if_no_allocations',
            CALLED,
            '(ctx, consumer_uuids)',
        ),
        (
            'project',
            'Project.__init__',
            CALLED,
            '(self, context, id=None, external_id=None, updated_at=None, '
            'created_at=None)',
        ),
        (
            'user',
            'User.__init__',
            CALLED,
            '(self, context, id=None, external_id=None, updated_at=None, '
            'created_at=None)',
        ),
        (
            'resource_provider',
            '_delete_inventory_from_provider',
            CALLED,
            '(ctx, rp, to_delete)',
        ),
    )
)

_CAPACITY: tuple[Seam, ...] = (
    _Seam(
        'placement.objects.allocation',
        '_check_capacity_exceeded',
        CALLED,
        '(ctx, allocs)',
        placement_releases=_NEVER_OVER_CAPACITY,
    ),
    _Seam(
        'placement.objects.allocation',
        '_check_capacity_exceeded',
        CALLED,
        '(ctx, allocs, prev_usage)',
        placement_releases=_OVER_CAPACITY_IF_WORSE,
    ),
    _Seam(
        'placement.objects.allocation',
        '_provider_usage_summary',
        CALLED,
        '(ctx, provider_ids, rcs)',
        placement_releases=_OVER_CAPACITY_IF_WORSE,
    ),
)

SEAMS: tuple[Seam, ...] = _MODULES + _HANDLERS + _OBJECTS + _CAPACITY

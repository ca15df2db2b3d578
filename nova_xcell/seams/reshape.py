# SPDX-License-Identifier: Apache-2.0
"""The seams of reshapes: nova-compute, and nova-xcell-manage."""

import functools

from nova_xcell import features
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import COMPUTE
from nova_xcell.seams.seam import EXTENDED
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import Seam

_Seam = functools.partial(
    Seam, feature=features.RESHAPE.name, services=COMPUTE
)
_Manage = functools.partial(
    Seam, feature=features.RESHAPE.name, services=('nova-xcell-manage',)
)

# Whether the tree that is reshaped is that of one node only.
_ALL_NODES = (31, 32, 33)
_ONE_NODE = (34,)

_DRIVER: tuple[Seam, ...] = (
    _Seam(
        'nova.virt.libvirt',
        'LibvirtDriver',
        EXTENDED,
        plugin=('nova_xcell.virt', 'reshapes'),
    ),
    _Seam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver.__init__',
        OVERRIDDEN,
        '(self, virtapi, read_only=False)',
    ),
    _Seam(
        'nova.virt.libvirt.driver',
        'LibvirtDriver.update_provider_tree',
        OVERRIDDEN,
        '(self, provider_tree, nodename, allocations=None)',
    ),
)

_TRACKER: tuple[Seam, ...] = (
    _Seam(
        'nova.compute.resource_tracker',
        'ResourceTracker',
        EXTENDED,
        plugin=('nova_xcell.compute', 'reshapes'),
    ),
    _Seam(
        'nova.compute.resource_tracker',
        'ResourceTracker._update_to_placement',
        OVERRIDDEN,
        '(self, context, compute_node, startup)',
    ),
    _Seam(
        'nova.compute.resource_tracker',
        'ResourceTracker._merge_provider_configs',
        OVERRIDDEN,
        '(self, provider_configs, provider_tree)',
    ),
)

# Subclasses of the class exist before ours could take its place.
_CLIENT: tuple[Seam, ...] = (
    *(
        _Seam(
            'nova.scheduler.client.report',
            'SchedulerReportClient.%s' % name,
            REPLACED,
            signature,
            plugin=('nova_xcell.compute', plugin),
        )
        for name, signature, plugin in (
            (
                'get_allocations_for_provider_tree',
                '(self, context, nodename)',
                'get_allocations_for_provider_tree',
            ),
            (
                '_set_up_and_do_reshape',
                '(self, context, old_tree, new_tree, allocations)',
                'set_up_and_do_reshape',
            ),
            (
                '_reshape',
                '(self, context, inventories, allocations)',
                'report_client_reshape',
            ),
        )
    ),
    *(
        _Seam(
            'nova.scheduler.client.report',
            'SchedulerReportClient.%s' % name,
            CALLED,
            signature,
        )
        for name, signature in (
            (
                'get_allocations_for_resource_provider',
                '(self, context, rp_uuid)',
            ),
            ('get_allocs_for_consumer', '(self, context, consumer)'),
        )
    ),
)

_TREE: tuple[Seam, ...] = (
    *(
        _Seam(
            'nova.compute.provider_tree',
            'ProviderTree.%s' % name,
            CALLED,
            signature,
        )
        for name, signature in (
            ('data', '(self, name_or_uuid)'),
            ('exists', '(self, name_or_uuid)'),
            ('get_provider_uuids', '(self, name_or_uuid=None)'),
            ('has_inventory_changed', '(self, name_or_uuid, inventory)'),
            (
                'update_inventory',
                '(self, name_or_uuid, inventory, generation=None)',
            ),
            ('add_traits', '(self, name_or_uuid, *traits)'),
            ('new_child', '(self, name, parent, uuid=None, generation=None)'),
        )
    ),
    _Seam(
        'nova.compute.provider_tree',
        'ProviderTree.subtree',
        CALLED,
        '(self, name_or_uuid)',
        nova_releases=_ONE_NODE,
    ),
)

_COMMAND: tuple[Seam, ...] = (
    _Manage(
        'nova.utils',
        'get_sdk_adapter',
        CALLED,
        '(service_type, admin, check_service=False, conf_group=None, '
        'context=None, **kwargs)',
        nova_releases=_ALL_NODES,
    ),
    _Manage(
        'nova.utils',
        'get_sdk_adapter',
        CALLED,
        '(service_type, admin, check_service=False, conf_group=None, '
        'context=None, ksa_auth=None, **kwargs)',
        nova_releases=_ONE_NODE,
    ),
    *(
        _Manage(module, attribute, CALLED, signature)
        for module, attribute, signature in (
            ('placement.conf', 'register_opts', '(conf)'),
            ('placement.db_api', 'configure', '(conf)'),
            ('placement.deploy', 'loadapp', '(config, project_name=None)'),
            (
                'nova.objects.host_mapping',
                'HostMapping.get_by_host',
                '(cls, context, host)',
            ),
            (
                'nova.objects.compute_node',
                'ComputeNodeList.get_all_by_host',
                '(cls, context, host, use_slave=False)',
            ),
        )
    ),
)

SEAMS: tuple[Seam, ...] = _DRIVER + _TRACKER + _CLIENT + _TREE + _COMMAND

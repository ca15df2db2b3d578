# SPDX-License-Identifier: Apache-2.0
"""The seams of live migration: flags, in nova-compute."""

from nova_xcell import features
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import COMPUTE
from nova_xcell.seams.seam import EXTENDED
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import Seam

_FLAGS = features.LIVE_MIGRATION_FLAGS.name

# Whether Nova knows of several connections (multifd) for one migration.
_ONE_CONNECTION = (31, 32)
_SEVERAL_CONNECTIONS = (33, 34)

# The driver: auto-converge and post-copy for each migration.
_DRIVER: tuple[Seam, ...] = (
    Seam(
        'nova.virt.libvirt',
        'LibvirtDriver',
        EXTENDED,
        plugin=('nova_xcell.virt', 'libvirt_flags'),
        feature=_FLAGS,
        services=COMPUTE,
    ),
    *(
        Seam(
            'nova.virt.libvirt.driver',
            'LibvirtDriver.%s' % name,
            kind,
            signature,
            feature=_FLAGS,
            services=COMPUTE,
        )
        for name, kind, signature in (
            ('__init__', OVERRIDDEN, '(self, virtapi, read_only=False)'),
            # A property.
            ('static_traits.fget', OVERRIDDEN, '(self)'),
            (
                '_live_migration',
                OVERRIDDEN,
                '(self, context, instance, dest, post_method, recover_method, '
                'block_migration, migrate_data)',
            ),
            (
                '_live_migration_operation',
                OVERRIDDEN,
                '(self, context, instance, dest, block_migration, '
                'migrate_data, guest, device_names)',
            ),
            # The monitor asks it; the operation does not.
            ('_get_migration_flags', OVERRIDDEN, '(self, is_block_migration)'),
            ('_get_vpmems', CALLED, '(self, instance, prefix=None)'),
        )
    ),
    Seam(
        'nova.virt.libvirt.guest',
        'Guest.__init__',
        CALLED,
        '(self, domain)',
        feature=_FLAGS,
        services=COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.guest',
        'Guest.migrate',
        OVERRIDDEN,
        '(self, destination, migrate_uri=None, migrate_disks=None, '
        'destination_xml=None, flags=0, bandwidth=0)',
        feature=_FLAGS,
        services=COMPUTE,
        nova_releases=_ONE_CONNECTION,
    ),
    Seam(
        'nova.virt.libvirt.guest',
        'Guest.migrate',
        OVERRIDDEN,
        '(self, destination, migrate_uri=None, migrate_disks=None, '
        'destination_xml=None, flags=0, bandwidth=0, parallel=0)',
        feature=_FLAGS,
        services=COMPUTE,
        nova_releases=_SEVERAL_CONNECTIONS,
    ),
    Seam(
        'nova.virt.libvirt.guest',
        'Guest.get_xml_desc',
        CALLED,
        '(self, dump_inactive=False, dump_sensitive=False, '
        'dump_migratable=False)',
        feature=_FLAGS,
        services=COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.host',
        'Host.has_min_version',
        CALLED,
        '(self, lv_ver=None, hv_ver=None, hv_type=None)',
        feature=_FLAGS,
        services=COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.host',
        'Host.get_guest',
        CALLED,
        '(self, instance)',
        feature=_FLAGS,
        services=COMPUTE,
    ),
    # The end of a migration is forced in these two functions of a module.
    Seam(
        'nova.virt.libvirt.migration',
        'run_tasks',
        REPLACED,
        '(guest, instance, active_migrations, on_migration_failure, '
        'migration, is_post_copy_enabled)',
        plugin=('nova_xcell.virt', 'run_tasks'),
        feature=_FLAGS,
        services=COMPUTE,
    ),
    Seam(
        'nova.virt.libvirt.migration',
        'should_trigger_timeout_action',
        REPLACED,
        '(instance, elapsed, completion_timeout, migration_status)',
        plugin=('nova_xcell.virt', 'should_trigger_timeout_action'),
        feature=_FLAGS,
        services=COMPUTE,
    ),
    Seam(
        'nova.objects.instance_action',
        'InstanceActionEvent.create',
        CALLED,
        '(self, instance_uuid, request_id)',
        feature=_FLAGS,
        services=COMPUTE,
    ),
)

SEAMS: tuple[Seam, ...] = _DRIVER

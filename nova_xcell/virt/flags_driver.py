# SPDX-License-Identifier: Apache-2.0
"""LibvirtDriver that chooses auto-converge and post-copy per migration."""

from __future__ import annotations

import os_traits

from nova import objects
from nova.compute import vm_states
import nova.conf
from nova.network import model as network_model
from nova.virt.libvirt import driver as host_driver
from nova.virt.libvirt import guest as libvirt_guest

from nova_xcell.virt import migration_flags
from nova_xcell.virt import passthrough
from nova_xcell.virt import running_migration
from nova_xcell.virt import server_wishes

CONF = nova.conf.CONF

_TRAITS = (
    os_traits.COMPUTE_MIGRATE_AUTO_CONVERGE,
    os_traits.COMPUTE_MIGRATE_POST_COPY,
)


class LibvirtDriver:
    """What goes before the host's driver.

    The host reads flags that are the same for all of its guests, in a thread
    that starts a migration and in another that watches it. They stay as they
    are; both threads get those of their migration.
    """

    def __init__(self, virtapi, read_only=False):
        super().__init__(virtapi, read_only)
        # By uuid of the migration.
        self._xcell_running: dict[str, running_migration.RunningMigration] = {}

    @property
    def static_traits(self):
        """Traits of the host, with those of migrations (MF-01).

        What the configuration permits plays no part: a server's wish goes
        before it.

        :returns: dict of name to whether the host has it
        """
        return {
            **super().static_traits,
            **dict.fromkeys(_TRAITS, _is_qemu()),
        }

    def _live_migration(
        self,
        context,
        instance,
        dest,
        post_method,
        recover_method,
        block_migration,
        migrate_data,
    ):
        def migrate():
            super(LibvirtDriver, self)._live_migration(
                context,
                instance,
                dest,
                post_method,
                recover_method,
                block_migration,
                migrate_data,
            )

        if not _is_qemu():
            migrate()
            return
        running = running_migration.RunningMigration(
            context,
            instance,
            migrate_data.migration.uuid,
            self._xcell_flags(instance, migrate_data),
        )
        running.record_flags()
        self._xcell_running[running.migration] = running
        try:
            # The host watches in this thread.
            with running_migration.watched(running):
                migrate()
        finally:
            del self._xcell_running[running.migration]

    def _live_migration_operation(
        self,
        context,
        instance,
        dest,
        block_migration,
        migrate_data,
        guest,
        device_names,
    ):
        running = self._xcell_running.get(migrate_data.migration.uuid)
        if running is not None:
            guest = _Guest(guest, running.flags)
        super()._live_migration_operation(
            context,
            instance,
            dest,
            block_migration,
            migrate_data,
            guest,
            device_names,
        )

    def _get_migration_flags(self, is_block_migration):
        flags = super()._get_migration_flags(is_block_migration)
        running = running_migration.current()
        if running is None:
            return flags
        return running.flags.applied(flags, _values())

    def _xcell_flags(
        self, instance: objects.Instance, migrate_data
    ) -> migration_flags.Flags:
        flags = super()._get_migration_flags(migrate_data.block_migration)
        libvirt = host_driver.libvirt
        return migration_flags.decide(
            migration_flags.Host(
                auto_converge=CONF.libvirt.live_migration_permit_auto_converge,
                post_copy=CONF.libvirt.live_migration_permit_post_copy,
                parallel=bool(flags & _values()[migration_flags.PARALLEL]),
                tunnelled=bool(flags & libvirt.VIR_MIGRATE_TUNNELLED),
                parallel_with_post_copy=self._host.has_min_version(
                    hv_ver=migration_flags.PARALLEL_WITH_POST_COPY
                ),
            ),
            server_wishes.of_instance(instance),
            migration_flags.Guest(
                passthrough=self._xcell_takes_along(instance, migrate_data),
                persistent_memory=bool(self._get_vpmems(instance)),
                paused=instance.vm_state == vm_states.PAUSED,
            ),
        )

    def _xcell_takes_along(
        self, instance: objects.Instance, migrate_data
    ) -> bool:
        vifs = [
            vif.source_vif
            for vif in (migrate_data.vifs if 'vifs' in migrate_data else ())
            if 'source_vif' in vif
            and vif.source_vif
            and vif.source_vif['vnic_type']
            in network_model.VNIC_TYPES_DIRECT_PASSTHROUGH
        ]
        return passthrough.takes_along(
            self._host.get_guest(instance).get_xml_desc(),
            macs=[vif['address'] for vif in vifs],
            pci_addresses=[
                vif['profile']['pci_slot']
                for vif in vifs
                if 'pci_slot' in (vif.get('profile') or {})
            ],
        )


class _Guest(libvirt_guest.Guest):
    """The guest of a migration, which goes with the flags of its own."""

    def __init__(
        self, guest: libvirt_guest.Guest, flags: migration_flags.Flags
    ):
        super().__init__(guest._domain)
        self._xcell_flags = flags

    def migrate(self, destination, flags=0, **kwargs):
        """Start the migration.

        See the host's method, which in older releases does not know of
        several connections.

        :param destination: see the host's method
        :param flags: libvirt's flags as the host would use them
        :param kwargs: see the host's method
        """
        if not self._xcell_flags.parallel.used:
            # libvirt refuses a number of connections without the flag.
            kwargs.pop('parallel', None)
        super().migrate(
            destination,
            flags=self._xcell_flags.applied(flags, _values()),
            **kwargs,
        )


def _is_qemu() -> bool:
    return CONF.libvirt.virt_type in ('kvm', 'qemu')


def _values() -> dict[str, int]:
    # The host imports libvirt when a driver is made.
    libvirt = host_driver.libvirt
    return {
        migration_flags.AUTO_CONVERGE: libvirt.VIR_MIGRATE_AUTO_CONVERGE,
        migration_flags.POST_COPY: libvirt.VIR_MIGRATE_POSTCOPY,
        # Not used by Nova before 33.
        migration_flags.PARALLEL: getattr(libvirt, 'VIR_MIGRATE_PARALLEL', 0),
    }

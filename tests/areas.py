# SPDX-License-Identifier: Apache-2.0
"""What of Nova's own functional tests is run with the plug-ins loaded.

Data only: it is read where no host is installed, too.
"""

from __future__ import annotations

import dataclasses
import re

ROOT = 'nova.tests.functional.'

#: Of `test_servers` and `test_servers_resource_request`.
_MOVES = (
    r'Move|Moving|Migrat|Reschedul|ResizeWith|UnconfirmedResizes|'
    r'ConsumerGeneration'
)
_REBUILDS = r'Rebuild|TraitsBased|VolumeBacked'


@dataclasses.dataclass(frozen=True)
class Area:
    """Tests that belong together.

    :param name: in the table of results
    :param modules: regular expression; of names below ROOT
    :param classes: regular expression; of what is run in them, in part
    :param brief: regular expression; of the modules that `tools/run tests`
        runs, None for none of them
    """

    name: str
    modules: str
    classes: str = ''
    brief: str | None = None

    def selects(self, module: str, brief: bool = False) -> bool:
        """Tell whether a module has tests of it.

        :param module: its full name
        :param brief: only of what `tools/run tests` runs
        """
        wanted = self.brief if brief else self.modules
        return bool(
            wanted and re.fullmatch(re.escape(ROOT) + f'({wanted})', module)
        )

    def has(self, test: str, brief: bool = False) -> bool:
        """Tell whether a test belongs to it.

        :param test: its full name
        :param brief: only of what `tools/run tests` runs
        """
        module, _dot, rest = test.rpartition('.')[0].rpartition('.')
        return self.selects(module, brief) and bool(
            re.search(self.classes, rest)
        )


#: A test belongs to the first that has it.
AREAS = (
    Area(
        'Cross-cell resize',
        'test_cross_cell_migrate',
        brief='test_cross_cell_migrate',
    ),
    Area('Cold migration and resize', 'test_cold_migrate'),
    Area(
        'Servers that move',
        'test_servers(_resource_request)?',
        _MOVES,
    ),
    Area(
        'Live migration',
        r'compute\.test_live_migration|libvirt\.test_(live_migration|'
        r'numa_live_migration|migration_addr|device_bus_migration)',
        brief=r'(compute|libvirt)\.test_live_migration',
    ),
    Area(
        'Rebuild',
        'test_servers',
        _REBUILDS,
        brief='test_servers',
    ),
    Area(
        'Boot from volume',
        'test_boot_from_volume|test_multiattach',
        brief='test_boot_from_volume',
    ),
    Area('Evacuation', r'libvirt\.test_evacuate'),
    Area('NUMA, PCI and SR-IOV', r'libvirt\.test_(numa_servers|pci_\w+)'),
    Area(
        'Reshape and provider trees',
        r'libvirt\.test_(reshape|vgpu|shared_resource_provider|'
        r'report_cpu_traits)|test_servers_provider_tree',
        brief=r'libvirt\.test_reshape',
    ),
    Area('Report client', 'test_report_client', brief='test_report_client'),
    Area('Scheduler', 'test_scheduler'),
    Area('Extra specs', r'test_flavor_extraspecs'),
    Area('Policies', 'test_policy'),
    Area(
        'Views',
        r'test_instance_actions|compute\.test_(host_api|init_host|'
        r'instance_list|migration_list|resource_tracker)',
    ),
    Area('Graceful shutdown', 'test_graceful_shutdown'),
    Area(
        'API samples',
        r'api_sample_tests\.test_(evacuate|flavor_extraspecs|hypervisors|'
        r'instance_actions|migrate_server|migrations|server_migrations|'
        r'servers|services|shelve|simple_tenant_usage)',
        brief=r'api_sample_tests\.test_(migrate_server|migrations|'
        r'server_migrations)',
    ),
    Area(
        'Notification samples',
        r'notification_sample_tests\.test_(compute_task|instance|libvirt|'
        r'metrics|service|volume)',
    ),
    Area(
        'Regressions',
        r'regressions\.test_bug_\d+',
        brief=r'regressions\.test_bug_(1732947|1843708|1902925|2040264)',
    ),
)


def area_of(test: str, brief: bool = False) -> Area | None:
    """Return where a test belongs.

    :param test: its full name
    :param brief: only of what `tools/run tests` runs
    """
    return next((area for area in AREAS if area.has(test, brief)), None)

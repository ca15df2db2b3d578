# SPDX-License-Identifier: Apache-2.0
"""Configuration of Nova: the API level, the cells and the computes."""

from __future__ import annotations

import pathlib
import shutil

from tests.multicell import ini
from tests.multicell import layout as lay
from tests.multicell.layout import Layout

#: All that an operator writes to enable the plug-ins.
SWITCH: ini.Config = {
    'DEFAULT': {'config_source': 'xcell'},
    'xcell': {'driver': 'nova_xcell'},
}

#: How soon the move of a conductor that died is taken over. The defaults are
#: longer; nothing else depends on them.
HASTE: ini.Config = {
    'xcell': {'abandoned_after': 20, 'reconcile_interval': 10},
}

POLICY = '"compute:servers:resize:cross_cell": "rule:admin_api"\n'

FILTERS = (
    'ComputeFilter', 'ComputeCapabilitiesFilter', 'ImagePropertiesFilter',
    'AggregateInstanceExtraSpecsFilter',
)  # fmt: skip


def super_file(layout: Layout) -> pathlib.Path:
    """Return the file of nova-api, scheduler and super-conductor.

    :param layout: where the cloud is
    """
    return layout.etc / 'nova' / 'nova.conf'


def cell_file(layout: Layout, cell: str) -> pathlib.Path:
    """Return the file of a cell's conductor.

    :param layout: where the cloud is
    :param cell: its name
    """
    return layout.etc / 'nova' / f'{cell}.conf'


def host_file(layout: Layout, host: str) -> pathlib.Path:
    """Return the file of a nova-compute.

    :param layout: where the cloud is
    :param host: name of its host
    """
    return layout.etc / 'nova' / f'{host}.conf'


def write(layout: Layout, switch: ini.Config) -> None:
    """Write all of them.

    :param layout: where the cloud is
    :param switch: SWITCH, or nothing for the plain host
    """
    folder = layout.etc / 'nova'
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'policy.yaml').write_text(POLICY)
    shutil.copy(layout.venv / 'etc/nova/api-paste.ini', folder)
    ini.write(
        super_file(layout),
        _base(layout, 'cell0'),
        switch,
        HASTE if switch else {},
        ini.database('nova_cell0'),
        ini.database('nova_api', 'api_database'),
    )
    for cell in lay.CELLS:
        # No API database: a cell cannot call up.
        ini.write(
            cell_file(layout, cell),
            _base(layout, cell),
            switch,
            ini.database(f'nova_{cell}'),
        )
    for host in lay.HOSTS.values():
        ini.write(
            host_file(layout, host.name),
            _base(layout, host.cell),
            switch,
            _compute(layout, host),
        )


def _base(layout: Layout, vhost: str) -> ini.Config:
    folder = layout.etc / 'nova'
    users = {
        'neutron': 'neutron',
        'placement': 'placement',
        'cinder': 'cinder',
        'glance': 'nova',
    }
    return {
        'DEFAULT': {
            'transport_url': lay.broker_url(vhost),
            'state_path': layout.var / 'nova',
            'my_ip': lay.CONTROL_IP,
            'rpc_response_timeout': 60,
            'long_rpc_timeout': 300,
            # A killed compute is soon known to be down.
            'report_interval': 5,
            'service_down_time': 30,
            # The guest has no init system that would end sooner.
            'shutdown_timeout': 20,
            'graceful_shutdown_timeout': 10,
            'manager_shutdown_timeout': 5,
            'vif_plugging_timeout': 120,
        },
        'oslo_policy': {'policy_file': folder / 'policy.yaml'},
        'api': {'auth_strategy': 'keystone'},
        'wsgi': {'api_paste_config': folder / 'api-paste.ini'},
        'scheduler': {'workers': 1},
        'conductor': {'workers': 1},
        'filter_scheduler': {'enabled_filters': ','.join(FILTERS)},
        **{section: ini.user(name) for section, name in users.items()},
        'service_user': {
            **ini.user('nova'),
            'send_service_user_token': 'true',
        },
        **ini.token_check('nova'),
        **ini.common(layout),
    }


def _compute(layout: Layout, host: lay.Host) -> ini.Config:
    return {
        'DEFAULT': {
            'host': host.name,
            'my_ip': host.address,
            'compute_driver': 'libvirt.LibvirtDriver',
            # One path on every host, see Layout.compute_state.
            'state_path': layout.compute_state,
            # What a host deletes later by itself is to be gone soon.
            'instance_delete_interval': 20,
        },
        'oslo_concurrency': {'lock_path': layout.compute_state / 'lock'},
        'libvirt': {
            'virt_type': 'qemu',
            'cpu_mode': 'custom',
            'cpu_models': 'Nehalem',
            'connection_uri': 'qemu:///system',
            'images_type': 'qcow2',
            'inject_partition': -2,
            'live_migration_inbound_addr': host.address,
        },
        'workarounds': {
            # As Nova's guide of cells says: there is no call up from a cell.
            'disable_group_policy_check_upcall': 'true',
            # Nova 34 refuses a guest's kernel image in a live migration.
            'disable_deep_image_inspection': 'true',
        },
        'vnc': {'enabled': 'false'},
        'spice': {'enabled': 'false'},
        'compute': {
            'resource_provider_association_refresh': 0,
            # The agent sees a port of the userspace datapath only with its
            # device, which libvirt makes later.
            'live_migration_wait_for_vif_plug': 'false',
        },
    }

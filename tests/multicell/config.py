# SPDX-License-Identifier: Apache-2.0
"""Configuration of every service but Nova."""

from __future__ import annotations

from tests.multicell import ini
from tests.multicell import layout as lay
from tests.multicell.layout import Layout

#: The one network of the guests, in Neutron's and the hosts' words.
PHYSICAL_NETWORK, BRIDGE = 'physical', 'br-physical'


def write(layout: Layout, switch: ini.Config) -> None:
    """Write all of them.

    :param layout: where the cloud is
    :param switch: what enables the plug-ins, for Placement
    """
    _keystone(layout)
    _glance(layout)
    _placement(layout, switch)
    _neutron(layout)
    for host in lay.HOSTS.values():
        _ovs_agent(layout, host)
    _cinder(layout)


def _keystone(layout: Layout) -> None:
    folder = layout.etc / 'keystone'
    ini.write(
        folder / 'keystone.conf',
        ini.database('keystone'),
        {
            'token': {'provider': 'fernet'},
            'fernet_tokens': {'key_repository': folder / 'fernet'},
            'credential': {'key_repository': folder / 'credential'},
            'cache': {'enabled': 'true', 'backend': 'dogpile.cache.memory'},
        },
    )


def _glance(layout: Layout) -> None:
    store = layout.var / 'glance'
    folders = {name: store / name for name in ('images', 'staging', 'tasks')}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    ini.write(
        layout.etc / 'glance' / 'glance-api.conf',
        {
            'DEFAULT': {
                'enabled_backends': 'file:file',
                'enabled_import_methods': '[]',
                'worker_self_reference_url': lay.url('glance'),
            },
            'glance_store': {'default_backend': 'file'},
            'file': {'filesystem_store_datadir': folders['images']},
            'os_glance_staging_store': {
                'filesystem_store_datadir': folders['staging']
            },
            'os_glance_tasks_store': {
                'filesystem_store_datadir': folders['tasks']
            },
            'paste_deploy': {
                'flavor': 'keystone',
                'config_file': layout.venv / 'etc/glance/glance-api-paste.ini',
            },
        },
        ini.database('glance'),
        ini.token_check('glance'),
        ini.common(layout),
    )


def _placement(layout: Layout, switch: ini.Config) -> None:
    ini.write(
        layout.etc / 'placement' / 'placement.conf',
        switch,
        {'api': {'auth_strategy': 'keystone'}},
        ini.database('placement', 'placement_database'),
        ini.token_check('placement'),
    )


def _neutron(layout: Layout) -> None:
    ini.write(
        layout.etc / 'neutron' / 'neutron.conf',
        {
            'DEFAULT': {
                'core_plugin': 'ml2',
                'service_plugins': '',
                'auth_strategy': 'keystone',
                'transport_url': lay.broker_url('neutron'),
                'notify_nova_on_port_status_changes': 'true',
                'notify_nova_on_port_data_changes': 'true',
                'api_paste_config': layout.venv / 'etc/neutron/api-paste.ini',
                'state_path': layout.var / 'neutron',
                'rpc_workers': 1,
                'rpc_state_report_workers': 0,
            },
            'ml2': {
                'mechanism_drivers': 'openvswitch',
                'type_drivers': 'flat,local',
                'tenant_network_types': 'local',
                'extension_drivers': 'port_security',
            },
            'ml2_type_flat': {'flat_networks': PHYSICAL_NETWORK},
            'securitygroup': {'enable_security_group': 'true'},
            'agent': {'root_helper': ''},
            'nova': ini.user('nova'),
        },
        ini.database('neutron'),
        ini.token_check('neutron'),
        ini.common(layout),
    )


def _ovs_agent(layout: Layout, host: lay.Host) -> None:
    path = layout.etc / 'neutron' / f'ovs-{host.name}.conf'
    state = layout.host_state(host.name) / 'neutron'
    (state / 'lock').mkdir(parents=True, exist_ok=True)
    ini.write(
        path,
        {
            'DEFAULT': {
                'host': host.name,
                'transport_url': lay.broker_url('neutron'),
                'state_path': state,
            },
            'agent': {'root_helper': 'sudo', 'report_interval': 5},
            'ovs': {
                # No kernel module is needed.
                'datapath_type': 'netdev',
                'bridge_mappings': f'{PHYSICAL_NETWORK}:{BRIDGE}',
            },
            'securitygroup': {'firewall_driver': 'openvswitch'},
            'privsep': {
                'helper_command': f'privsep-helper --config-file {path}'
            },
            'oslo_messaging_rabbit': {'heartbeat_in_pthread': 'false'},
            'oslo_concurrency': {'lock_path': state / 'lock'},
        },
    )


def _cinder(layout: Layout) -> None:
    share = layout.var / 'nfs'
    share.mkdir(parents=True, exist_ok=True)
    state = layout.var / 'cinder'
    state.mkdir(parents=True, exist_ok=True)
    ini.write(
        layout.etc / 'cinder' / 'cinder.conf',
        {
            'DEFAULT': {
                'transport_url': lay.broker_url('cinder'),
                'auth_strategy': 'keystone',
                'my_ip': lay.CONTROL_IP,
                'host': 'control',
                'state_path': state,
                'enabled_backends': 'nfs',
                'glance_api_servers': lay.url('glance'),
                'api_paste_config': layout.venv / 'etc/cinder/api-paste.ini',
                'resource_query_filters_file': (
                    layout.venv / 'etc/cinder/resource_filters.json'
                ),
                'rootwrap_config': layout.venv / 'etc/cinder/rootwrap.conf',
            },
            # bin/mount makes the share a bind mount.
            'nfs': {
                'volume_backend_name': 'nfs',
                'volume_driver': 'cinder.volume.drivers.nfs.NfsDriver',
                'nas_host': '127.0.0.1',
                'nas_share_path': share,
                'nfs_mount_point_base': state / 'mnt',
                'nas_secure_file_operations': 'false',
                'nas_secure_file_permissions': 'false',
                'nfs_sparsed_volumes': 'true',
            },
            'nova': {**ini.user('nova'), 'interface': 'public'},
            'service_user': {
                **ini.user('cinder'),
                'send_service_user_token': 'true',
            },
        },
        ini.database('cinder'),
        ini.token_check('cinder'),
        ini.common(layout),
    )

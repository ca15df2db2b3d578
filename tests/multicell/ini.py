# SPDX-License-Identifier: Apache-2.0
"""Configuration files as nested dictionaries, and sections many share."""

from __future__ import annotations

from collections.abc import Mapping
import pathlib

from tests.multicell import layout as lay
from tests.multicell.layout import Layout

#: Section -> option -> value.
Config = Mapping[str, Mapping[str, object]]

#: A small pool for every one of a great many services.
POOL = {'max_pool_size': 5, 'max_overflow': 20}


def write(path: pathlib.Path, *parts: Config) -> None:
    """Write a configuration file.

    :param path: the file; its folder is created
    :param parts: later ones override options of earlier ones
    """
    merged: dict[str, dict[str, object]] = {}
    for part in parts:
        for section, options in part.items():
            merged.setdefault(section, {}).update(options)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open('w') as file:
        for section, options in merged.items():
            file.write(f'[{section}]\n')
            for option, value in options.items():
                file.write(f'{option} = {value}\n')
            file.write('\n')


def user(name: str) -> dict[str, object]:
    """Return how a service authenticates.

    :param name: its user
    """
    return {
        'auth_type': 'password',
        'auth_url': lay.url('keystone', '/v3'),
        'username': name,
        'password': lay.PASSWORD,
        'project_name': 'service',
        'user_domain_name': 'Default',
        'project_domain_name': 'Default',
        'region_name': 'RegionOne',
    }


def token_check(name: str) -> Config:
    """Return how an API checks the tokens that it is shown.

    :param name: its user
    """
    return {
        'keystone_authtoken': {
            **user(name),
            'www_authenticate_uri': lay.url('keystone', '/v3'),
            'memcached_servers': f'{lay.CONTROL_IP}:{lay.CACHE_PORT}',
            'service_token_roles': 'service',
            'service_token_roles_required': 'true',
        }
    }


def database(name: str, section: str = 'database') -> Config:
    """Return how a service reaches its database.

    :param name: the database
    :param section: where the options stand
    """
    return {section: {'connection': lay.database_url(name), **POOL}}


def common(layout: Layout) -> Config:
    """Return what most services have in common.

    :param layout: where the cloud is
    """
    return {
        'oslo_messaging_rabbit': {'heartbeat_in_pthread': 'false'},
        'oslo_concurrency': {'lock_path': layout.var / 'lock'},
    }

# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ and memcached, private to the cloud."""

from __future__ import annotations

import json
import pathlib

from tests.multicell import layout as lay
from tests.multicell import netns
from tests.multicell.layout import Layout
from tests.multicell.processes import Processes
from tests.multicell.processes import run

NAME = 'rabbitmq'
PROGRAMS = '/usr/lib/rabbitmq/bin'
VHOSTS = ('cell0', *lay.CELLS, 'neutron', 'cinder')


def start(layout: Layout, processes: Processes, env: dict[str, str]) -> None:
    """Start both, unless they run, and wait for the broker.

    :param layout: where the cloud is
    :param processes: starts them
    :param env: their environment
    """
    home = _home(layout)
    home.mkdir(parents=True, exist_ok=True)
    definitions = home / 'definitions.json'
    # Read at the start: rabbitmqctl would cost seconds for each of these.
    definitions.write_text(json.dumps(_definitions()))
    (home / 'rabbitmq.conf').write_text(
        'vm_memory_high_watermark.absolute = 1GB\n'
        'disk_free_limit.absolute = 50MB\n'
        f'load_definitions = {definitions}\n'
    )
    (home / 'plugins').write_text('[].\n')
    processes.start(
        NAME,
        netns.exec_in(layout.control, f'{PROGRAMS}/rabbitmq-server'),
        _environment(layout, env),
    )
    processes.start(
        'memcached',
        netns.exec_in(
            layout.control, 'memcached', '-u', 'root', '-m', '64',
            '-l', lay.CONTROL_IP, '-p', str(lay.CACHE_PORT),
        ),
        env,
    )  # fmt: skip
    netns.wait_for_port(layout.control, lay.CONTROL_IP, lay.BROKER_PORT)


def control(layout: Layout, env: dict[str, str], *command: str) -> None:
    """Tell the broker something.

    :param layout: where the cloud is
    :param env: environment of the cloud
    :param command: verb and arguments of ``rabbitmqctl``
    :raises: MulticellError if it fails
    """
    run(
        netns.exec_in(
            layout.control, f'{PROGRAMS}/rabbitmqctl', '-q', *command
        ),
        _environment(layout, env),
    )


def _home(layout: Layout) -> pathlib.Path:
    return layout.var / 'rabbitmq'


def _environment(layout: Layout, env: dict[str, str]) -> dict[str, str]:
    home = _home(layout)
    return {
        **env,
        'HOME': str(home),
        'ERL_EPMD_ADDRESS': '127.0.0.1',
        'RABBITMQ_NODENAME': 'cloud@localhost',
        'RABBITMQ_NODE_IP_ADDRESS': lay.CONTROL_IP,
        'RABBITMQ_NODE_PORT': str(lay.BROKER_PORT),
        'RABBITMQ_MNESIA_BASE': str(home / 'mnesia'),
        'RABBITMQ_LOG_BASE': str(home / 'log'),
        'RABBITMQ_LOGS': '-',
        'RABBITMQ_ENABLED_PLUGINS_FILE': str(home / 'plugins'),
        'RABBITMQ_CONFIG_FILE': str(home / 'rabbitmq'),
        'RABBITMQ_GENERATED_CONFIG_DIR': str(home / 'generated'),
        'RABBITMQ_PID_FILE': str(home / 'pid'),
        # It would spin on processors that others need.
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': (
            '+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none '
            f'-setcookie {lay.PASSWORD}'
        ),
        'RABBITMQ_CTL_ERL_ARGS': f'-setcookie {lay.PASSWORD}',
    }


def _definitions() -> dict:
    return {
        'users': [
            {
                'name': 'cloud',
                'password': lay.PASSWORD,
                'tags': 'administrator',
            }
        ],
        'vhosts': [{'name': vhost} for vhost in VHOSTS],
        'permissions': [
            {
                'user': 'cloud',
                'vhost': vhost,
                'configure': '.*',
                'write': '.*',
                'read': '.*',
            }
            for vhost in VHOSTS
        ],
    }

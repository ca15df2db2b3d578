# SPDX-License-Identifier: Apache-2.0
"""The OpenStack services of the cloud: one table."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import os

from tests.multicell import layout as lay
from tests.multicell import nova_config
from tests.multicell.layout import Layout

#: The WSGI application of each API.
APPLICATIONS = {
    'keystone': 'keystone.wsgi.api',
    'glance': 'glance.wsgi.api',
    'placement': 'placement.wsgi.api',
    'neutron': 'neutron.wsgi.api',
    'cinder': 'cinder.wsgi.api',
    'nova': 'nova.wsgi.osapi_compute',
}


@dataclasses.dataclass(frozen=True)
class Service:
    """A service.

    :param name: as its process and its log are called
    :param command: program and arguments
    :param host: the compute host it runs on; None for the control plane
    """

    name: str
    command: tuple[str, ...]
    host: str | None = None

    @property
    def carries_plugins(self) -> bool:
        """Whether it is a service of the host that the plug-ins extend."""
        return self.name.startswith(('nova-', 'placement'))


def table(layout: Layout) -> dict[str, Service]:
    """Return all services in the order of their start.

    :param layout: where the cloud is
    :returns: name -> service
    """
    return {
        service.name: service
        for part in (_apis, _control, _on_hosts)
        for service in part(layout)
    }


def _apis(layout: Layout) -> Iterator[Service]:
    for api, module in APPLICATIONS.items():
        arguments = []
        if api == 'cinder':
            arguments = ['--config-file', f'{layout.etc}/cinder/cinder.conf']
        yield Service(
            f'{api}-api',
            (
                # -P: only what is installed can be imported.
                str(layout.python), '-P', str(lay.HERE / 'wsgi.py'), module,
                lay.CONTROL_IP, str(lay.API_PORTS[api]), *arguments,
            ),
        )  # fmt: skip


def _control(layout: Layout) -> Iterator[Service]:
    def daemon(
        program: str, file: os.PathLike | str, suffix: str = ''
    ) -> Service:
        return Service(
            program + suffix,
            (str(layout.bin / program), '--config-file', str(file)),
        )

    top = nova_config.super_file(layout)
    yield daemon('nova-conductor', top, '-super')
    yield daemon('nova-scheduler', top)
    for cell in lay.CELLS:
        yield daemon(
            'nova-conductor', nova_config.cell_file(layout, cell), f'-{cell}'
        )
    yield daemon('neutron-rpc-server', layout.etc / 'neutron/neutron.conf')
    yield daemon('cinder-scheduler', layout.etc / 'cinder/cinder.conf')
    yield daemon('cinder-volume', layout.etc / 'cinder/cinder.conf')


def _on_hosts(layout: Layout) -> Iterator[Service]:
    for host in lay.HOSTS:
        yield Service(
            f'nova-compute-{host}',
            (
                str(layout.bin / 'nova-compute'), '--config-file',
                str(nova_config.host_file(layout, host)),
            ),
            host,
        )  # fmt: skip
        yield Service(
            f'ovs-agent-{host}',
            (
                str(layout.bin / 'neutron-openvswitch-agent'),
                '--config-file', f'{layout.etc}/neutron/ovs-{host}.conf',
            ),
            host,
        )  # fmt: skip


def environment(layout: Layout) -> dict[str, str]:
    """Return the environment that every process of the cloud gets.

    :param layout: where the cloud is
    """
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith('_proxy')
        and not name.startswith(('OS_', 'PYTHON'))
    }
    return {
        **env,
        'PATH': f'{lay.HERE}/bin:{layout.bin}:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME': str(layout.var),
        'LC_ALL': 'C.UTF-8',
        'PYTHONUNBUFFERED': '1',
        'MULTICELL_RUN': str(layout.run),
        'MULTICELL_FAULTS': str(layout.faults),
        'OS_KEYSTONE_CONFIG_DIR': f'{layout.etc}/keystone',
        'OS_GLANCE_CONFIG_DIR': f'{layout.etc}/glance',
        'OS_PLACEMENT_CONFIG_DIR': f'{layout.etc}/placement',
        'OS_NEUTRON_CONFIG_DIR': f'{layout.etc}/neutron',
        'OS_NEUTRON_CONFIG_FILES': 'neutron.conf',
        'OS_NOVA_CONFIG_DIR': f'{layout.etc}/nova',
    }

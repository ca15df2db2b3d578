# SPDX-License-Identifier: Apache-2.0
"""Where everything of the cloud is: folders, names, addresses."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib

#: The checkout.
ROOT = pathlib.Path(__file__).resolve().parents[2]
#: This package.
HERE = pathlib.Path(__file__).resolve().parent
#: Names another folder than ``.multicell/`` in the checkout.
FOLDER_VARIABLE = 'NOVA_XCELL_MULTICELL'

#: Cell -> its compute hosts.
CELLS = {
    'cell1': ('host1a', 'host1b'),
    'cell2': ('host2a', 'host2b'),
}

#: The control plane and the first address of the guests' network. Both exist
#: in name spaces only, so they clash with nothing outside.
CONTROL_IP = '172.31.77.1'
GUEST_GATEWAY = '10.9.0.1'
GUEST_CIDR = '10.9.0.0/24'
#: Of every user of the cloud; nobody else can reach it.
PASSWORD = 'multicell'

#: API -> port.
API_PORTS = {
    'keystone': 5000,
    'glance': 9292,
    'placement': 8778,
    'neutron': 9696,
    'cinder': 8776,
    'nova': 8774,
}
DATABASE_PORT, BROKER_PORT, CACHE_PORT = 3306, 5672, 11211


@dataclasses.dataclass(frozen=True)
class Host:
    """A compute host.

    :param name: host name, also its name in Nova
    :param cell: the cell it is in
    :param address: on the control plane's network
    """

    name: str
    cell: str
    address: str


HOSTS = {
    name: Host(name, cell, f'172.31.77.{10 * number + place}')
    for number, (cell, names) in enumerate(CELLS.items(), 1)
    for place, name in enumerate(names, 1)
}


class Layout:
    """The folders and name spaces of one cloud.

    :param folder: the state folder; every cloud has its own
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        # Kept when the cloud goes down: they cost time, not a mistake.
        self.venv = folder / 'venv'
        self.bin = self.venv / 'bin'
        self.python = self.bin / 'python'
        self.cache = folder / 'cache'
        self.images = folder / 'images'
        self.template = folder / 'template'
        self.log = folder / 'log'
        # The cloud itself.
        self.state = folder / 'state'
        self.etc = self.state / 'etc'
        self.var = self.state / 'var'
        self.run = self.state / 'run'
        self.faults = self.state / 'faults'
        #: The same path on every host, with a content of its own on each, as
        #: Nova expects of its instances path.
        self.compute_state = self.state / 'compute'
        digest = hashlib.sha1(str(folder).encode()).hexdigest()
        self.prefix = f'xc{digest[:6]}-'

    @classmethod
    def from_environment(cls) -> Layout:
        """Return the layout that the user asked for."""
        folder = os.environ.get(FOLDER_VARIABLE) or ROOT / '.multicell'
        return cls(pathlib.Path(folder).resolve())

    @property
    def control(self) -> str:
        """Name of the control plane's network name space."""
        return self.prefix + 'control'

    def host_netns(self, host: str) -> str:
        """Return the name of a host's network name space.

        :param host: its name
        """
        return self.prefix + host

    def host_state(self, host: str) -> pathlib.Path:
        """Return the folder with what is private to a host.

        :param host: its name
        """
        return self.var / host

    @property
    def database_socket(self) -> pathlib.Path:
        """MariaDB's socket."""
        return self.var / 'mariadb.sock'


def url(api: str, path: str = '') -> str:
    """Return the address of an API.

    :param api: a name of API_PORTS
    :param path: appended
    """
    return f'http://{CONTROL_IP}:{API_PORTS[api]}{path}'


def database_url(name: str) -> str:
    """Return what a service connects to.

    :param name: name of the database, and of its user
    """
    return (
        f'mysql+pymysql://{name}:{PASSWORD}@{CONTROL_IP}:{DATABASE_PORT}/'
        f'{name}?charset=utf8'
    )


def broker_url(vhost: str) -> str:
    """Return what a service connects to.

    :param vhost: the virtual host of the broker
    """
    return f'rabbit://cloud:{PASSWORD}@{CONTROL_IP}:{BROKER_PORT}/{vhost}'

# SPDX-License-Identifier: Apache-2.0
"""Fill new databases; a copy of the result saves a minute the next time."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
import hashlib
import os
import pathlib
import shutil

from tests.multicell import environment
from tests.multicell import layout as lay
from tests.multicell import netns
from tests.multicell import nova_config
from tests.multicell.layout import Layout
from tests.multicell.processes import Processes
from tests.multicell.processes import run

#: At once; each is bound to one processor.
WORKERS = 3


class Schema:
    """Tables, cell mappings, users and end points.

    :param layout: where the cloud is
    :param processes: names the logs
    :param env: environment of the commands
    :param older: keys of environment.OLDER
    """

    def __init__(
        self,
        layout: Layout,
        processes: Processes,
        env: dict[str, str],
        older: Collection[str] = (),
    ) -> None:
        self.layout = layout
        self.older = older
        self.template = layout.template / '-'.join(('newest', *older))
        self.processes = processes
        self.env = env
        self.marker = layout.var / 'schema-is-complete'

    def restore(self) -> bool:
        """Take the databases from the last time, before MariaDB starts.

        :returns: whether there were any that fit
        """
        data = self.layout.var / 'mariadb'
        template = self.template
        if data.exists() or not (template / self._digest()).exists():
            return False
        shutil.copytree(template / 'mariadb', data)
        shutil.copytree(
            template / 'keystone',
            self.layout.etc / 'keystone',
            dirs_exist_ok=True,
        )
        self.marker.touch()
        return True

    def save(self) -> None:
        """Keep the databases for the next time; MariaDB must not run."""
        template = self.template
        shutil.rmtree(template, ignore_errors=True)
        shutil.copytree(self.layout.var / 'mariadb', template / 'mariadb')
        shutil.copytree(self.layout.etc / 'keystone', template / 'keystone')
        (template / self._digest()).touch()

    def _digest(self) -> str:
        """Return a name for all that the content depends on."""
        digest = hashlib.sha256(environment.digest(self.older).encode())
        for name in ('schema.py', 'identity.py', 'layout.py', 'database.py'):
            digest.update((lay.HERE / name).read_bytes())
        return digest.hexdigest()

    def create(self, start_keystone: Callable[[], None]) -> None:
        """Create it all; can be repeated.

        :param start_keystone: called when its tables are there; has to wait
            until it answers
        """
        etc = self.layout.etc
        jobs = [
            lambda: self._keystone(start_keystone),
            self._nova,
            self._cells,
            lambda: self._manage(
                'neutron-db-manage', etc / 'neutron/neutron.conf',
                'upgrade', 'heads',
            ),
            lambda: self._manage(
                'cinder-manage', etc / 'cinder/cinder.conf', 'db', 'sync'
            ),
            lambda: self._manage(
                'glance-manage', etc / 'glance/glance-api.conf', 'db', 'sync'
            ),
            self._placement,
        ]  # fmt: skip
        with ThreadPoolExecutor(WORKERS) as pool:
            for job in [pool.submit(job) for job in jobs]:
                job.result()
        self.marker.touch()

    def upgrade(self) -> None:
        """Bring the tables of Nova and Placement to the installed releases."""
        file = nova_config.super_file(self.layout)
        self._manage('nova-manage', file, 'api_db', 'sync')
        self._manage('nova-manage', file, 'db', 'sync', '--local_cell')
        self._cells()
        self._placement()

    def _placement(self) -> None:
        self._manage(
            'placement-manage',
            self.layout.etc / 'placement/placement.conf',
            'db',
            'sync',
        )

    def _manage(
        self, program: str, file: pathlib.Path, *arguments: str
    ) -> None:
        self._run(program, '--config-file', file, *arguments)

    def _run(self, program: str, *arguments: str | os.PathLike) -> None:
        run(
            netns.exec_in(
                self.layout.control, self.layout.bin / program, *arguments
            ),
            self.env,
            self.processes.log_file('schema'),
        )

    def _keystone(self, start_keystone: Callable[[], None]) -> None:
        file = self.layout.etc / 'keystone/keystone.conf'
        for kind in ('fernet', 'credential'):
            self._manage(
                'keystone-manage', file, f'{kind}_setup',
                '--keystone-user', 'root', '--keystone-group', 'root',
            )  # fmt: skip
        self._manage('keystone-manage', file, 'db_sync')
        self._manage(
            'keystone-manage', file, 'bootstrap',
            '--bootstrap-password', lay.PASSWORD,
            '--bootstrap-region-id', 'RegionOne',
            *(
                word
                for interface in ('admin', 'internal', 'public')
                for word in (
                    f'--bootstrap-{interface}-url', lay.url('keystone', '/v3')
                )
            ),
        )  # fmt: skip
        start_keystone()
        self._run('python', '-P', lay.HERE / 'identity.py', lay.CONTROL_IP)

    def _nova(self) -> None:
        file = nova_config.super_file(self.layout)
        self._manage('nova-manage', file, 'api_db', 'sync')
        self._manage(
            'nova-manage', file, 'cell_v2', 'map_cell0',
            '--database_connection', lay.database_url('nova_cell0'),
        )  # fmt: skip
        self._manage('nova-manage', file, 'db', 'sync', '--local_cell')
        for cell in lay.CELLS:
            self._manage(
                'nova-manage', file, 'cell_v2', 'create_cell',
                '--name', cell, '--transport-url', lay.broker_url(cell),
                '--database_connection', lay.database_url(f'nova_{cell}'),
            )  # fmt: skip

    def _cells(self) -> None:
        for cell in lay.CELLS:
            file = nova_config.cell_file(self.layout, cell)
            self._manage('nova-manage', file, 'db', 'sync', '--local_cell')

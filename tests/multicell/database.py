# SPDX-License-Identifier: Apache-2.0
"""MariaDB, private to the cloud."""

from __future__ import annotations

from tests.multicell import layout as lay
from tests.multicell import netns
from tests.multicell.layout import Layout
from tests.multicell.processes import Processes
from tests.multicell.processes import run

NAME = 'mariadb'
DATABASES = (
    'keystone', 'glance', 'placement', 'neutron', 'cinder', 'nova_api',
    'nova_cell0', *(f'nova_{cell}' for cell in lay.CELLS),
)  # fmt: skip

#: Speed before durability: the cloud lives for an hour.
OPTIONS = (
    '--user=root',
    f'--bind-address={lay.CONTROL_IP}',
    f'--port={lay.DATABASE_PORT}',
    '--skip-log-bin',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-doublewrite=0',
    '--innodb-flush-method=nosync',
    '--innodb-file-per-table=0',
    '--innodb-buffer-pool-size=128M',
    '--max-connections=1000',
    '--skip-name-resolve',
    '--character-set-server=utf8mb3',
    '--collation-server=utf8mb3_general_ci',
)


def start(layout: Layout, processes: Processes, env: dict[str, str]) -> None:
    """Start it with all databases, unless it runs.

    :param layout: where the cloud is
    :param processes: starts it
    :param env: its environment
    """
    data = layout.var / 'mariadb'
    if not data.exists():
        run(
            [
                'mariadb-install-db', '--no-defaults', '--user=root',
                '--auth-root-authentication-method=normal',
                '--skip-test-db', f'--datadir={data}',
            ],
            env,
            processes.log_file('mariadb-install'),
        )  # fmt: skip
    processes.start(
        NAME,
        netns.exec_in(
            layout.control, 'mariadbd', '--no-defaults', *OPTIONS,
            f'--datadir={data}', f'--socket={layout.database_socket}',
            f'--pid-file={layout.var / "mariadb.pid"}',
        ),
        env,
    )  # fmt: skip
    netns.wait_for_port(layout.control, lay.CONTROL_IP, lay.DATABASE_PORT)
    # A user each: a database can be shut alone, and the server counts the
    # statements of each user.
    statements = [
        f'create database if not exists {name};'
        f"create user if not exists {name}@'%' "
        f"identified by '{lay.PASSWORD}';"
        f"grant all on {name}.* to {name}@'%'"
        for name in DATABASES
    ]
    query(layout, ';'.join(statements))


def query(layout: Layout, statement: str) -> list[list[str]]:
    """Ask the database through its socket.

    :param layout: where the cloud is
    :param statement: SQL
    :returns: rows of words
    """
    output = run(
        ['mariadb', '-uroot', '-S', layout.database_socket, '-NBe', statement]
    )
    return [line.split('\t') for line in output.splitlines()]

# SPDX-License-Identifier: Apache-2.0
"""A MariaDB of a benchmark's own: a temporary folder and a socket in it."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import getpass
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

SERVER = '/usr/sbin/mariadbd'
INSTALLER = 'mariadb-install-db'
START_TIMEOUT = 120


def why_not() -> str | None:
    """Return what is missing for a private server, None if nothing is."""
    if not os.path.exists(SERVER):
        return 'there is no %s' % SERVER
    if shutil.which(INSTALLER) is None:
        return 'there is no %s' % INSTALLER
    try:
        import pymysql  # noqa: F401
    except ImportError:
        return 'PyMySQL is not installed'
    return None


@contextlib.contextmanager
def server() -> Iterator[pathlib.Path]:
    """Run a server with its usual settings, without a network.

    :returns: context manager, yielding the path of its socket
    """
    with tempfile.TemporaryDirectory(prefix='xcell-db') as name:
        folder = pathlib.Path(name)
        data, socket = folder / 'data', folder / 'socket'
        common = ['--no-defaults', '--datadir=%s' % data]
        if os.geteuid() == 0:
            common.append('--user=%s' % getpass.getuser())
        subprocess.run(
            [
                INSTALLER,
                *common,
                '--auth-root-authentication-method=normal',
                '--skip-test-db',
            ],
            check=True,
            capture_output=True,
        )
        with open(folder / 'log', 'wb') as log:
            process = subprocess.Popen(
                [
                    SERVER,
                    *common,
                    '--socket=%s' % socket,
                    '--skip-networking',
                    # What OpenStack's installation guides ask for.
                    '--character-set-server=utf8mb3',
                ],
                stdout=log,
                stderr=log,
            )
        try:
            _wait(process, socket)
            yield socket
        finally:
            process.terminate()
            process.wait()


def url(socket: pathlib.Path, database: str) -> str:
    """Make an empty database.

    :param socket: of the server
    :param database: its name
    :returns: what Nova connects to
    """
    with _connect(socket) as connection, connection.cursor() as cursor:
        cursor.execute('CREATE DATABASE %s' % database)
    return 'mysql+pymysql://root@localhost/%s?unix_socket=%s' % (
        database,
        socket,
    )


def questions(socket: pathlib.Path) -> int:
    """Return how many statements the server was sent up to now.

    :param socket: of the server
    """
    return status(socket, 'Questions')


def status(socket: pathlib.Path, name: str) -> int:
    """Return a counter of the server.

    :param socket: of the server
    :param name: of the status variable
    """
    with _connect(socket) as connection, connection.cursor() as cursor:
        cursor.execute('SHOW GLOBAL STATUS LIKE %s', [name])
        return int(cursor.fetchone()[1])


def _connect(socket: pathlib.Path):
    import pymysql

    return pymysql.connect(unix_socket=str(socket), user='root')


def _wait(process: subprocess.Popen, socket: pathlib.Path) -> None:
    import pymysql

    deadline = time.monotonic() + START_TIMEOUT
    while True:
        try:
            _connect(socket).close()
            return
        except pymysql.err.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.2)

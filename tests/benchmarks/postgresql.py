# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of a test's own: a temporary folder and a socket in it."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

INSTALLER = 'initdb'
CONTROL = 'pg_ctl'
#: Who runs it, if root does: it refuses to be run by root.
USER = 'nobody'


def why_not() -> str | None:
    """Return what is missing for a private server, None if nothing is."""
    for command in (INSTALLER, CONTROL):
        if shutil.which(command) is None:
            return 'there is no %s' % command
    try:
        import psycopg2  # noqa: F401
    except ImportError:
        return 'psycopg2 is not installed'
    return None


@contextlib.contextmanager
def server() -> Iterator[pathlib.Path]:
    """Run a server with its usual settings, without a network.

    :returns: context manager, yielding the folder of its socket
    """
    with tempfile.TemporaryDirectory(prefix='xcell-db') as name:
        folder = pathlib.Path(name)
        user = None
        if os.geteuid() == 0:
            user = USER
            entry = pwd.getpwnam(user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)

        def run(*command: str) -> None:
            subprocess.run(
                command,
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                user=user,
                cwd=folder,
            )

        data = '--pgdata=%s' % (folder / 'data')
        run(INSTALLER, data, '--username=root', '--auth=trust')
        run(
            CONTROL,
            data,
            '--wait',
            '--log=%s' % (folder / 'log'),
            "--options=-c listen_addresses='' -c unix_socket_directories=%s"
            % folder,
            'start',
        )
        try:
            yield folder
        finally:
            run(CONTROL, data, '--mode=immediate', 'stop')


def url(folder: pathlib.Path, database: str) -> str:
    """Make an empty database.

    :param folder: of the server's socket
    :param database: its name
    :returns: what a service connects to
    """
    import psycopg2

    connection = psycopg2.connect(
        host=str(folder), user='root', dbname='postgres'
    )
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute('CREATE DATABASE %s' % database)
    finally:
        connection.close()
    return 'postgresql+psycopg2://root@/%s?host=%s' % (database, folder)

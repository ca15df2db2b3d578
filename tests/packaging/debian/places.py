# SPDX-License-Identifier: Apache-2.0
"""Where commands of Debian are run: here, or in a layer over this machine.

The layer is an overlay in a mount name space of its own. What is installed or
removed in it is in memory, and gone with the process; the machine stays as it
is. What the machine has of its own below ``/usr/local`` is hidden.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

from tests.packaging.debian.errors import PackageError
from tests.packaging.debian.errors import Unavailable

#: Lines of a failed command that are shown.
SHOWN = 40
#: Names, in a process with a name space of its own, an empty folder.
INSIDE = 'NOVA_XCELL_PACKAGING_INSIDE'
#: What apt may need to reach its mirror.
PROXIES = ('http_proxy', 'https_proxy', 'no_proxy')


class Machine:
    """The machine itself.

    :param folder: where the package is made
    """

    root = pathlib.Path('/')
    prefix: tuple[str, ...] = ()

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.environ = {
            'PATH': '/usr/sbin:/usr/bin:/sbin:/bin',
            'HOME': str(folder),
            'LC_ALL': 'C.UTF-8',
            'DEBIAN_FRONTEND': 'noninteractive',
            **{
                name: os.environ[name]
                for name in PROXIES
                if name in os.environ
            },
        }

    def outside(self, path: str | pathlib.Path) -> pathlib.Path:
        """Return where this process finds a path of the place.

        :param path: as commands in the place see it
        """
        return self.root / str(path).lstrip('/')

    def run(
        self,
        *command: str,
        cwd: pathlib.Path | None = None,
        code: int = 0,
    ) -> str:
        """Run a command.

        :param command: program and arguments
        :param cwd: where, as seen in the place
        :param code: the exit code that it has to have
        :returns: what it printed
        :raises: PackageError if it has another one, with its last lines
        """
        process = subprocess.run(
            [
                *self.prefix,
                'env',
                '--chdir=%s' % (cwd or self.folder),
                *command,
            ],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
        )
        if process.returncode != code:
            last = process.stdout.splitlines()[-SHOWN:]
            raise PackageError(
                '%s ended with %d\n%s'
                % (' '.join(command), process.returncode, '\n'.join(last))
            )
        return process.stdout


class Layer(Machine):
    """An overlay over this machine; the process has to be :func:`inside`.

    :param folder: where the package is made, as seen in the layer
    :raises: Unavailable if it cannot be mounted
    """

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        base = pathlib.Path(os.environ[INSIDE])
        self._mount('-t', 'tmpfs', 'layer', str(base))
        self.upper = base / 'upper'
        self.root = base / 'root'
        for path in (self.upper, self.root, base / 'work'):
            path.mkdir()
        self._mount(
            '-t',
            'overlay',
            '-o',
            'lowerdir=/,upperdir=%s,workdir=%s' % (self.upper, base / 'work'),
            'layer',
            str(self.root),
        )
        for name in ('dev', 'proc'):
            self._mount('--rbind', '/%s' % name, str(self.root / name))
        for name in ('run', 'tmp', 'usr/local'):
            self._mount('-t', 'tmpfs', 'layer', str(self.root / name))
        self.prefix = ('chroot', str(self.root))
        self.outside(folder).mkdir(parents=True)
        self._quicken()

    @staticmethod
    def _mount(*arguments: str) -> None:
        process = subprocess.run(
            ['mount', *arguments], capture_output=True, text=True
        )
        if process.returncode:
            raise Unavailable(
                'a layer over this machine cannot be mounted: %s'
                % ' '.join(process.stderr.split())
            )

    def _quicken(self) -> None:
        policy = self.outside('/usr/sbin/policy-rc.d')
        policy.write_text('#!/bin/sh\nexit 101\n')
        policy.chmod(0o755)
        # The index of all man pages is not needed.
        self.outside('/var/lib/man-db/auto-update').unlink(missing_ok=True)

    def apt(self, *arguments: str) -> str:
        """Run apt-get.

        :param arguments: its own
        :returns: what it printed
        :raises: PackageError if it fails
        """
        return self.run(
            'apt-get',
            '-qq',
            '--yes',
            '--no-install-recommends',
            '-o',
            'Acquire::Retries=3',
            '-o',
            'APT::Get::Build-Dep-Automatic=true',
            '-o',
            'APT::Sandbox::User=root',
            '-o',
            'Dpkg::Use-Pty=0',
            *arguments,
        )

    def get_tools(self, *packages: str) -> None:
        """Install what a build begins with.

        :param packages: of Debian
        :raises: Unavailable if apt has no access to them
        """
        try:
            self.apt('update')
            self.apt('install', *packages)
            self.run('apt-mark', 'auto', *packages)
        except PackageError as exc:
            raise Unavailable(
                '%s cannot be installed: %s'
                % (', '.join(packages), str(exc).splitlines()[-1])
            )

    def get_build_dependencies(self, tree: pathlib.Path) -> None:
        """Install what a source asks for.

        :param tree: it, with ``debian/``
        :raises: PackageError if apt cannot
        """
        self.apt('build-dep', str(tree))

    def installed_files(self) -> dict[str, int]:
        """Return what is there beside the machine's own files, with sizes.

        The records of apt and dpkg, and logs, are left out.
        """
        ours = str(self.folder).lstrip('/')
        found = {}
        for path in self.upper.rglob('*'):
            name = str(path.relative_to(self.upper))
            if not name.startswith(
                ('var/cache', 'var/lib/apt', 'var/lib/dpkg', 'var/log', ours)
            ):
                found[name] = path.lstat().st_size if path.is_file() else 0
        return found


def is_plain_user() -> bool:
    """Return whether this process is not root's."""
    return os.geteuid() != 0


def inside() -> bool:
    """Return whether this process has a mount name space of its own."""
    return INSIDE in os.environ


def enter() -> int:
    """Run this command again, in a mount name space of its own.

    :returns: its exit code
    :raises: Unavailable without the rights or the program for it
    """
    if is_plain_user():
        raise Unavailable('a layer over this machine needs root')
    unshare = ['unshare', '--mount']
    try:
        failed = subprocess.run(
            [*unshare, 'true'], stderr=subprocess.DEVNULL
        ).returncode
    except OSError:
        failed = True
    if failed:
        raise Unavailable('name spaces cannot be made here')
    with tempfile.TemporaryDirectory() as base:
        return subprocess.run(
            [*unshare, sys.executable, '-m', __package__, *sys.argv[1:]],
            env={**os.environ, INSIDE: base},
        ).returncode

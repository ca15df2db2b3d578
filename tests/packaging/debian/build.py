# SPDX-License-Identifier: Apache-2.0
"""Makes the package: an sdist, ``debian/``, dpkg-buildpackage."""

from __future__ import annotations

import email.utils
import os
import pathlib
import shutil
import tarfile

from tests.packaging import tree
from tests.packaging.debian import facts as source_facts
from tests.packaging.debian import folder as debian_folder
from tests.packaging.debian.errors import PackageError
from tests.packaging.debian.errors import Unavailable
from tests.packaging.debian.places import Layer
from tests.packaging.debian.places import Machine

#: Of a source without a history, if PBR_VERSION does not say another.
VERSION = '0.1.0'
#: What a build begins with; debian/control says the rest.
TOOLS = ('debhelper', 'dh-python', 'dpkg-dev')


def version() -> str:
    """Return the version of the package; git is not asked."""
    return os.environ.get('PBR_VERSION', VERSION)


class Build:
    """A source and what is made of it.

    :param place: where it is built
    """

    def __init__(self, place: Machine) -> None:
        self.place = place
        self.facts = source_facts.read(tree.ROOT, version())
        self.source = place.folder / self.facts.name

    def prepare(self) -> None:
        """Copy the source and provide what its build needs.

        :raises: Unavailable, PackageError
        """
        if isinstance(self.place, Layer):
            self.place.get_tools(*TOOLS)
        tree.copy(self.place.outside(self.source))
        self._write_debian(self.source)
        if isinstance(self.place, Layer):
            self.place.get_build_dependencies(self.source)
            return
        try:
            self.place.run('dpkg-checkbuilddeps', cwd=self.source)
        except PackageError as exc:
            raise Unavailable(str(exc).splitlines()[-1])

    def make(self) -> pathlib.Path:
        """Make the source package and of that the package.

        :returns: the ``.deb``, as seen in the place
        :raises: PackageError
        """
        unpacked = self._sdist()
        self._write_debian(unpacked)
        command = ['dpkg-buildpackage', '--no-sign']
        if isinstance(self.place, Layer):
            # Nothing may be fetched by a build.
            command = ['unshare', '--net', *command]
        self.place.run(*command, cwd=unpacked)
        (package,) = self.place.outside(self.place.folder).glob('*.deb')
        return self.place.folder / package.name

    def _write_debian(self, where: pathlib.Path) -> None:
        date = email.utils.formatdate(
            int(os.environ['SOURCE_DATE_EPOCH'])
            if 'SOURCE_DATE_EPOCH' in os.environ
            else None
        )
        for name, text in debian_folder.files(self.facts, date).items():
            path = self.place.outside(where) / 'debian' / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if name == 'rules' else 0o644)

    def _sdist(self) -> pathlib.Path:
        # As a maintainer gets it: nothing of debian/ is in the tarball.
        shutil.rmtree(self.place.outside(self.source) / 'debian')
        made = self.place.folder / 'sdist'
        self.place.run(
            'env',
            'PBR_VERSION=%s' % self.facts.version,
            'python3',
            'setup.py',
            '-q',
            'sdist',
            '-d',
            str(made),
            cwd=self.source,
        )
        folder = self.place.outside(self.place.folder)
        (archive,) = self.place.outside(made).glob('*.tar.gz')
        upstream = debian_folder.debian_version(self.facts.version)
        orig = folder / ('%s_%s.orig.tar.gz' % (self.facts.name, upstream))
        archive.rename(orig)
        with tarfile.open(orig) as tarball:
            top = tarball.getnames()[0].partition('/')[0]
            tarball.extractall(folder, filter='data')
        unpacked = '%s-%s' % (self.facts.name, upstream)
        (folder / top).rename(folder / unpacked)
        return self.place.folder / unpacked

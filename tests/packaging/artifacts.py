# SPDX-License-Identifier: Apache-2.0
"""sdist and wheel, made once a process, without git and without a network."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from tests.packaging import tree

VERSION = '9.8.7'
#: Removed when the process ends.
_FOLDER = tempfile.TemporaryDirectory()


@dataclasses.dataclass(frozen=True)
class Artifacts:
    """What was made.

    :param unpacked: the content of the sdist
    :param wheel: made of it
    """

    unpacked: pathlib.Path
    wheel: pathlib.Path


@functools.cache
def make() -> Artifacts:
    """Make an sdist of a plain copy of the source, and of that a wheel.

    :returns: both
    """
    folder = pathlib.Path(_FOLDER.name)
    tree.copy(folder / 'tree')
    run_in(folder / 'tree', 'setup.py', '-q', 'sdist', '-d', str(folder))
    (tarball,) = folder.glob('*.tar.gz')
    with tarfile.open(tarball) as archive:
        archive.extractall(folder, filter='data')
    unpacked = folder / tarball.name.removesuffix('.tar.gz')
    run_in(
        unpacked, '-m', 'pip', 'wheel', '-q', '--no-deps',
        '--no-build-isolation', '--no-index', '-w', str(folder), '.',
    )  # fmt: skip
    (wheel,) = folder.glob('*.whl')
    return Artifacts(unpacked, wheel)


def run_in(
    folder: pathlib.Path,
    *arguments: str,
    python: str | os.PathLike = sys.executable,
    code: int = 0,
    **extra: str,
) -> str:
    """Run Python.

    :param folder: where
    :param arguments: of the interpreter
    :param python: the interpreter
    :param code: the exit code that it has to have
    :param extra: additional environment variables
    :returns: what it printed
    :raises: AssertionError if the exit code is another one
    """
    process = subprocess.run(
        [str(python), *arguments],
        cwd=folder,
        env={**os.environ, 'PBR_VERSION': VERSION, **extra},
        capture_output=True,
        text=True,
    )
    if process.returncode != code:
        raise AssertionError(process.stdout + process.stderr)
    return process.stdout

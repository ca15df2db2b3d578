# SPDX-License-Identifier: Apache-2.0
"""The virtual environment with the host's services, and our wheel in it."""

from __future__ import annotations

from collections.abc import Collection
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

from tests.multicell import layout as lay
from tests.multicell.layout import Layout
from tests.multicell.processes import run

#: Exact versions of all there is in the environment but our wheel.
CONSTRAINTS = lay.ROOT / 'constraints' / 'multicell.txt'

#: Other releases that a cloud can have: what they replace in these.
OLDER = {
    name: lay.ROOT / 'constraints' / f'multicell-{name}.txt'
    for name in ('neutron28', 'nova33')
}

#: What the wheel is made of.
SOURCES = (
    'nova_xcell', 'setup.py', 'setup.cfg', 'pyproject.toml',
    'requirements.txt', 'README.rst', 'LICENSE', 'MANIFEST.in',
)  # fmt: skip


def digest(older: Collection[str] = ()) -> str:
    """Return a name for what the environment consists of.

    :param older: keys of OLDER
    """
    files = (CONSTRAINTS, *(OLDER[name] for name in older))
    return hashlib.sha256(
        b''.join(file.read_bytes() for file in files)
    ).hexdigest()


def ensure(
    layout: Layout, older: Collection[str] = (), offline: bool = False
) -> None:
    """Create the environment, or bring it up to date.

    :param layout: where the cloud is
    :param older: keys of OLDER
    :param offline: with what was fetched for this cloud before
    :raises: MulticellError
    """
    if is_current(layout, older):
        return
    log = layout.log / 'environment.log'
    installer = layout.cache / 'installer'
    if not (installer / 'bin' / 'uv').exists():
        run([sys.executable, '-m', 'venv', installer], log=log)
        run([installer / 'bin' / 'pip', 'install', '-q', 'uv'], log=log)
    if not layout.python.exists():
        run([sys.executable, '-m', 'venv', layout.venv], log=log)
    run(
        [
            *_uv(layout, 'install'), '--compile-bytecode', '-r', CONSTRAINTS,
            *(['--offline'] if offline else []),
            *(
                word
                for name in older
                for word in ('--override', OLDER[name])
            ),
        ],
        _uv_env(layout),
        log,
    )  # fmt: skip
    _stamp(layout).write_text(digest(older))


def is_current(layout: Layout, older: Collection[str] = ()) -> bool:
    """Tell whether the environment is what it should be.

    :param layout: where the cloud is
    :param older: keys of OLDER
    """
    stamp = _stamp(layout)
    return stamp.exists() and stamp.read_text() == digest(older)


def _stamp(layout: Layout) -> pathlib.Path:
    return layout.venv / 'multicell.stamp'


def _uv(layout: Layout, *verb: str) -> list[str | os.PathLike]:
    uv = layout.cache / 'installer' / 'bin' / 'uv'
    return [uv, 'pip', *verb, '-q', '-p', layout.python]


def _uv_env(layout: Layout) -> dict[str, str]:
    return {**os.environ, 'UV_CACHE_DIR': str(layout.cache / 'uv')}


def install_plugin(layout: Layout) -> bool:
    """Build the wheel of the checkout and install it, if it is another one.

    :param layout: where the cloud is
    :returns: whether what is installed has changed
    """
    stamp = layout.venv / 'nova-xcell.stamp'
    wanted = _digest_of_sources()
    if stamp.exists() and stamp.read_text() == wanted:
        return False
    tree = layout.cache / 'wheel'
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in SOURCES:
        source = lay.ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns('__pycache__')
            shutil.copytree(source, tree / name, ignore=ignored)
        else:
            shutil.copy(source, tree / name)
    wheel = _build(layout, tree, _version())
    run(
        [
            *_uv(layout, 'install'), '--compile-bytecode', '--reinstall',
            '--no-deps', wheel,
        ],
        _uv_env(layout),
        layout.log / 'environment.log',
    )  # fmt: skip
    stamp.write_text(wanted)
    return True


def unpack_older_plugin(layout: Layout, revision: str) -> pathlib.Path:
    """Install another version of our wheel in a folder of its own.

    A service with that folder first in its path has it instead of ours.

    :param layout: where the cloud is
    :param revision: as git knows it
    :returns: the folder
    """
    folder = layout.cache / 'older'
    tree, target = folder / 'tree', folder / 'installed'
    shutil.rmtree(folder, ignore_errors=True)
    tree.mkdir(parents=True)
    log = layout.log / 'environment.log'
    archive = folder / 'tree.tar'
    run(
        ['git', '-C', lay.ROOT, 'archive', '-o', archive, revision],
        log=log,
    )
    shutil.unpack_archive(archive, tree, filter='data')
    wheel = _build(layout, tree, '0.0.1.dev0')
    run(
        [
            *_uv(layout, 'install'), '--no-deps', '--target', target, wheel,
        ],
        _uv_env(layout),
        log,
    )  # fmt: skip
    return target


def _build(layout: Layout, tree: pathlib.Path, version: str) -> pathlib.Path:
    """Build the wheel of a tree, and return where it is."""
    run(
        [
            layout.python, '-m', 'pip', 'wheel', '-q', '--no-deps',
            '--no-build-isolation', '-w', tree, tree,
        ],
        {**os.environ, 'PBR_VERSION': version},
        layout.log / 'environment.log',
    )  # fmt: skip
    (wheel,) = tree.glob('*.whl')
    return wheel


def plugin_is_installed(layout: Layout) -> bool:
    """Tell whether our wheel is installed.

    :param layout: where the cloud is
    """
    return (layout.venv / 'nova-xcell.stamp').exists()


def remove_plugin(layout: Layout) -> bool:
    """Uninstall our wheel.

    :param layout: where the cloud is
    :returns: whether it was installed
    """
    if not plugin_is_installed(layout):
        return False
    run(
        [*_uv(layout, 'uninstall'), 'nova-xcell'],
        _uv_env(layout),
        layout.log / 'environment.log',
    )
    (layout.venv / 'nova-xcell.stamp').unlink()
    return True


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for name in SOURCES:
        source = lay.ROOT / name
        files = sorted(source.rglob('*.py')) if source.is_dir() else [source]
        for file in files:
            digest.update(str(file.relative_to(lay.ROOT)).encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _version() -> str:
    """Return what git says; pbr asks it only where it finds the tree."""
    try:
        found = subprocess.run(
            ['git', 'describe', '--tags', '--abbrev=0'],
            cwd=lay.ROOT,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return '0.0.1.dev1'
    return found.stdout.strip() if found.returncode == 0 else '0.0.1.dev1'

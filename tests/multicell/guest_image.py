# SPDX-License-Identifier: Apache-2.0
"""The guest: Debian's cloud kernel, busybox, and a root disk of a megabyte."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess

from tests.multicell import layout as lay
from tests.multicell import machine
from tests.multicell.errors import MulticellError
from tests.multicell.layout import Layout
from tests.multicell.processes import run

KERNEL_PACKAGE = 'linux-image-cloud-amd64'
MODULES = (
    'virtio_pci', 'virtio_blk', 'virtio_net', 'ata_piix', 'sr_mod', 'isofs',
    'button', 'evdev', 'virtio_rng', 'virtio_balloon',
)  # fmt: skip
INIT = lay.HERE / 'guest' / 'init'


def ensure(layout: Layout) -> None:
    """Build the three files, unless they are there and not too old.

    :param layout: where the cloud is
    :raises: MulticellError
    """
    folder = layout.images
    stamp = folder / 'init'
    if stamp.exists() and stamp.read_bytes() == INIT.read_bytes():
        return
    folder.mkdir(parents=True, exist_ok=True)
    kernel = _kernel(layout)
    _initrd(kernel, folder)
    _root_disk(folder)
    shutil.copy(INIT, stamp)


def _kernel(layout: Layout) -> pathlib.Path:
    """Unpack Debian's kernel; return the folder."""
    tree = layout.cache / 'kernel'
    if not (tree / 'boot').exists():
        found = re.search(
            r'Depends: (linux-image-\S+)',
            run(['apt-cache', 'depends', KERNEL_PACKAGE]),
        )
        if not found:
            raise MulticellError(f'apt does not know {KERNEL_PACKAGE}')
        tree.mkdir(parents=True, exist_ok=True)
        package = machine.download_package(found[1], tree)
        run(['dpkg-deb', '-x', package, tree])
        package.unlink()
    if not (tree / 'lib').exists():
        # From Debian 13 on, the package relies on the machine's link.
        (tree / 'lib').symlink_to('usr/lib')
    (release,) = (path.name for path in (tree / 'lib/modules').iterdir())
    run(['depmod', '-b', tree, release])
    shutil.copy(
        tree / 'boot' / f'vmlinuz-{release}', layout.images / 'vmlinuz'
    )
    return tree


def _initrd(kernel: pathlib.Path, folder: pathlib.Path) -> None:
    (modules,) = (kernel / 'lib/modules').iterdir()
    tree = folder / 'initrd'
    shutil.rmtree(tree, ignore_errors=True)
    for name in ('bin', 'cd', 'dev', 'etc', 'mnt', 'proc', 'sys', 'tmp'):
        (tree / name).mkdir(parents=True)
    shutil.copy('/bin/busybox', tree / 'bin')
    shutil.copy(INIT, tree / 'init')
    (tree / 'init').chmod(0o755)
    for module in MODULES:
        for line in run(
            [
                'modprobe', '-d', kernel, '-S', modules.name,
                '--show-depends', module,
            ]
        ).splitlines():  # fmt: skip
            if line.startswith('insmod'):
                _add(kernel, pathlib.Path(line.split()[1]), tree)
    for name in ('modules.order', 'modules.builtin'):
        _add(kernel, modules / name, tree)
    run(['depmod', '-b', tree, modules.name])
    subprocess.run(
        'find . | cpio -o -H newc --quiet | gzip -9 > ../initrd.gz',
        shell=True,
        cwd=tree,
        check=True,
    )
    shutil.rmtree(tree)


def _add(kernel: pathlib.Path, file: pathlib.Path, tree: pathlib.Path) -> None:
    target = tree / file.relative_to(kernel)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


def _root_disk(folder: pathlib.Path) -> None:
    raw = folder / 'root.raw'
    with raw.open('wb') as file:
        file.truncate(64 << 20)
    run(
        [
            'mkfs.ext4', '-q', '-F', '-L', 'root',
            '-O', '^metadata_csum,^has_journal', raw,
        ]
    )  # fmt: skip
    run(
        [
            'qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw,
            folder / 'root.qcow2',
        ]
    )  # fmt: skip
    raw.unlink()

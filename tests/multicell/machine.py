# SPDX-License-Identifier: Apache-2.0
"""The machine: is it one we can use, and Debian's packages."""

from __future__ import annotations

import os
import pathlib
import platform
import subprocess

from tests.multicell.errors import MulticellError
from tests.multicell.layout import Layout
from tests.multicell.processes import run

RELEASES = ('12', '13')

#: Package -> a file of it, whose presence stands for the package.
PACKAGES = {
    'busybox-static': '/bin/busybox',
    'conntrack': '/usr/sbin/conntrack',
    'cpio': '/usr/bin/cpio',
    'curl': '/usr/bin/curl',
    'e2fsprogs': '/sbin/mkfs.ext4',
    'ethtool': '/sbin/ethtool',
    'gcc': '/usr/bin/gcc',
    'genisoimage': '/usr/bin/genisoimage',
    'iproute2': '/sbin/ip',
    'iputils-ping': '/bin/ping',
    'kmod': '/sbin/modprobe',
    'libc6-dev': '/usr/include/stdio.h',
    'libvirt-clients': '/usr/bin/virsh',
    'libvirt-daemon-system': '/etc/libvirt/libvirtd.conf',
    'libvirt-dev': '/usr/include/libvirt/libvirt.h',
    'mariadb-server': '/usr/sbin/mariadbd',
    'memcached': '/usr/bin/memcached',
    'openvswitch-switch': '/usr/sbin/ovs-vswitchd',
    'pkg-config': '/usr/bin/pkg-config',
    'procps': '/sbin/sysctl',
    'python3-dev': '/usr/bin/python3-config',
    'python3-venv': '/usr/share/doc/python3-venv',
    'qemu-system-x86': '/usr/bin/qemu-system-x86_64',
    'qemu-utils': '/usr/bin/qemu-img',
    'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
    'util-linux': '/usr/bin/nsenter',
}

#: Keeps the packages from starting their own daemons.
POLICY = pathlib.Path('/usr/sbin/policy-rc.d')


def check() -> None:
    """Refuse a machine that the cloud cannot run on.

    :raises: MulticellError
    """
    if os.geteuid() != 0:
        raise MulticellError('name spaces and hypervisors need root')
    system = {}
    if pathlib.Path('/etc/os-release').exists():
        system = platform.freedesktop_os_release()
    if (
        system.get('ID') != 'debian'
        or system.get('VERSION_ID') not in RELEASES
    ):
        raise MulticellError(
            'this runs on Debian %s, not on %s'
            % (' or '.join(RELEASES), system.get('PRETTY_NAME', 'this'))
        )
    if subprocess.run(
        ['unshare', '-mnu', 'true'], stderr=subprocess.DEVNULL
    ).returncode:
        raise MulticellError('name spaces cannot be made here')
    if platform.machine() != 'x86_64':
        raise MulticellError('the guests need an x86_64 machine')


def missing_packages() -> list[str]:
    """Return which of Debian's packages are not installed."""
    return [
        package
        for package, path in PACKAGES.items()
        if not os.path.exists(path)
    ]


def install_packages(layout: Layout) -> None:
    """Install what is missing of Debian's packages.

    :param layout: where the cloud is
    :raises: MulticellError naming what is missing if apt fails
    """
    missing = missing_packages()
    if not missing:
        return
    env = {**os.environ, 'DEBIAN_FRONTEND': 'noninteractive'}
    apt = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=300']
    log = layout.log / 'apt.log'
    ours = not POLICY.exists()
    if ours:
        POLICY.write_text('#!/bin/sh\nexit 101\n')
        POLICY.chmod(0o755)
    try:
        run([*apt, 'update'], env, log)
        run(
            [*apt, 'install', '-y', '--no-install-recommends', *missing],
            env,
            log,
        )
    except MulticellError as exc:
        raise MulticellError(
            f'Debian packages are missing: {" ".join(missing)}; {exc}'
        )
    finally:
        if ours:
            POLICY.unlink()


def download_package(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Download a Debian package without installing it.

    :param name: its name
    :param folder: where to
    :returns: the file
    """
    # apt would warn that its own user cannot write there.
    apt = ['apt-get', '-qq', '-o', 'APT::Sandbox::User=root']
    subprocess.run([*apt, 'download', name], cwd=folder, check=True)
    return next(folder.glob(f'{name}_*.deb'))

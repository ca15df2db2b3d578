# SPDX-License-Identifier: Apache-2.0
"""What of a server a libvirt host holds outside of volumes.

Two hosts that share the storage of local disks see the same files, or the same
images in Ceph. Nothing in Nova's flow of a cross-cell move knows that: both
hosts clean up what they take for theirs alone.
"""

from __future__ import annotations

import os
import re

from nova import objects
import nova.conf
from nova.storage import rbd_utils
from nova.virt.libvirt import utils as libvirt_utils

CONF = nova.conf.CONF

#: How nova-compute writes the list of personality files to a config drive.
_FILES = re.compile(rb'"files": \[\{')

#: A config drive has 64 MiB at most.
_CONFIG_DRIVE_BYTES = 64 * 1024 * 1024

CONFIG_DRIVE = 'disk.config'


def seen(instance: objects.Instance) -> dict[str, str]:
    """List the files and images of a server that this host sees.

    :param instance: the server
    :returns: what tells one state of it from another, by path or image
    """
    found = _files(libvirt_utils.get_instance_path(instance))
    if CONF.libvirt.images_type == 'rbd':
        found.update(_images(instance.uuid))
    return found


def _files(folder: str) -> dict[str, str]:
    found = {}
    for parent, _folders, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            try:
                status = os.stat(path)
            except FileNotFoundError:
                continue
            found[path] = '%d %d %d' % (
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
            )
    return found


def _images(prefix: str) -> dict[str, str]:
    ceph = rbd_utils.RBDDriver()
    with rbd_utils.RADOSClient(ceph) as client:
        # The same choice as the host's clean-up makes.
        names = [
            name
            for name in rbd_utils.RbdProxy().list(client.ioctx)
            if name.startswith(prefix)
        ]
    found = {}
    for name in names:
        with rbd_utils.RBDVolumeProxy(ceph, name, read_only=True) as image:
            found['%s/%s' % (ceph.pool, name)] = '%d %s %s' % (
                image.size(),
                image.modify_timestamp(),
                sorted(snap['name'] for snap in image.list_snaps()),
            )
    return found


def has_personality(instance: objects.Instance) -> bool:
    """Tell whether the config drive of a server has personality files.

    :param instance: a server of this host
    """
    if not instance.config_drive:
        return False
    return _FILES.search(_read_config_drive(instance)) is not None


def _read_config_drive(instance: objects.Instance) -> bytes:
    path = os.path.join(
        libvirt_utils.get_instance_path(instance), CONFIG_DRIVE
    )
    if os.path.exists(path):
        with open(path, 'rb') as drive:
            return drive.read(_CONFIG_DRIVE_BYTES)
    if CONF.libvirt.images_type != 'rbd':
        return b''
    ceph = rbd_utils.RBDDriver()
    name = '%s_%s' % (instance.uuid, CONFIG_DRIVE)
    if not ceph.exists(name):
        return b''
    with rbd_utils.RBDVolumeProxy(ceph, name, read_only=True) as image:
        return image.read(0, min(image.size(), _CONFIG_DRIVE_BYTES))

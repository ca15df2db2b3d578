# SPDX-License-Identifier: Apache-2.0
"""The host releases this version knows: the one place that says so."""

import importlib.metadata

from nova_xcell import exception

#: config project -> (distribution, major versions that are supported)
SUPPORTED: dict[str, tuple[str, tuple[int, ...]]] = {
    'nova': ('nova', (31, 32, 33, 34)),
    'placement': ('openstack-placement', (13, 14, 15, 16)),
}


def spelled(releases: tuple[int, ...]) -> str:
    """Return releases the way messages show them, "31, 32, 33".

    :param releases: major versions
    """
    return ', '.join(str(release) for release in releases)


def installed(project: str) -> int:
    """Return the major version of the installed host, checked.

    :param project: name of the host's config project, a key of
        :data:`SUPPORTED`
    :returns: the major version, for example 34
    :raises: :class:`~nova_xcell.exception.HostNotInstalled`,
        :class:`~nova_xcell.exception.UnsupportedHost`
    """
    distribution, supported = SUPPORTED[project]
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise exception.HostNotInstalled(
            distribution=distribution, supported=spelled(supported)
        )
    major = version.split('.', 1)[0]
    if not major.isdigit() or int(major) not in supported:
        raise exception.UnsupportedHost(
            distribution=distribution,
            version=version,
            supported=spelled(supported),
        )
    return int(major)

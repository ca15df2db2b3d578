# SPDX-License-Identifier: Apache-2.0
"""What a flavor and an image wish of live migrations: pure, no host imports.

See spec expose-auto-converge-post-copy: each of two features of the
hypervisor can be asked for (true), ruled out (false), or left to the host's
configuration (not said).
"""

from __future__ import annotations

import dataclasses
import typing as ty

from oslo_utils import strutils

from nova_xcell import exception

AUTO_CONVERGE = 'auto_converge'
POST_COPY = 'post_copy'
FEATURES = (AUTO_CONVERGE, POST_COPY)

#: How the keys of flavors and images begin.
EXTRA_SPEC = 'compute:live_migration_'
IMAGE_PROPERTY = 'compute_live_migration_'


class BadWish(exception.XcellError):
    """A flavor or an image says something that cannot be granted."""

    msg_fmt = '%(reason)s'


@dataclasses.dataclass(frozen=True)
class Wishes:
    """What a server wishes of its live migrations.

    :ivar auto_converge: slow the guest down until it can be moved; None
        leaves it to the host
    :ivar post_copy: let the guest run on the destination before all of its
        memory is there; None leaves it to the host
    """

    auto_converge: bool | None = None
    post_copy: bool | None = None


def validated(
    extra_specs: ty.Mapping[str, str], properties: ty.Mapping[str, ty.Any]
) -> Wishes:
    """Return the wishes of a flavor and an image, which have to agree.

    :param extra_specs: extra specs of the flavor
    :param properties: properties of the image, as the image has them
    :raises: :class:`BadWish` naming both sides (MF-06)
    """
    flavor = {name: _of_flavor(extra_specs, name) for name in FEATURES}
    image = {name: _of_image(properties, name) for name in FEATURES}
    for name in FEATURES:
        if None not in (flavor[name], image[name]) and (
            flavor[name] != image[name]
        ):
            raise BadWish(
                reason='Flavor extra spec %s%s is %s, but image property '
                '%s%s is %s.'
                % (
                    EXTRA_SPEC,
                    name,
                    flavor[name],
                    IMAGE_PROPERTY,
                    name,
                    image[name],
                )
            )
    wishes = _merged(flavor, image)
    if wishes.auto_converge and wishes.post_copy:
        raise BadWish(
            reason='A live migration can use only one of %s and %s, and both '
            'are true.' % tuple(_place(name, flavor) for name in FEATURES)
        )
    return wishes


def tolerated(
    extra_specs: ty.Mapping[str, str], properties: ty.Mapping[str, ty.Any]
) -> Wishes:
    """Return the wishes of a server that was perhaps never validated (MF-11).

    The flavor goes before the image. Both features may be asked for together;
    a migration uses post-copy then if the guest can, as the host does if its
    configuration permits both. What cannot be read is as good as not said.

    :param extra_specs: extra specs of the flavor
    :param properties: properties of the image, as the image has them
    """
    flavor = {}
    image = {}
    for name in FEATURES:
        for found, read, source in (
            (flavor, _of_flavor, extra_specs),
            (image, _of_image, properties),
        ):
            try:
                found[name] = read(source, name)
            except BadWish:
                found[name] = None
    return _merged(flavor, image)


def _merged(
    flavor: ty.Mapping[str, bool | None], image: ty.Mapping[str, bool | None]
) -> Wishes:
    return Wishes(
        **{
            name: image[name] if flavor[name] is None else flavor[name]
            for name in FEATURES
        }
    )


def _place(name: str, flavor: ty.Mapping[str, bool | None]) -> str:
    if flavor[name]:
        return 'flavor extra spec %s%s' % (EXTRA_SPEC, name)
    return 'image property %s%s' % (IMAGE_PROPERTY, name)


def _of_flavor(extra_specs: ty.Mapping[str, str], name: str) -> bool | None:
    key = EXTRA_SPEC + name
    return _read('Flavor extra spec %s' % key, extra_specs.get(key))


def _of_image(properties: ty.Mapping[str, ty.Any], name: str) -> bool | None:
    key = IMAGE_PROPERTY + name
    return _read('Image property %s' % key, properties.get(key))


def _read(place: str, value: ty.Any) -> bool | None:
    if value is None:
        return None
    try:
        return strutils.bool_from_string(value, strict=True)
    except ValueError:
        raise BadWish(
            reason="%s is '%s'; it has to be true or false." % (place, value)
        ) from None

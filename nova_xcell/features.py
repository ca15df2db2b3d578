# SPDX-License-Identifier: Apache-2.0
"""The features an operator can name in ``[xcell] features``."""

import dataclasses

from nova_xcell import exception
from nova_xcell import releases

ALL = 'all'


@dataclasses.dataclass(frozen=True)
class Feature:
    """One spec that the plug-ins finish.

    :ivar name: what the operator writes in ``[xcell] features``
    :ivar summary: one line for the status command and the option's help
    :ivar nova_releases: major versions of Nova that can carry it
    """

    name: str
    summary: str
    nova_releases: tuple[int, ...] = releases.SUPPORTED['nova'][1]


CROSS_CELL_RESIZE = Feature(
    'cross-cell-resize', 'resize and cold migration into another cell'
)
LIVE_MIGRATION_FLAGS = Feature(
    'live-migration-flags', 'auto-converge and post-copy for each server'
)
LIVE_MIGRATION_API = Feature(
    'live-migration-api', 'live migrations that can be followed to their end'
)
VOLUME_BACKED_REBUILD = Feature(
    'volume-backed-rebuild', 'rebuilds that can fail without losing anything'
)

FEATURES: dict[str, Feature] = {
    feature.name: feature
    for feature in (
        CROSS_CELL_RESIZE,
        LIVE_MIGRATION_FLAGS,
        LIVE_MIGRATION_API,
        VOLUME_BACKED_REBUILD,
    )
}


def select(names: list[str]) -> tuple[str, ...]:
    """Return the features that a value of ``[xcell] features`` asks for.

    :param names: the option's value; ``all`` stands for every feature
    :returns: names of features, in the order of :data:`FEATURES`
    :raises: :class:`~nova_xcell.exception.UnknownFeature`
    """
    for name in names:
        if name != ALL and name not in FEATURES:
            raise exception.UnknownFeature(
                name=name, known=', '.join([ALL, *FEATURES])
            )
    return tuple(name for name in FEATURES if ALL in names or name in names)


def check_release(names: tuple[str, ...], nova_release: int) -> None:
    """Refuse a feature that the installed Nova cannot carry.

    :param names: names of features
    :param nova_release: major version of the installed Nova
    :raises: :class:`~nova_xcell.exception.FeatureNotForRelease`
    """
    for name in names:
        supported = FEATURES[name].nova_releases
        if nova_release not in supported:
            raise exception.FeatureNotForRelease(
                name=name,
                distribution='nova',
                version=nova_release,
                supported=releases.spelled(supported),
            )

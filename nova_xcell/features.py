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
    :ivar nova_releases: major versions of Nova that can carry it; none if
        it has no part in Nova
    :ivar placement_releases: the same of Placement
    """

    name: str
    summary: str
    nova_releases: tuple[int, ...] = releases.SUPPORTED['nova'][1]
    placement_releases: tuple[int, ...] = ()

    def releases_of(self, project: str) -> tuple[int, ...]:
        """Return the releases of a host project that can carry it.

        :param project: ``nova`` or ``placement``
        :returns: major versions; none if it has no part in that project
        """
        if project == 'placement':
            return self.placement_releases
        return self.nova_releases


CROSS_CELL_RESIZE = Feature(
    'cross-cell-resize', 'resize and cold migration into another cell'
)
LIVE_MIGRATION_FLAGS = Feature(
    'live-migration-flags', 'auto-converge and post-copy for each server'
)
LIVE_MIGRATION_API = Feature(
    'live-migration-api', 'live migrations that can be followed to their end'
)
RESHAPE = Feature('reshape', 'provider trees that change by rules')
RESHAPE_HANDLER = Feature(
    'reshape-handler',
    'a fast POST /reshaper, in Placement',
    nova_releases=(),
    placement_releases=releases.SUPPORTED['placement'][1],
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
        RESHAPE,
        RESHAPE_HANDLER,
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


def with_part_in(names: tuple[str, ...], project: str) -> tuple[str, ...]:
    """Return those features that change a host project.

    :param names: names of features
    :param project: ``nova`` or ``placement``
    """
    return tuple(name for name in names if FEATURES[name].releases_of(project))


def check_release(
    names: tuple[str, ...], release: int, project: str = 'nova'
) -> None:
    """Refuse a feature that the installed host cannot carry.

    :param names: names of features with a part in that host
    :param release: its major version
    :param project: ``nova`` or ``placement``
    :raises: :class:`~nova_xcell.exception.FeatureNotForRelease`
    """
    for name in names:
        supported = FEATURES[name].releases_of(project)
        if release not in supported:
            raise exception.FeatureNotForRelease(
                name=name,
                distribution=releases.SUPPORTED[project][0],
                version=release,
                supported=releases.spelled(supported),
            )

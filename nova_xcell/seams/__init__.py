# SPDX-License-Identifier: Apache-2.0
"""The seams: every host attribute the plug-ins replace, override or rely on.

This is the one table, in a part for each service, for what comes to it with
live migrations, rebuilds and reshapes, and for Placement. It is checked when a
service arms (by :mod:`nova_xcell.loader`) and by the contract tests against
every supported release; ``nova-xcell-status upgrade check`` prints what it
finds.
"""

import importlib
import typing as ty

from nova_xcell import exception
from nova_xcell.seams import api
from nova_xcell.seams import compute
from nova_xcell.seams import conductor
from nova_xcell.seams import migration_api
from nova_xcell.seams import migration_flags
from nova_xcell.seams import migration_wishes
from nova_xcell.seams import placement_reshaper
from nova_xcell.seams import rebuild
from nova_xcell.seams import reshape
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import check
from nova_xcell.seams.seam import EXTENDED
from nova_xcell.seams.seam import holder
from nova_xcell.seams.seam import OVERRIDDEN
from nova_xcell.seams.seam import REPLACED
from nova_xcell.seams.seam import Seam
from nova_xcell.seams.seam import spell_signature

__all__ = (
    'CALLED',
    'EXTENDED',
    'OVERRIDDEN',
    'REPLACED',
    'SEAMS',
    'Seam',
    'check',
    'check_all',
    'for_features',
    'holder',
    'spell_signature',
)

# A class is replaced before it is extended.
SEAMS: tuple[Seam, ...] = (
    api.SEAMS
    + conductor.SEAMS
    + compute.SEAMS
    + migration_flags.SEAMS
    + migration_wishes.SEAMS
    + migration_api.SEAMS
    + reshape.SEAMS
    + placement_reshaper.SEAMS
    + rebuild.SEAMS
)


def for_features(
    names: ty.Iterable[str],
    release: int,
    project: str = 'nova',
) -> tuple[Seam, ...]:
    """Return the seams of some features in one release of the host.

    :param names: names of features
    :param release: major version of the host project
    :param project: ``nova`` or ``placement``
    """
    wanted = set(names)
    return tuple(
        seam
        for seam in SEAMS
        if seam.feature in wanted and seam.is_in(project, release)
    )


def check_all(seams: ty.Iterable[Seam]) -> dict[Seam, str]:
    """Import and check seams, for the status command and the tests.

    :param seams: the seams to look at
    :returns: what is wrong, by seam; empty if all is well
    """
    problems = {}
    # Importing nova-api decides on monkey patching, so it has to come first.
    for seam in sorted(
        seams, key=lambda seam: not seam.module.startswith('nova.api.')
    ):
        try:
            check(seam, importlib.import_module(seam.module))
        except (exception.SeamChanged, ImportError) as exc:
            problems[seam] = str(exc)
    return problems

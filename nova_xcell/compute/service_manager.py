# SPDX-License-Identifier: Apache-2.0
"""The manager of nova-compute, made of what each feature adds to it.

The host's class names itself in super(), so that it cannot be extended where
it is. It finds ours under the name ``ComputeManager`` of this module.
"""

from __future__ import annotations

import functools
import typing as ty

from nova.compute import manager

from nova_xcell import features
from nova_xcell import loader


def __getattr__(name: str) -> ty.Any:
    if name != 'ComputeManager':
        raise AttributeError(name)
    return _manager(loader.armed())


@functools.cache
def _manager(armed: tuple[str, ...]) -> type:
    """Return the class for some features.

    :param armed: names of features
    """
    parts: list[type] = []
    if features.VOLUME_BACKED_REBUILD.name in armed:
        from nova_xcell.rebuild import compute_manager

        parts.append(compute_manager.Rebuilds)
    if features.CROSS_CELL_RESIZE.name in armed:
        from nova_xcell.compute import manager as cross_cell

        parts.append(cross_cell.ComputeManager)
    else:
        parts.append(manager.ComputeManager)
    return type('ComputeManager', tuple(parts), {'__module__': __name__})

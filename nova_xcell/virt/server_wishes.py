# SPDX-License-Identifier: Apache-2.0
"""What a server wishes of its live migrations, from the server's record."""

from __future__ import annotations

import typing as ty

from nova import objects
from nova import utils

from nova_xcell.virt import wishes


def of_instance(instance: objects.Instance) -> wishes.Wishes:
    """Return the wishes of a server, whenever it was made (MF-11).

    :param instance: the server, with its flavor and system metadata
    """
    return wishes.tolerated(
        instance.flavor.extra_specs, image_properties(instance)
    )


def image_properties(instance: objects.Instance) -> ty.Mapping[str, ty.Any]:
    """Return the image properties of a server.

    They come from its system metadata, where they are also if nothing knew
    ours when the server was made, or nothing that knows them is switched on.

    :param instance: the server, with its system metadata
    """
    image = utils.get_image_from_system_metadata(instance.system_metadata)
    return image['properties']

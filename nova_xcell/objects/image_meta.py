# SPDX-License-Identifier: Apache-2.0
"""Image properties that say how a server is live-migrated (MF-03)."""

from __future__ import annotations

from nova.objects import base
from nova.objects import fields
from nova.objects import image_meta

from nova_xcell.virt import wishes


# It keeps the host's version: who does not know the fields ignores them, and
# the registry finds either class by name and version. Not registered here,
# since that could not be taken back; the seams put it into its places.
@base.NovaObjectRegistry.register_if(False)
class ImageMetaProps(image_meta.ImageMetaProps):
    """The host's properties and ours.

    As the host's do, the fields read anything that is not true as false. What
    the image really says is checked when it is used for a server, see
    :func:`nova_xcell.virt.wishes.validated`.
    """

    fields = {
        wishes.IMAGE_PROPERTY + name: fields.FlexibleBooleanField()
        for name in wishes.FEATURES
    }


#: What stands in the registry of objects under the name.
REGISTERED = [ImageMetaProps]

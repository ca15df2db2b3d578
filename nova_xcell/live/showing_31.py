# SPDX-License-Identifier: Apache-2.0
"""How Nova 31 finds a method of a controller that has microversions."""

from __future__ import annotations

from nova.api.openstack import api_version_request
from nova.api.openstack import versioned_method

from nova_xcell.live import showing

#: What stands for ``show`` in the controller's table of methods.
SHOW = [
    versioned_method.VersionedMethod(
        'show',
        api_version_request.min_api_version(),
        api_version_request.APIVersionRequest(),
        showing.show,
    )
]

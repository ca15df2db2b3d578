# SPDX-License-Identifier: Apache-2.0
"""The seams of reshapes."""

import functools

from nova_xcell import features
from nova_xcell.seams.seam import CALLED
from nova_xcell.seams.seam import Seam

_Seam = functools.partial(
    Seam,
    feature=features.RESHAPE.name,
    # No service does it yet.
    services=('nova-xcell-manage',),
)

SEAMS: tuple[Seam, ...] = (
    _Seam(
        'nova.utils',
        'get_sdk_adapter',
        CALLED,
        '(service_type, admin, check_service=False, conf_group=None, '
        'context=None, **kwargs)',
        nova_releases=(31, 32, 33),
    ),
    _Seam(
        'nova.utils',
        'get_sdk_adapter',
        CALLED,
        '(service_type, admin, check_service=False, conf_group=None, '
        'context=None, ksa_auth=None, **kwargs)',
        nova_releases=(34,),
    ),
)

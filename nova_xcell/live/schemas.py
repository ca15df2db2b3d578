# SPDX-License-Identifier: Apache-2.0
"""What the answers of ``GET /servers/{id}/migrations/{id}`` look like.

The host knows the schemas from Nova 33 on and checks answers with them. It
reads them from dictionaries of its own, of which one value is exchanged: they
stay the same objects, whoever has them already.
"""

from __future__ import annotations

import copy
import typing as ty

from nova.api.openstack.compute.schemas import server_migrations as host

#: Keys at the host's latest microversion only. The host's schema for it is
#: that of some microversions before, where they do not occur.
_MORE = {
    'block_migration': {'type': ['boolean', 'null']},
    'reason': {'type': ['string', 'null']},
    'flags': {'type': ['object', 'null']},
}


def _extended(
    schema: dict[str, ty.Any], more: dict[str, ty.Any]
) -> dict[str, ty.Any]:
    properties = copy.deepcopy(schema['properties'])
    migration = properties['migration']['properties']
    # Nothing has changed yet in a migration that was only accepted.
    migration['updated_at']['type'] = ['string', 'null']
    for name, value in migration.items():
        # Nothing has to be moved before the start and after the end.
        if name.endswith('_bytes'):
            value['minimum'] = 0
    migration.update(more)
    return properties


SHOW_V223 = _extended(host.show_response_v223, {})
SHOW_V259 = _extended(host.show_response_v259, {})
SHOW_V280 = _extended(host.show_response_v280, _MORE)

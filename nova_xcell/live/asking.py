# SPDX-License-Identifier: Apache-2.0
"""What nova-api does with a request to live-migrate (LM-03, LM-04).

The method of the controller is replaced, not the class: the host's table of
routes holds the class, and may be older than the plug-ins in the process. The
same goes for :mod:`nova_xcell.live.showing` and
:mod:`nova_xcell.live.linking`. Each is a module of its own, since it is loaded
in the midst of an import of the host's.
"""

from __future__ import annotations

import functools

from nova.api.openstack import api_version_request
from nova.api.openstack import common
from nova.api.openstack import wsgi
from nova.api.openstack.compute import migrate_server

from nova_xcell.live import handing

#: The microversion from which on the host decides about the storage mode.
AUTO = '2.25'

# What the host has; looked up before the seam replaces it.
_host_method = migrate_server.MigrateServerController._migrate_live


@functools.wraps(_host_method)
def migrate_live(self, req, id, body):
    """Start a live migration, and say where it can be followed.

    See the host's method. From microversion 2.25 on ``host`` and
    ``block_migration`` may be left out: the scheduler chooses a host, the
    hosts choose the storage mode.

    :param req: the request
    :param id: UUID of the server
    :param body: body of the request
    :returns: nova.api.openstack.wsgi.ResponseObject with a ``Location``; None
        if nobody knows the migration yet
    """
    wanted = body.get('os-migrateLive')
    if isinstance(wanted, dict) and api_version_request.is_supported(
        req, AUTO
    ):
        # Before the host looks at it, so that its schema stands.
        body = dict(
            body,
            **{
                'os-migrateLive': {
                    'host': None,
                    'block_migration': 'auto',
                    **wanted,
                }
            },
        )
    with handing.request() as made:
        answer = _host_method(self, req, id=id, body=body)
    if made.migration is None or answer is not None:
        return answer
    location = common.ViewBuilder()._get_href_link(
        req, made.migration.id, 'servers/%s/migrations' % id
    )
    return wsgi.ResponseObject(None, headers={'location': location})

# SPDX-License-Identifier: Apache-2.0
"""What nova-api shows of a live migration (LM-04).

Microversions stay as they are: below the latest one no answer has another key
than before.
"""

from __future__ import annotations

import functools

import webob.exc

from nova import exception
from nova.api import validation
from nova.api.openstack import api_version_request
from nova.api.openstack import common
from nova.api.openstack.compute import server_migrations
from nova.api.openstack.compute.schemas import server_migrations as schemas
from nova.policies import servers_migrations as policies

from nova_xcell.live import lookup

#: What the host knows about answers, and at which microversions. Nova 31 and
#: 32 know nothing.
_SCHEMAS = (
    ('show_response_v223', '2.1', '2.58'),
    ('show_response_v259', '2.59', '2.79'),
    ('show_response_v280', '2.80', None),
)

# What the host has; looked up before the seam replaces it.
_host_method = server_migrations.ServerMigrationsController.show


@functools.wraps(_host_method)
def show(self, req, server_id, id):
    """Show a live migration of a server, at whatever stage.

    See the host's method, which shows some of those in progress.

    :param req: the request
    :param server_id: UUID of the server
    :param id: id or uuid of the migration
    :returns: dict, the body of the answer
    """
    context = req.environ['nova.context']
    try:
        # A database may take a uuid for the number that it begins with.
        answer = _host_method(
            self, req, server_id=server_id, id=id if id.isdigit() else '0'
        )
    except (
        webob.exc.HTTPNotFound,
        # A Location can be asked for at the microversion it was answered at.
        exception.VersionNotFoundForAPIMethod,
    ):
        instance = common.get_instance(self.compute_api, context, server_id)
        context.can(
            policies.POLICY_ROOT % 'show',
            target={'project_id': instance.project_id},
        )
        migration = lookup.find(context, instance, id)
        if migration is None:
            raise
        answer = {
            'migration': server_migrations.output(
                migration, _has(req, '2.59'), _has(req, '2.80')
            )
        }
    else:
        instance = common.get_instance(self.compute_api, context, server_id)
    if req.api_version_request == api_version_request.max_api_version():
        answer['migration'].update(
            lookup.more(context, instance, answer['migration']['id'])
        )
    return _validated(self, req, answer)


def _validated(self, req, answer):
    return answer


for _name, _first, _last in _SCHEMAS:
    if hasattr(schemas, _name):
        _validated = validation.response_body_schema(
            getattr(schemas, _name), _first, _last
        )(_validated)


def _has(req, microversion: str) -> bool:
    return api_version_request.is_supported(req, microversion)

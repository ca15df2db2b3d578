# SPDX-License-Identifier: Apache-2.0
"""Placement inside this process, without its service (RP-07).

placement.direct does the same, but makes an application for every request,
and as a user whom the policy of POST /reshaper refuses.
"""

from __future__ import annotations

import logging
import typing as ty

from oslo_config import cfg
import webob

from placement import conf as placement_conf
from placement import db_api
from placement import deploy

from nova_xcell import exception

#: Whom the policies as shipped let do everything that is asked for here.
_HEADERS = {'x-auth-token': 'admin', 'x-roles': 'admin,member,reader,service'}


class NotConfigured(exception.XcellError):
    """The configuration of Placement is not enough to reach its database."""

    msg_fmt = (
        'the database of Placement cannot be reached: %(reason)s; give the '
        'configuration of Placement with --placement-config-file.'
    )


class Response:
    """What Placement answers, in the words of the library requests."""

    def __init__(self, response: webob.Response) -> None:
        self._response = response
        self.status_code: int = response.status_code
        self.content: bytes = response.body

    @property
    def text(self) -> str:
        """The body."""
        return self._response.text

    def json(self) -> ty.Any:
        """Return the body, read as JSON.

        :raises: ValueError
        """
        return self._response.json_body


class Direct:
    """Takes the place of an adapter of keystoneauth1."""

    def __init__(self, application: ty.Callable) -> None:
        """Use an application.

        :param application: of WSGI
        """
        self._application = application

    def request(
        self,
        url: str,
        method: str,
        microversion: str,
        headers: ty.Mapping[str, str],
        json: ty.Any = None,
        raise_exc: bool = False,
    ) -> Response:
        """Ask Placement.

        :param url: path and query
        :param method: of HTTP
        :param microversion: of Placement's API
        :param headers: besides those of the user
        :param json: the body
        :param raise_exc: as for an adapter; an answer is never an exception
        """
        request = webob.Request.blank(
            url,
            method=method,
            headers={
                **headers,
                **_HEADERS,
                'openstack-api-version': 'placement %s' % microversion,
            },
        )
        if json is not None:
            request.content_type = 'application/json'
            request.json_body = json
        return Response(request.get_response(self._application))


def configured(files: ty.Sequence[str]) -> cfg.ConfigOpts:
    """Return the configuration of Placement.

    :param files: paths; where Placement looks for them if empty
    :raises: :class:`NotConfigured`
    """
    config = cfg.ConfigOpts()
    placement_conf.register_opts(config)
    arguments = [word for path in files for word in ('--config-file', path)]
    try:
        config(arguments, project='placement')
        config.placement_database.connection  # noqa: B018
    except cfg.Error as exc:
        raise NotConfigured(reason=exception.one_line(exc))
    return config


def connect(config: cfg.ConfigOpts) -> Direct:
    """Return Placement with its database.

    :param config: of Placement
    :raises: :class:`NotConfigured`
    """
    # Keystone is a service, and not needed: who can read the password of the
    # database can do everything.
    config.set_override('auth_strategy', 'noauth2', group='api')
    # A line for each request is for a service.
    logging.getLogger('placement').setLevel(logging.WARNING)
    try:
        db_api.configure(config)
        return Direct(deploy.loadapp(config))
    except Exception as exc:
        raise NotConfigured(reason=exception.one_line(exc))

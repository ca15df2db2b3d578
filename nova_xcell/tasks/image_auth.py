# SPDX-License-Identifier: Apache-2.0
"""Who asks Glance when no user does.

Periodic work has no token, and the host has no credentials of its own for
Glance. What the conductor has is the user that it sends along with the user's
token, ``[service_user]``.
"""

from __future__ import annotations

import copy

from keystoneauth1 import loading

import nova.conf
from nova.conf import service_token

CONF = nova.conf.CONF


def authenticated(context):
    """Return a context that Glance accepts, if there can be one.

    Whether it may delete the image of another project is for Glance to say.

    :param context: auth context
    :returns: that context if it has a token or nothing better is configured,
        else a copy that authenticates as ``[service_user]``
    """
    if context.auth_token or context.user_auth_plugin:
        return context
    auth = loading.load_auth_from_conf_options(
        CONF, service_token.SERVICE_USER_GROUP
    )
    if auth is None:
        return context
    context = copy.copy(context)
    context.user_auth_plugin = auth
    return context

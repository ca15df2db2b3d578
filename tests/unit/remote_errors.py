# SPDX-License-Identifier: Apache-2.0
"""Errors as the host has them, and as they come over RPC."""

import sys

from oslo_messaging._drivers import common


class NovaException(Exception):
    """Looks like nova.exception.NovaException."""

    def __init__(self, message='', **kwargs):
        self.kwargs = kwargs
        super().__init__(message or 'Pre-check error: %(reason)s' % kwargs)

    def format_message(self):
        return self.args[0]


def over_rpc(exc, *known_modules):
    """Send an error through the real serialization.

    :param exc: the error
    :param known_modules: of which the receiver makes errors again
    """
    try:
        raise exc
    except Exception:
        failure = common.serialize_remote_exception(sys.exc_info())
    return common.deserialize_remote_exception(failure, known_modules)

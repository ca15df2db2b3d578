# SPDX-License-Identifier: Apache-2.0
"""What is shown of errors, and to whom."""

import sys
import unittest

import oslo_messaging as messaging
from oslo_messaging._drivers import common

from nova_xcell import exception


class _NovaException(Exception):
    """Looks like nova.exception.NovaException."""

    def __init__(self, message='', **kwargs):
        self.kwargs = kwargs
        super().__init__(message or 'Pre-check error: %(reason)s' % kwargs)

    def format_message(self):
        return self.args[0]


class TestShown(unittest.TestCase):
    """What may have addresses, paths or commands in it is left out."""

    def over_rpc(self, exc, *known_modules):
        """Send an error through the real serialization."""
        try:
            raise exc
        except Exception:
            failure = common.serialize_remote_exception(sys.exc_info())
        return common.deserialize_remote_exception(failure, known_modules)

    def check(self, expected, error):
        self.assertEqual(expected, exception.shown(error))

    def test_text(self):
        self.check('full', 'full')

    def test_error_of_the_host(self):
        self.check('full', _NovaException(reason='full'))
        self.check('gone', _NovaException('gone'))

    def test_error_of_the_host_that_quotes_another(self):
        self.check('OSError', _NovaException(reason=OSError('/secret')))

    def test_error_of_ours(self):
        self.check(
            'the compute service on host2 does not carry nova-xcell',
            exception.PeerWithoutPlugin(host='host2'),
        )

    def test_any_other(self):
        self.check('OSError', OSError('/secret'))

    def test_over_rpc(self):
        self.check(
            'full', self.over_rpc(_NovaException(reason='full'), __name__)
        )
        self.check('OSError', self.over_rpc(OSError('/secret')))

    def test_unknown_class_over_rpc(self):
        error = self.over_rpc(_NovaException('/secret'))
        self.assertIsInstance(error, messaging.RemoteError)
        self.check('_NovaException', error)

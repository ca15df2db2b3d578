# SPDX-License-Identifier: Apache-2.0
"""What is shown of errors, and to whom."""

import unittest

import oslo_messaging as messaging

from nova_xcell import exception
from tests.unit import remote_errors


class TestShown(unittest.TestCase):
    """What may have addresses, paths or commands in it is left out."""

    def check(self, expected, error):
        self.assertEqual(expected, exception.shown(error))

    def test_text(self):
        self.check('full', 'full')

    def test_error_of_the_host(self):
        self.check('full', remote_errors.NovaException(reason='full'))
        self.check('gone', remote_errors.NovaException('gone'))

    def test_error_of_the_host_that_quotes_another(self):
        self.check(
            'OSError', remote_errors.NovaException(reason=OSError('/secret'))
        )

    def test_error_of_ours(self):
        self.check(
            'the compute service on host2 does not carry nova-xcell',
            exception.PeerWithoutPlugin(host='host2'),
        )

    def test_any_other(self):
        self.check('OSError', OSError('/secret'))

    def test_over_rpc(self):
        self.check(
            'full',
            remote_errors.over_rpc(
                remote_errors.NovaException(reason='full'),
                remote_errors.__name__,
            ),
        )
        self.check('OSError', remote_errors.over_rpc(OSError('/secret')))

    def test_unknown_class_over_rpc(self):
        error = remote_errors.over_rpc(remote_errors.NovaException('/secret'))
        self.assertIsInstance(error, messaging.RemoteError)
        self.check('NovaException', error)

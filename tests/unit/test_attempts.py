# SPDX-License-Identifier: Apache-2.0
"""What is remembered of hosts that failed (XC-09, XC-19)."""

import unittest

import oslo_messaging as messaging

from nova_xcell.tasks import attempts
from tests.unit import remote_errors


class TestSummary(unittest.TestCase):
    def test_every_reason_is_told(self):
        tried = attempts.Attempts()
        tried.failed(
            'host2', remote_errors.NovaException(reason='The host is full.')
        )
        tried.failed('host3', 'no path')
        self.assertEqual(
            'No host. Tried: host2: The host is full; host3: no path.',
            tried.summary('No host'),
        )

    def test_words_that_are_not_for_users(self):
        """The summary becomes a fault, which the owner of a server sees."""
        tried = attempts.Attempts()
        tried.failed('host2', OSError('mount of 10.0.0.5:/secret failed'))
        self.assertEqual(
            'No host. Tried: host2: OSError.', tried.summary('No host')
        )


class TestReasonOf(unittest.TestCase):
    def test_text(self):
        self.assertEqual('full', attempts.reason_of('full'))

    def test_reason_without_the_words_around_it(self):
        self.assertEqual(
            'full',
            attempts.reason_of(remote_errors.NovaException(reason='full')),
        )

    def test_error_without_a_reason(self):
        self.assertEqual(
            'gone', attempts.reason_of(remote_errors.NovaException('gone'))
        )

    def test_error_without_a_text(self):
        self.assertEqual('KeyError', attempts.reason_of(KeyError()))

    def test_over_rpc(self):
        error = remote_errors.over_rpc(
            remote_errors.NovaException(reason='full'), remote_errors.__name__
        )
        self.assertIn('Traceback', str(error))
        self.assertEqual('full', attempts.reason_of(error))

    def test_error_of_an_unknown_class_over_rpc(self):
        error = remote_errors.over_rpc(remote_errors.NovaException('no path'))
        self.assertIsInstance(error, messaging.RemoteError)
        self.assertEqual('NovaException: no path', attempts.reason_of(error))

    def test_builtin_error_over_rpc(self):
        self.assertEqual(
            'no path',
            attempts.reason_of(remote_errors.over_rpc(OSError('no path'))),
        )


class TestOutcomeUnknown(unittest.TestCase):
    def raised_from(self, cause):
        try:
            try:
                raise cause
            except Exception:
                raise ValueError()
        except ValueError as exc:
            return exc

    def test_timeout(self):
        self.assertTrue(attempts.outcome_unknown(messaging.MessagingTimeout()))

    def test_timeout_turned_into_another_error(self):
        self.assertTrue(
            attempts.outcome_unknown(
                self.raised_from(messaging.MessagingTimeout())
            )
        )

    def test_lost_message(self):
        self.assertTrue(
            attempts.outcome_unknown(
                self.raised_from(messaging.MessageDeliveryFailure())
            )
        )

    def test_remote_error_is_an_answer(self):
        self.assertFalse(
            attempts.outcome_unknown(
                self.raised_from(messaging.RemoteError('KeyError', 'x'))
            )
        )

    def test_never_asked(self):
        self.assertFalse(attempts.outcome_unknown(ValueError()))

    def test_ring_of_causes(self):
        one, two = ValueError(), ValueError()
        one.__cause__, two.__cause__ = two, one
        self.assertFalse(attempts.outcome_unknown(one))

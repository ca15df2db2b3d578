# SPDX-License-Identifier: Apache-2.0
"""What is remembered of hosts that failed (XC-09, XC-19)."""

import unittest

import oslo_messaging as messaging

from nova_xcell.tasks import attempts


class TestSummary(unittest.TestCase):

    def test_every_reason_is_told(self):
        tried = attempts.Attempts()
        tried.failed('host2', ValueError('The host is full.'))
        tried.failed('host3', 'no path')
        self.assertEqual(
            'No host. Tried: host2: The host is full; host3: no path.',
            tried.summary('No host'))


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
        self.assertTrue(attempts.outcome_unknown(
            messaging.MessagingTimeout()))

    def test_timeout_turned_into_another_error(self):
        self.assertTrue(attempts.outcome_unknown(
            self.raised_from(messaging.MessagingTimeout())))

    def test_lost_message(self):
        self.assertTrue(attempts.outcome_unknown(
            self.raised_from(messaging.MessageDeliveryFailure())))

    def test_remote_error_is_an_answer(self):
        self.assertFalse(attempts.outcome_unknown(
            self.raised_from(messaging.RemoteError('KeyError', 'x'))))

    def test_never_asked(self):
        self.assertFalse(attempts.outcome_unknown(ValueError()))

    def test_ring_of_causes(self):
        one, two = ValueError(), ValueError()
        one.__cause__, two.__cause__ = two, one
        self.assertFalse(attempts.outcome_unknown(one))

# SPDX-License-Identifier: Apache-2.0
"""POST /reshaper of Placement, and ours in its place (RP-04, RP-10)."""

from __future__ import annotations

import collections
import os
import random
import tempfile
import unittest

from tests.embedded import placement_api
from tests.embedded import reshape_requests

#: How many made-up contents of Placement are reshaped, three times each.
WORLDS = int(os.environ.get('NOVA_XCELL_TEST_RESHAPES', 60))


class Both(unittest.TestCase):
    """The host's handler and ours, each with a database of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.databases = cls.make_databases()
        cls.plain, cls.ours = (
            placement_api.Application(list(cls.databases), is_plain)
            for is_plain in (True, False)
        )
        cls.class_ids = cls.databases[0].ids('resource_classes')

    @classmethod
    def make_databases(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        return tuple(
            placement_api.Database('sqlite:///%s/%s' % (folder, name))
            for name in ('host', 'ours')
        )

    def setUp(self):
        super().setUp()
        self.maxDiff = 2000
        with self.ours.armed():
            # Else the host would be compared with itself.
            self.assertTrue(self.ours.has_ours)

    def fill(self, tables):
        for database in self.databases:
            database.fill(tables)

    def send(self, request):
        """Send a request to both.

        :returns: the answers, and how many statements each took
        """
        answers = []
        for application, database in zip(
            (self.plain, self.ours), self.databases, strict=True
        ):
            with (
                application.armed(),
                database.used(),
                placement_api.statements(database.engine) as statements,
            ):
                answer = application.request(
                    'POST',
                    '/reshaper',
                    request.version,
                    request.body,
                    request.roles,
                )
            answers.append((answer, len(statements)))
        return answers

    def compare(self, request):
        """Send a request to both; answers and rows have to be the same.

        :returns: the answer, and how many statements each took
        """
        (host, host_sent), (ours, ours_sent) = self.send(request)
        self.assertEqual(described(host), described(ours))
        before, after = (each.rows() for each in self.databases)
        for name in before:
            self.assertEqual(before[name], after[name], name)
        return ours, host_sent, ours_sent


def described(answer):
    """Return what of an answer has to be the same."""
    body = answer.json if answer.content_type == 'application/json' else None
    for error in (body or {}).get('errors', ()):
        error.pop('request_id')
    return {
        'status': answer.status,
        'headers': {
            name: value
            for name, value in answer.headers.items()
            if name.lower() not in ('x-openstack-request-id', 'content-length')
        },
        'body': body if body is not None else answer.text,
    }


class TestMadeUp(Both):
    """RP-04: what the host answers and does, for requests of all kinds."""

    def test_same_as_the_host(self):
        outcomes = collections.Counter()
        for seed in range(WORLDS):
            rng = random.Random(seed)
            world = reshape_requests.world(rng, self.class_ids)
            self.fill(world.tables)
            for number in range(3):
                request = reshape_requests.request(
                    rng, self.databases[0].rows()
                )
                with self.subTest(seed=seed, number=number):
                    answer, _host, _ours = self.compare(request)
                    outcomes[outcome(answer)] += 1
        if WORLDS >= 60:
            for expected in EXPECTED:
                self.assertIn(expected, outcomes)
            self.assertGreater(outcomes['204'], WORLDS // 2)


def outcome(answer):
    """Return the kind of an answer, for the count of what was tried."""
    if answer.status_int == 204:
        return '204'
    error = answer.json['errors'][0]
    return '%d %s' % (
        answer.status_int,
        error.get('code', '').rpartition('.')[2],
    )


#: What the made-up requests have to be answered with, once at least.
EXPECTED = (
    '204',
    '400 undefined_code',
    '400 not_found',
    '403 undefined_code',
    '404 undefined_code',
    '409 concurrent_update',
    '409 inuse',
    '409 undefined_code',
)

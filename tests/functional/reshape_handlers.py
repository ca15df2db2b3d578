# SPDX-License-Identifier: Apache-2.0
"""Both handlers of POST /reshaper, for tests that compare them."""

from __future__ import annotations

import copy
import tempfile
import unittest

from tests.embedded import placement_api

PROVIDER = {
    'id': 1,
    'uuid': '7f3a9c0e-52d1-4b86-9e0f-1c8d5a2b6e01',
    'name': 'host',
    'generation': 0,
    'root_provider_id': 1,
}

#: A request that gives it an inventory.
NEW = {
    'inventories': {
        PROVIDER['uuid']: {
            'resource_provider_generation': 0,
            'inventories': {'VCPU': {'total': 64, 'max_unit': 64}},
        }
    },
    'allocations': {},
}


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


def with_consumers(count):
    """Return :data:`NEW` with servers that are new."""
    body = copy.deepcopy(NEW)
    for number in range(count):
        body['allocations']['7f3a9c0e-52d1-4b86-9e0f-%012d' % number] = {
            'project_id': 'demo',
            'user_id': 'alice',
            'consumer_generation': None,
            'allocations': {PROVIDER['uuid']: {'resources': {'VCPU': 1}}},
        }
    return body

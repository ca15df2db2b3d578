# SPDX-License-Identifier: Apache-2.0
"""POST /reshaper of Placement, and ours in its place (RP-04, RP-10)."""

from __future__ import annotations

import collections
import copy
import os
import random
import tempfile
import unittest
from unittest import mock

from oslo_db import exception as db_exc
import sqlalchemy as sa

from nova_xcell.placement import decisions
from tests.benchmarks import mariadb
from tests.benchmarks import postgresql
from tests.embedded import placement_api
from tests.embedded import reshape_requests

#: How many made-up contents of Placement are reshaped, three times each.
WORLDS = int(os.environ.get('NOVA_XCELL_TEST_RESHAPES', 60))


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


class MadeUp:
    """RP-04: what the host answers and does, for requests of all kinds."""

    worlds = WORLDS

    def test_same_as_the_host(self):
        outcomes = collections.Counter()
        for seed in range(self.worlds):
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
        self.assertGreater(outcomes['204'], self.worlds // 2)
        if self.worlds >= 60:
            for expected in EXPECTED:
                self.assertIn(expected, outcomes)


class TestSQLite(MadeUp, Both):
    pass


class TestMariaDB(MadeUp, Both):
    worlds = WORLDS // 6

    @classmethod
    def make_databases(cls):
        missing = mariadb.why_not()
        if missing:
            raise unittest.SkipTest(missing)
        socket = cls.enterClassContext(mariadb.server())
        return tuple(
            placement_api.Database(mariadb.url(socket, name))
            for name in ('host', 'ours')
        )

    def test_gaps_are_not_locked(self):
        """RP-10: other hosts write while a reshape is in progress."""
        self.assertEqual(
            'READ-COMMITTED', self.isolation_of(self.ours, self.databases[1])
        )
        # The next user of the connection finds it as it was.
        with self.databases[1].engine.connect() as connection:
            self.assertEqual(
                'REPEATABLE-READ',
                connection.scalar(sa.text('SELECT @@tx_isolation')),
            )

    def isolation_of(self, application, database):
        """Return the isolation level of the transaction of a reshape."""
        self.fill({'resource_providers': [PROVIDER]})
        levels = []

        def look(conn, cursor, statement, *rest):
            if statement.startswith('UPDATE resource_providers'):
                cursor.execute('SELECT @@tx_isolation')
                levels.append(cursor.fetchone()[0])

        sa.event.listen(database.engine, 'before_cursor_execute', look)
        self.addCleanup(
            sa.event.remove, database.engine, 'before_cursor_execute', look
        )
        with application.armed(), database.used():
            answer = application.request('POST', '/reshaper', '1.30', NEW)
        self.assertEqual(204, answer.status_int, answer.text)
        return levels[0]


class TestPostgreSQL(MadeUp, Both):
    worlds = WORLDS // 6

    @classmethod
    def make_databases(cls):
        missing = postgresql.why_not()
        if missing:
            raise unittest.SkipTest(missing)
        folder = cls.enterClassContext(postgresql.server())
        return tuple(
            placement_api.Database(postgresql.url(folder, name))
            for name in ('host', 'ours')
        )


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


class TestChunks(Both):
    """RP-10: statements grow by chunk, not by consumer."""

    def setUp(self):
        super().setUp()
        self.fill({'resource_providers': [PROVIDER]})

    def sent(self, count):
        self.fill({'resource_providers': [PROVIDER]})
        request = reshape_requests.Request('1.30', with_consumers(count))
        answer, host, ours = self.compare(request)
        self.assertEqual(204, answer.status_int)
        return host, ours

    def test_statements(self):
        (host_few, ours_few), (host_many, ours_many) = map(self.sent, (2, 12))
        self.assertGreater(host_many, host_few + 50)
        self.assertEqual(ours_few, ours_many)

    def test_several_chunks(self):
        with mock.patch.object(
            decisions.chunks, '__defaults__', (decisions.CHUNK // 250,)
        ):
            self.sent(11)
            body = with_consumers(11)
            body['inventories'][PROVIDER['uuid']][
                'resource_provider_generation'
            ] = 3
            for number, each in enumerate(body['allocations'].values()):
                each['consumer_generation'] = 1
                each['user_id'] = 'user%d' % number
                if number % 2:
                    each['allocations'] = {}
            answer, _host, _ours = self.compare(
                reshape_requests.Request('1.30', body)
            )
        self.assertEqual(204, answer.status_int)


class TestLostRaces(Both):
    """RP-04: who is slower is told so, and nothing has changed."""

    def setUp(self):
        super().setUp()
        self.fill({'resource_providers': [PROVIDER]})

    def changed_meanwhile(self, before, statement):
        """Let another request write just before a function of ours runs.

        :param before: path of the function
        :param statement: what is written
        """
        database = self.databases[1]
        module, name = before.rsplit('.', 1)
        function = getattr(__import__(module, fromlist=[name]), name)

        def changed(*args, **kwargs):
            # SQLite has one writer, so it is in the same transaction.
            args[0].session.execute(sa.text(statement))
            return function(*args, **kwargs)

        with (
            mock.patch(before, autospec=True, side_effect=changed),
            self.ours.armed(),
            database.used(),
        ):
            return self.ours.request(
                'POST', '/reshaper', '1.30', with_consumers(2)
            )

    def assert_conflict(self, answer):
        self.assertEqual(409, answer.status_int, answer.text)
        self.assertEqual(
            'placement.concurrent_update', answer.json['errors'][0]['code']
        )
        rows = self.databases[1].rows()
        for name in ('consumers', 'allocations', 'inventories'):
            self.assertEqual([], rows[name])
        self.assertEqual(0, rows['resource_providers'][0]['generation'])

    def test_provider(self):
        self.assert_conflict(
            self.changed_meanwhile(
                'nova_xcell.placement.transaction.begin',
                'UPDATE resource_providers SET generation = 4',
            )
        )

    def test_consumer(self):
        self.assert_conflict(
            self.changed_meanwhile(
                'nova_xcell.placement.transaction.begin',
                'UPDATE consumers SET generation = 4',
            )
        )

    def test_deadlock(self):
        with mock.patch(
            'nova_xcell.placement.usage.check',
            autospec=True,
            side_effect=db_exc.DBDeadlock(),
        ):
            with self.ours.armed(), self.databases[1].used():
                answer = self.ours.request(
                    'POST', '/reshaper', '1.30', with_consumers(2)
                )
        self.assert_conflict(answer)

    def test_deadlock_at_the_commit(self):
        """That is where Galera finds that another server was faster."""
        database = self.databases[1]

        def lose(connection):
            raise db_exc.DBDeadlock()

        sa.event.listen(database.engine, 'commit', lose)
        try:
            with self.ours.armed(), database.used():
                answer = self.ours.request('POST', '/reshaper', '1.30', NEW)
        finally:
            sa.event.remove(database.engine, 'commit', lose)
        self.assert_conflict(answer)

    def test_new_consumer_was_there_first(self):
        """The host goes on with it, whoever made it."""
        with mock.patch(
            'nova_xcell.placement.consumers.create',
            autospec=True,
            side_effect=db_exc.DBDuplicateEntry(),
        ):
            answer, _host, _ours = self.compare(
                reshape_requests.Request('1.30', with_consumers(2))
            )
        self.assertEqual(204, answer.status_int)

    def test_new_project_was_there_first(self):
        with mock.patch(
            'nova_xcell.placement.owners._create',
            autospec=True,
            side_effect=db_exc.DBDuplicateEntry(),
        ):
            answer, _host, _ours = self.compare(
                reshape_requests.Request('1.30', with_consumers(2))
            )
        self.assertEqual(204, answer.status_int)

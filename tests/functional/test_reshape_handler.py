# SPDX-License-Identifier: Apache-2.0
"""Made-up requests to POST /reshaper, for the host and for us (RP-04)."""

from __future__ import annotations

import collections
import os
import random
import unittest

import sqlalchemy as sa

from tests.benchmarks import mariadb
from tests.benchmarks import postgresql
from tests.embedded import placement_api
from tests.embedded import reshape_requests
from tests.embedded import reshape_worlds
from tests.functional import reshape_handlers

#: How many made-up contents of Placement are reshaped, three times each.
WORLDS = int(os.environ.get('NOVA_XCELL_TEST_RESHAPES', 60))


class MadeUp:
    """RP-04: what the host answers and does, for requests of all kinds."""

    worlds = WORLDS

    def test_same_as_the_host(self):
        outcomes = collections.Counter()
        for seed in range(self.worlds):
            rng = random.Random(seed)
            world = reshape_worlds.world(rng, self.class_ids)
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


class TestSQLite(MadeUp, reshape_handlers.Both):
    pass


class OnServer(MadeUp):
    """On a server that is started for the test, if it is installed.

    :cvar server: the module that knows how
    """

    worlds = WORLDS // 6
    server = None

    @classmethod
    def make_databases(cls):
        missing = cls.server.why_not()
        if missing:
            raise unittest.SkipTest(missing)
        place = cls.enterClassContext(cls.server.server())
        return tuple(
            placement_api.Database(cls.server.url(place, name))
            for name in ('host', 'ours')
        )


class TestMariaDB(OnServer, reshape_handlers.Both):
    server = mariadb

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
        self.fill({'resource_providers': [reshape_handlers.PROVIDER]})
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
            answer = application.request(
                'POST', '/reshaper', '1.30', reshape_handlers.NEW
            )
        self.assertEqual(204, answer.status_int, answer.text)
        return levels[0]


class TestPostgreSQL(OnServer, reshape_handlers.Both):
    server = postgresql


class TestStoredOnFailure(reshape_handlers.Both):
    """What the host stores before it finds something wrong."""

    def setUp(self):
        super().setUp()
        self.fill({'resource_providers': [reshape_handlers.PROVIDER]})

    def names(self, table, column):
        return [row[column] for row in self.databases[1].rows()[table]]

    def test_nothing_of_what_comes_after_a_conflict(self):
        body = reshape_handlers.with_consumers(3)
        for number, each in enumerate(body['allocations'].values()):
            each['project_id'] = 'project%d' % number
            each['consumer_type'] = 'TYPE%d' % number
        list(body['allocations'].values())[1]['consumer_generation'] = 7
        answer, _host, _ours = self.compare(
            reshape_requests.Request('1.38', body)
        )
        self.assertEqual(409, answer.status_int)
        self.assertEqual(
            ['project0', 'project1'], self.names('projects', 'external_id')
        )
        self.assertEqual(['TYPE0'], self.names('consumer_types', 'name'))
        self.assertEqual([], self.names('consumers', 'uuid'))

    def test_consumers_if_a_provider_is_missing(self):
        """The host has no way back from there."""
        body = reshape_handlers.with_consumers(2)
        for each in body['allocations'].values():
            each['allocations'] = {
                '7f3a9c0e-52d1-4b86-9e0f-1c8d5a2b6eff': {
                    'resources': {'VCPU': 1}
                }
            }
        answer, _host, _ours = self.compare(
            reshape_requests.Request('1.30', body)
        )
        self.assertEqual(400, answer.status_int)
        self.assertEqual(2, len(self.names('consumers', 'uuid')))


class TestConsumers(reshape_handlers.Both):
    def test_type_is_left_alone_before_1_38(self):
        self.fill({'resource_providers': [reshape_handlers.PROVIDER]})
        body = reshape_handlers.with_consumers(2)
        for each in body['allocations'].values():
            each['consumer_type'] = 'INSTANCE'
        self.assertEqual(204, self.send_to_both('1.38', body))
        for each in body['allocations'].values():
            del each['consumer_type']
            each['consumer_generation'] = 1
        self.assertEqual(204, self.send_to_both('1.37', body))
        self.assertEqual(
            {'INSTANCE'},
            {
                row['consumer_type_id']
                for row in self.databases[1].rows()['consumers']
            },
        )

    def send_to_both(self, version, body):
        for each in body['inventories'].values():
            (row,) = self.databases[1].rows()['resource_providers']
            each['resource_provider_generation'] = row['generation']
        answer, _host, _ours = self.compare(
            reshape_requests.Request(version, body)
        )
        return answer.status_int


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

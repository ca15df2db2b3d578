# SPDX-License-Identifier: Apache-2.0
"""POST /reshaper with many servers, and with others beside it."""

from __future__ import annotations

from unittest import mock

from oslo_db import exception as db_exc
import sqlalchemy as sa

from nova_xcell.placement import decisions
from tests.embedded import reshape_requests
from tests.functional import reshape_handlers


class TestChunks(reshape_handlers.Both):
    """RP-10: statements grow by chunk, not by consumer."""

    def setUp(self):
        super().setUp()
        self.fill({'resource_providers': [reshape_handlers.PROVIDER]})

    def sent(self, count):
        self.fill({'resource_providers': [reshape_handlers.PROVIDER]})
        request = reshape_requests.Request(
            '1.30', reshape_handlers.with_consumers(count)
        )
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
            body = reshape_handlers.with_consumers(11)
            body['inventories'][reshape_handlers.PROVIDER['uuid']][
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


class TestLostRaces(reshape_handlers.Both):
    """RP-04: who is slower is told so, and nothing has changed."""

    def setUp(self):
        super().setUp()
        self.fill({'resource_providers': [reshape_handlers.PROVIDER]})

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
                'POST', '/reshaper', '1.30', reshape_handlers.with_consumers(2)
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
                    'POST',
                    '/reshaper',
                    '1.30',
                    reshape_handlers.with_consumers(2),
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
                answer = self.ours.request(
                    'POST', '/reshaper', '1.30', reshape_handlers.NEW
                )
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
                reshape_requests.Request(
                    '1.30', reshape_handlers.with_consumers(2)
                )
            )
        self.assertEqual(204, answer.status_int)

    def test_new_project_was_there_first(self):
        with mock.patch(
            'nova_xcell.placement.owners._create',
            autospec=True,
            side_effect=db_exc.DBDuplicateEntry(),
        ):
            answer, _host, _ours = self.compare(
                reshape_requests.Request(
                    '1.30', reshape_handlers.with_consumers(2)
                )
            )
        self.assertEqual(204, answer.status_int)

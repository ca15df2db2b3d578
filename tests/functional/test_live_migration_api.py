# SPDX-License-Identifier: Apache-2.0
"""A live migration is followed from its request to its end (LM-01 ... 06)."""

import fixtures
from oslo_utils.fixture import uuidsentinel as uuids

from nova import exception
from nova.conductor import rpcapi
from nova.conductor.tasks import live_migrate

from nova_xcell.policies import live_migration as policies
from tests.functional import live_migrations
from tests.functional.live_migrations import KEYS
from tests.functional.live_migrations import MORE
from tests.functional.live_migrations import POST_COPY


class TestLocation(live_migrations.LiveMigrationTest):
    """LM-04: the Location resolves at every stage."""

    def test_from_acceptance_to_the_end(self):
        driver = self.computes['host1'].manager.driver
        with self.held(driver, 'live_migration') as running:
            with self.held(self.conductor(), '_live_migrate'):
                answer = self.ask(host=None, block_migration='auto')
                self.assertEqual(202, answer.status)
                self.assertEqual(b'', answer.content)
                path = self.path_of(answer)
                seen = self.get(path)
                self.assertEqual('accepted', seen['status'])
                self.assertIsNone(seen['reason'])
                by_uuid = path.rsplit('/', 1)[0] + '/' + seen['uuid']
                self.assertEqual(seen, self.get(by_uuid))
            self.assertTrue(running.wait(60))
            self.assertEqual('running', self.get(path)['status'])
            self.assertEqual('running', self.get(by_uuid)['status'])
            self.set_row(seen['id'], status=POST_COPY)
            self.assertEqual(POST_COPY, self.get(path)['status'])
        end = self.wait_for_end(path)
        self.assertEqual(seen['id'], end['id'])
        self.assertEqual('host2', end['dest_compute'])
        self.assertEqual('host1', end['source_compute'])
        self.assertEqual(end, self.get(by_uuid))
        # The one that was accepted is the one that was done.
        (row,) = self.rows()
        self.assertFalse(row.hidden)
        (listed,) = self.api.api_get('/os-migrations').body['migrations']
        self.assertEqual(seen['uuid'], listed['uuid'])

    def test_before_2_34(self):
        """The record is taken over when nova-api waits, too."""
        answer = self.ask(
            microversion='2.30', host='host2', block_migration='auto'
        )
        path = self.path_of(answer)
        self.assertEqual('host2', self.wait_for_end(path)['dest_compute'])
        (row,) = self.rows()
        self.assertEqual(row.id, int(path.rsplit('/', 1)[1]))

    def test_every_microversion(self):
        """It resolves where it was answered. No key is new but at the
        latest."""
        answer = self.ask(
            microversion='2.1',
            host='host2',
            block_migration=False,
            disk_over_commit=False,
        )
        path = self.path_of(answer)
        self.wait_for_end(path)
        for microversion, keys in (
            ('2.1', KEYS),
            ('2.23', KEYS),
            ('2.58', KEYS),
            ('2.59', KEYS | {'uuid'}),
            ('2.80', KEYS | {'uuid', 'user_id', 'project_id'}),
            ('2.100', None),
            ('latest', KEYS | {'uuid', 'user_id', 'project_id'} | MORE),
        ):
            with self.subTest(microversion):
                seen = self.get(path, microversion)
                self.assertEqual('completed', seen['status'])
                if keys:
                    self.assertEqual(keys, set(seen))

    def test_what_is_not_there(self):
        """Bad input: clear answers, and nothing of other servers."""
        answer = self.ask(host=None, block_migration='auto')
        path = self.path_of(answer)
        uuid = self.wait_for_end(path)['uuid']
        other = self.create_server(name='other', port=False)
        mine = '/servers/%s/migrations/' % self.server['id']
        theirs = '/servers/%s/migrations/' % other['id']
        for bad in (
            theirs + uuid,
            theirs + path.rsplit('/', 1)[1],
            mine + uuids.unknown,
            mine + '4711',
            mine + '-1',
            mine + 'latest',
            mine + '%C2%B2',
            '/servers/%s/migrations/1' % uuids.server,
        ):
            for microversion in ('2.23', 'latest'):
                with self.subTest(bad, microversion=microversion):
                    self.assertEqual(
                        404, self.status_of_get(bad, microversion)
                    )
        cold = self.resize(self.server, host='host1')
        self.assertEqual('VERIFY_RESIZE', cold['status'])
        for row in self.rows():
            if row.migration_type == 'migration':
                self.assertEqual(404, self.status_of_get(mine + row.uuid))
                self.assertEqual(404, self.status_of_get(mine + str(row.id)))

    def test_policy(self):
        """Who may not see a migration in progress sees none at its end."""
        path = self.path_of(self.ask(host=None, block_migration='auto'))
        self.wait_for_end(path)
        rule = 'os_compute_api:servers:migrations:show'
        self.policy.set_rules({rule: '!'}, overwrite=False)
        for microversion in ('2.1', '2.23', 'latest'):
            self.assertEqual(403, self.status_of_get(path, microversion))
        self.policy.set_rules(
            {rule: '@', policies.SHOW_FLAGS: '!'}, overwrite=False
        )
        self.assertNotIn('flags', self.get(path))


class TestPostCopy(live_migrations.LiveMigrationTest):
    def test_listed_as_in_progress(self):
        """B5: the host forgets a migration that enters post-copy."""
        driver = self.computes['host1'].manager.driver
        with self.held(driver, 'live_migration') as reached:
            path = self.path_of(self.ask(host=None, block_migration='auto'))
            self.assertTrue(reached.wait(60))
            migration_id = self.get(path)['id']
            self.assertEqual(
                [migration_id], [seen['id'] for seen in self.listed()]
            )
            self.set_row(migration_id, status=POST_COPY)
            for microversion in ('2.23', '2.59', 'latest'):
                (seen,) = self.listed(microversion)
                self.assertEqual(migration_id, seen['id'])
                self.assertEqual(POST_COPY, seen['status'])
                with self.at(microversion):
                    (seen,) = self.api.api_get('/os-migrations').body[
                        'migrations'
                    ]
                self.assertTrue(seen['links'][0]['href'].endswith(path))
        self.wait_for_end(path)
        self.assertEqual([], self.listed())
        (seen,) = self.api.api_get('/os-migrations').body['migrations']
        self.assertNotIn('links', seen)


class TestReason(live_migrations.LiveMigrationTest):
    """LM-01, LM-04, C4: why it failed is told where it is followed."""

    def setUp(self):
        super().setUp()
        self.refuse_on(
            'host2', exception.MigrationPreCheckError(reason='no more room')
        )

    def test_named_host(self):
        path = self.path_of(self.ask(host='host2', block_migration=True))
        seen = self.wait_for_end(path, 'error')
        self.assertIn('no more room', seen['reason'])
        self.assertIn('host2', seen['reason'])
        self.assertNotIn('reason', self.get(path, '2.80'))
        self.policy.set_rules(
            {'os_compute_api:os-instance-actions:events:details': '!'},
            overwrite=False,
        )
        self.assertIsNone(self.get(path)['reason'])

    def test_next_host(self):
        """LM-05: a host that cannot do it is skipped for the next one, and a
        migration that went well has no reason to have failed."""
        self.start_host('host4', 'cell1')
        path = self.path_of(self.ask())
        seen = self.wait_for_end(path)
        self.assertEqual('host4', seen['dest_compute'])
        self.assertIsNone(seen['reason'])

    def test_forced_host_before_2_34(self):
        """LM-05: a named host is refused with 400, without a Location."""
        status, text = self.ask_and_fail(
            microversion='2.30',
            host='host2',
            force=True,
            block_migration=True,
        )
        self.assertEqual(400, status)
        self.assertIn('no more room', text)
        (row,) = self.rows()
        self.assertEqual(('error', False), (row.status, row.hidden))
        path = '/servers/%s/migrations/%d' % (self.server['id'], row.id)
        self.assertIn('no more room', self.get(path)['reason'])

    def test_two_migrations(self):
        """Each has its own reason."""
        first = self.path_of(self.ask(host='host2', block_migration=True))
        self.wait_for_end(first, 'error')
        self.computes[
            'host2'
        ].manager.driver.check_can_live_migrate_source = None
        self.refuse_on(
            'host2', exception.MigrationPreCheckError(reason='too hot')
        )
        second = self.path_of(self.ask(host='host2', block_migration=True))
        self.assertIn('too hot', self.wait_for_end(second, 'error')['reason'])
        reason = self.get(first)['reason']
        self.assertIn('no more room', reason)
        self.assertNotIn('too hot', reason)


class TestRequest(live_migrations.LiveMigrationTest):
    """LM-03: host and block_migration may be left out."""

    def test_left_out(self):
        for microversion in ('2.25', '2.30', 'latest'):
            with self.subTest(microversion):
                path = self.path_of(self.ask(microversion=microversion))
                self.wait_for_end(path)
        for wanted in (
            {'host': 'host1'},
            {'host': None},
            {'block_migration': False},
        ):
            with self.subTest(wanted):
                self.wait_for_end(self.path_of(self.ask(**wanted)))

    def test_refused_as_before(self):
        for wanted in (
            {'microversion': '2.1'},
            {'microversion': '2.24', 'block_migration': False},
            {'disk_over_commit': True},
            {'microversion': '2.24', 'block_migration': 'auto', 'host': None},
            {'block_migration': None},
            {'block_migration': 'maybe'},
            {'host': 5},
            {'host': ''},
            {'force': True},
            {'microversion': '2.30', 'force': True},
            {'more': 1},
        ):
            with self.subTest(wanted):
                self.assertEqual(400, self.ask_and_fail(**wanted)[0])
        for body in (None, [], 'auto'):
            with self.subTest(body):
                self.assertEqual(
                    400,
                    self.api.api_post(
                        '/servers/%s/action' % self.server['id'],
                        {'os-migrateLive': body},
                        check_response_status=[400],
                    ).status,
                )
        self.assertEqual([], self.rows())

    def test_host_of_another_cell(self):
        """C13: the host says that there is no such host."""
        for microversion in ('2.25', 'latest'):
            status, text = self.ask_and_fail(
                microversion=microversion, host='host3', block_migration='auto'
            )
            self.assertEqual(400, status)
            self.assertIn('host3 is in another cell', text)
        status, text = self.ask_and_fail(host='host9', block_migration='auto')
        self.assertEqual(400, status)
        self.assertIn('host9 could not be found', text)
        self.assertEqual([], self.rows())
        server = self.api.get_server(self.server['id'])
        self.assertIsNone(server['OS-EXT-STS:task_state'])

    def test_state(self):
        """What the host refuses leaves no record."""
        self._stop_server(self.server)
        self.assertEqual(409, self.ask_and_fail()[0])
        self.assertEqual([], self.rows())


class TestMode(live_migrations.LiveMigrationTest):
    """LM-04: whether it became a block migration is told."""

    def test_asked_for(self):
        for block_migration in (True, False):
            path = self.path_of(self.ask(block_migration=block_migration))
            seen = self.wait_for_end(path)
            self.assertIs(block_migration, seen['block_migration'])

    def test_found_by_the_hosts(self):
        """LM-01: it is what the hosts have found, not what was asked for."""
        for host in ('host1', 'host2'):
            driver = self.computes[host].manager.driver
            original = driver.check_can_live_migrate_source

            def check(context, instance, data, info=None, host=original):
                data = host(context, instance, data, info)
                data.block_migration = True
                return data

            driver.check_can_live_migrate_source = check
        path = self.path_of(self.ask())
        self.assertIs(True, self.wait_for_end(path)['block_migration'])


class TestMixed(live_migrations.LiveMigrationTest):
    """LM-06: the API and the conductors with and without the plug-ins."""

    def make_conductor_plain(self, answers):
        """Take the plug-ins from what conductors do with a request."""
        # Imported here: a plain host has no such modules in the process.
        from nova_xcell.live import checking
        from nova_xcell.live import endpoint
        from nova_xcell.live import task_manager

        self.take(task_manager.LiveMigrations, '_live_migrate')
        self.useFixture(
            fixtures.MockPatchObject(
                live_migrate.LiveMigrationTask,
                '_call_livem_checks_on_host',
                checking._host_checks,
            )
        )
        if not answers:
            self.take(endpoint.LiveMigrationEndpoint, 'takes_migrations')

    def take(self, owner, name):
        self.addCleanup(setattr, owner, name, owner.__dict__[name])
        delattr(owner, name)

    def test_plain_conductor(self):
        """Nothing is left behind, and nothing is promised."""
        self.make_conductor_plain(answers=False)
        answer = self.ask()
        self.assertEqual(202, answer.status)
        self.assertNotIn('location', answer.headers)
        (row,) = self.wait_for_rows(1)
        path = '/servers/%s/migrations/%d' % (self.server['id'], row.id)
        self.assertIsNone(self.wait_for_end(path)['block_migration'])
        self.assertFalse(row.hidden)

    def test_one_conductor_of_many_is_plain(self):
        """It takes the request after another one has said that it knows."""
        self.make_conductor_plain(answers=True)
        with self.held(self.conductor(), '_live_migrate'):
            path = self.path_of(self.ask())
            self.assertEqual('accepted', self.get(path)['status'])
            self.assertEqual([], self.migrations_listed())
        end = self.wait_for_end(path)
        self.assertEqual('host2', end['dest_compute'])
        (handed, made) = self.wait_for_rows(2)
        self.assertEqual(made.id, end['id'])
        self.assertEqual([made.uuid], self.migrations_listed())
        self.assertEqual(
            ('accepted', True, False),
            (handed.status, handed.hidden, made.hidden),
        )
        by_uuid = '/servers/%s/migrations/%s' % (
            self.server['id'],
            handed.uuid,
        )
        self.assertEqual(end, self.get(by_uuid))
        # The next request cannot be taken for what became of this one.
        self.wait_for_end(self.path_of(self.ask()))
        self.assertEqual(handed.id, self.get(path)['id'])
        self.assertEqual('completed', self.get(path)['status'])
        self.assertEqual('host2', self.get(path)['dest_compute'])
        self.assertEqual(2, len(self.migrations_listed()))

    def migrations_listed(self):
        with self.at('latest'):
            return [
                seen['uuid']
                for seen in self.api.api_get('/os-migrations?limit=10').body[
                    'migrations'
                ]
            ]

    def wait_for_rows(self, number):
        def check():
            self.assertEqual(number, len(self.rows()))

        self._wait_for_assert(check, max_retries=100, sleep=0.1)
        return sorted(self.rows(), key=lambda row: row.id)

    def test_hidden_records_do_not_shorten_pages(self):
        """A short page ends the list for the client."""
        visible = self.make_row(status='completed')
        self.make_row(status='accepted', hidden=True)
        with self.at('latest'):
            page = self.api.api_get('/os-migrations?limit=1').body
        self.assertEqual(
            [visible.uuid], [seen['uuid'] for seen in page['migrations']]
        )

    def test_plain_api(self):
        """The conductor makes the record itself, and tells what it knows."""
        from nova_xcell.live import handing

        for name, original in (
            (
                'live_migrate_instance',
                handing._host_live_migrate_instance,
            ),
            ('migrate_server', handing._host_migrate_server),
        ):
            self.useFixture(
                fixtures.MockPatchObject(rpcapi.ComputeTaskAPI, name, original)
            )
        answer = self.ask(block_migration=True)
        self.assertNotIn('location', answer.headers)
        (row,) = self.wait_for_rows(1)
        path = '/servers/%s/migrations/%d' % (self.server['id'], row.id)
        self.assertIs(True, self.wait_for_end(path)['block_migration'])

    def test_lost_request(self):
        """What was not handed over is deleted."""

        def fail(*args, **kwargs):
            raise exception.NovaException('the broker is gone')

        with fixtures.MonkeyPatch(
            'nova_xcell.live.handing._host_live_migrate_instance', fail
        ):
            self.assertEqual(500, self.ask_and_fail()[0])
        self.assertEqual([], self.rows())

    def test_record_that_is_another_servers(self):
        """Nothing is taken over that was not made for the server."""
        made = self.make_row(status='accepted', hidden=True)
        self.set_row(made.id, instance_uuid=self.server['id'])
        other = self.create_server(name='other', port=False)

        def give(self_, context, instance, hint, *args, **kwargs):
            hint = dict(hint, xcell_migration=made.uuid)
            return original(self_, context, instance, hint, *args, **kwargs)

        from nova_xcell.live import handing

        original = handing._host_live_migrate_instance
        self.useFixture(
            fixtures.MockPatchObject(
                rpcapi.ComputeTaskAPI, 'live_migrate_instance', give
            )
        )
        self.ask(other)
        (first, second) = self.wait_for_rows(2)
        self.assertEqual(('accepted', True), (first.status, first.hidden))
        self.assertEqual(other['id'], second.instance_uuid)
        self.wait_for_rest(other)

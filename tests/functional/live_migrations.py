# SPDX-License-Identifier: Apache-2.0
"""Base of tests that live-migrate a server and look at what is told of it."""

import contextlib
import threading

import fixtures

from nova import objects
from nova import utils
from nova.objects import fields
from nova.tests.functional.api import client

from tests.embedded import cloud

POST_COPY = 'running (post-copy)'

#: What is shown of a migration since it can be shown.
KEYS = {
    'created_at',
    'dest_compute',
    'dest_host',
    'dest_node',
    'disk_processed_bytes',
    'disk_remaining_bytes',
    'disk_total_bytes',
    'id',
    'memory_processed_bytes',
    'memory_remaining_bytes',
    'memory_total_bytes',
    'server_uuid',
    'source_compute',
    'source_node',
    'status',
    'updated_at',
}
#: What only the latest microversion shows.
MORE = {'block_migration', 'reason', 'flags'}


class LiveMigrationTest(cloud.TwoCellCloud):
    """A server on host1, which can go to host2; host3 is elsewhere."""

    HOSTS = {'cell1': ('host1', 'host2'), 'cell2': ('host3',)}

    def setUp(self):
        super().setUp()
        self.flags(response_validation='error', group='api')
        self.server = self.create_server(port=False)

    def ask(self, server=None, microversion='latest', **wanted):
        """Ask for a live migration; return the answer."""
        with self.at(microversion):
            return self.api.api_post(
                '/servers/%s/action' % (server or self.server)['id'],
                {'os-migrateLive': wanted},
            )

    def ask_and_fail(self, **wanted):
        """Ask for one that is refused; return the status and the text."""
        error = self.assertRaises(
            client.OpenStackApiException, self.ask, **wanted
        )
        return error.response.status_code, str(error)

    def at(self, microversion):
        return utils.temporary_mutation(self.api, microversion=microversion)

    def path_of(self, answer):
        """Return the path of a Location, as the client of the tests wants."""
        location = answer.headers['location']
        self.assertRegex(location, '^https?://[^/]+/v2.1/')
        return location[location.index('/servers/') :]

    def get(self, path, microversion='latest'):
        with self.at(microversion):
            return self.api.api_get(path).body['migration']

    def status_of_get(self, path, microversion='latest'):
        with self.at(microversion):
            return self.api.api_get(
                path, check_response_status=[200, 403, 404]
            ).status

    def listed(self, microversion='latest'):
        with self.at(microversion):
            return self.api.api_get(
                '/servers/%s/migrations' % self.server['id']
            ).body['migrations']

    def wait_for_end(self, path, status='completed'):
        def check():
            self.assertEqual(status, self.get(path)['status'])

        self._wait_for_assert(check, max_retries=100, sleep=0.1)
        self.wait_for_rest(self.server)
        return self.get(path)

    def rows(self, cell='cell1'):
        """Return the migrations in the database of a cell."""
        with self.context_of(cell) as context:
            return list(objects.MigrationList.get_by_filters(context, {}))

    def set_row(self, migration_id, **values):
        with self.context_of('cell1') as context:
            row = objects.Migration.get_by_id(context, migration_id)
            for name, value in values.items():
                setattr(row, name, value)
            row.save()

    def make_row(self, **values):
        """Make a live migration as the host's nova-conductor does."""
        with self.context_of('cell1') as context:
            row = objects.Migration(
                context=context,
                instance_uuid=self.server['id'],
                source_compute='host1',
                migration_type=fields.MigrationType.LIVE_MIGRATION,
                user_id='admin',
                project_id=self.api.project_id,
                **values,
            )
            row.create()
            return row

    @contextlib.contextmanager
    def held(self, owner, name):
        """Let a method wait when it is called, until the end."""
        go_on, reached = threading.Event(), threading.Event()
        original = getattr(owner, name)

        def wait(*args, **kwargs):
            reached.set()
            go_on.wait(60)
            return original(*args, **kwargs)

        with fixtures.MockPatchObject(owner, name, wait):
            try:
                yield reached
            finally:
                go_on.set()

    def conductor(self):
        return self.conductors[0].manager.compute_task_mgr

    def refuse_on(self, host, error):
        """Let the check of a destination host fail."""

        def refuse(*args, **kwargs):
            raise error

        self.useFixture(
            fixtures.MockPatchObject(
                self.computes[host].manager.driver,
                'check_can_live_migrate_destination',
                refuse,
            )
        )

# SPDX-License-Identifier: Apache-2.0
"""A target cell that has a record of the server already (XC-06)."""

import datetime

from tests.embedded import rows
from tests.functional import dest_hosts


class TestLeftovers(dest_hosts.DestHostsTest):
    """A record of the server that is in the target cell already."""

    def boot_with_leftover(self, **values):
        self.boot()
        with self.context_of('cell1') as context:
            record = rows.of_server(context, self.server['id'])['instances'][0]
        del record['id']
        with self.context_of('cell2') as context:
            rows.write(context, 'instances', {**record, **values})
            self.left = rows.of_server(context, self.server['id'])

    def assert_refused(self, *words):
        self.resize(self.server, host='host2')
        self.assert_reason_is_told(*words)
        self.assertEqual(
            'ACTIVE', self.api.get_server(self.server['id'])['status']
        )
        with self.context_of('cell2') as context:
            self.assertEqual(
                self.left, rows.of_server(context, self.server['id'])
            )

    def test_hidden(self):
        self.boot_with_leftover(hidden=True, host='host9')
        self.assert_refused('a hidden record (id', 'host9')

    def test_soft_deleted(self):
        self.boot_with_leftover(
            deleted=7, deleted_at=datetime.datetime(2026, 1, 1)
        )
        self.assert_refused('a soft-deleted record', 'archive_deleted_rows')

    def test_visible(self):
        self.boot_with_leftover(host='host9')
        self.assert_refused('a visible record', 'host9')

    def test_of_something_else(self):
        """A row that must be the only one of its name."""
        self.boot()
        with self.context_of('cell1') as context:
            (device,) = rows.of_server(context, self.server['id'])[
                'block_device_mapping'
            ]
        del device['id']
        with self.context_of('cell2') as context:
            rows.write(
                context,
                'block_device_mapping',
                {**device, 'instance_uuid': None},
            )
            self.left = {}
        self.assert_refused('a record with the same', 'uuid')

# SPDX-License-Identifier: Apache-2.0
"""Nothing that has to be kept secret is logged, or shown to a user."""

import logging
from unittest import mock

from nova import objects
from nova.objects import instance_action
from nova.tests import fixtures as nova_fixtures

from nova_xcell.tasks import instance_copy
from tests.functional import dest_hosts

PASSWORD = 'the-password-of-the-storage'


class _Log(logging.Handler):
    """Keeps what a service would write to its log, tracebacks too."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        if record.name.startswith('nova_xcell') or (
            record.levelno >= logging.WARNING
        ):
            self.lines.append(self.format(record))


class TestSecrets(dest_hosts.DestHostsTest):
    def setUp(self):
        super().setUp()
        # What Cinder says of an iSCSI volume.
        info = {
            'driver_volume_type': 'iscsi',
            'data': {'auth_username': 'nova', 'auth_password': PASSWORD},
        }
        patcher = mock.patch.dict(
            nova_fixtures.CinderFixture.VOLUME_CONNECTION_INFO, fake=info
        )
        patcher.start()
        self.addCleanup(patcher.stop)
        self.log = _Log()
        root = logging.getLogger()
        root.addHandler(self.log)
        self.addCleanup(root.removeHandler, self.log)

    def assert_is_kept(self, *texts):
        with self.context_of('cell1') as context:
            bdms = objects.BlockDeviceMappingList.get_by_instance_uuid(
                context, self.server['id']
            )
        self.assertTrue(any(PASSWORD in str(b.connection_info) for b in bdms))
        for text in (*texts, *self.log.lines):
            self.assertNotIn(PASSWORD, text)

    def assert_is_logged(self, words):
        self.assertTrue(any(words in line for line in self.log.lines))

    def test_moves(self):
        server = self.boot(volume_backed=True, data_volume=True)
        self.make_volume_unreachable(self.volumes_of(server)[-1], 'host2')
        self.resize(server)
        self.assert_taken_by('host3')
        self.assert_is_logged('cannot take the server')
        self.revert(server)
        self.assert_is_kept()

    def test_copy_that_the_database_refuses(self):
        """What it says quotes the rows, in fault and event as well."""

        def spoil(rows, adapt=instance_copy.adapt):
            adapted = adapt(rows)
            adapted['block_device_mapping'][0]['volume_size'] = {}
            return adapted

        server = self.boot(volume_backed=True)
        with mock.patch.object(instance_copy, 'adapt', spoil):
            self.resize(server)
        self.assert_as_before()
        self.assert_reason_is_told('DBError')
        self.assert_is_logged('INSERT INTO block_device_mapping')
        with self.context_of('cell1') as context:
            fault = objects.InstanceFault.get_latest_for_instance(
                context, server['id']
            )
            (action,) = (
                action
                for action in objects.InstanceActionList.get_by_instance_uuid(
                    context, server['id']
                )
                if action.action == 'resize'
            )
            events = instance_action.InstanceActionEventList.get_by_action(
                context, action.id
            )
        tracebacks = [event.traceback or '' for event in events]
        self.assertIn('INSERT INTO block_device_mapping', fault.details)
        self.assert_is_kept(fault.message, fault.details, *tracebacks)

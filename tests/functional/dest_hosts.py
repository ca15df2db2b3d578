# SPDX-License-Identifier: Apache-2.0
"""Base of tests with hosts that cannot take a server, or let it go."""

import fixtures

from nova import exception
from nova import objects
from nova.compute import power_state
from nova.objects import instance_action

from nova_xcell import loader
from tests.embedded import cloud
from tests.embedded import observe


class DestHostsTest(cloud.TwoCellCloud):
    """A server in cell1, and three ways to say how its move went."""

    def setUp(self):
        super().setUp()
        if loader.armed():
            # There is no slow host here: each is asked once.
            self.flags(prep_settle_timeout=0, group='xcell')

    def boot(self, **kwargs):
        self.server = self.create_server(**kwargs)
        self.before = observe.snapshot(self, self.server['id'])
        return self.server

    def fail_snapshot(self):
        """Let the source lose Glance when the guest is powered off."""
        driver = self.computes['host1'].manager.driver

        def fail(*args, **kwargs):
            self.assertEqual(power_state.SHUTDOWN, self.power_state())
            raise exception.GlanceConnectionFailed(
                server='glance', reason='it died in mid-upload'
            )

        self.useFixture(fixtures.MockPatchObject(driver, 'snapshot', fail))

    def power_state(self):
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(context, self.server['id'])
        driver = self.computes['host1'].manager.driver
        return driver.get_info(instance).state

    def fail_host(self, host):
        """Make a destination host fail; one way for each test class."""
        raise NotImplementedError()

    def migrations(self, cell='cell1'):
        with self.context_of(cell) as context:
            return objects.MigrationList.get_by_filters(
                context, {'instance_uuid': self.server['id']}
            )

    def assert_taken_by(self, host):
        server = self.api.get_server(self.server['id'])
        self.assertEqual('VERIFY_RESIZE', server['status'])
        self.assertEqual(host, server['OS-EXT-SRV-ATTR:host'])
        self.assertEqual([], self.wait_for_no_leak(server))

    def assert_as_before(self, status='ACTIVE'):
        server = self.api.get_server(self.server['id'])
        self.assertEqual(status, server['status'])
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])
        self.assertEqual([], self.wait_for_no_leak(server))
        after = observe.snapshot(self, server['id'])
        for field in (
            'records',
            'mapping',
            'allocations',
            'bindings',
            'attachments',
            'guests',
            'vcpus',
        ):
            self.assertEqual(
                getattr(self.before, field), getattr(after, field), field
            )

    def assert_reason_is_told(self, *words):
        """The real reason is the fault, in the event and at the migration.

        The server is at rest before all of that is written.
        """

        def check():
            self.assertEqual(['error'], [m.status for m in self.migrations()])
            fault, events = self._fault(), self._failed_events()
            for word in words:
                self.assertIn(word, fault)
                self.assertTrue(any(word in text for text in events), events)

        self._wait_for_assert(check, max_retries=50, sleep=0.1)
        self.assertTrue(self.migrations()[0].cross_cell_move)

    def _fault(self):
        with self.context_of('cell1') as context:
            fault = objects.InstanceFault.get_latest_for_instance(
                context, self.server['id']
            )
        return fault.message + (fault.details or '') if fault else ''

    def _failed_events(self):
        with self.context_of('cell1') as context:
            actions = objects.InstanceActionList.get_by_instance_uuid(
                context, self.server['id']
            )
            (action,) = (
                action
                for action in actions
                if action.action in ('resize', 'migrate')
            )
            events = instance_action.InstanceActionEventList.get_by_action(
                context, action.id
            )
        return [
            event.details or '' for event in events if event.result == 'Error'
        ]

# SPDX-License-Identifier: Apache-2.0
"""What the history of a server tells of a live migration (LM-04)."""

import datetime
import json
import types
import unittest

from nova_xcell.live import facts
from nova_xcell.virt import flag_record

NOON = datetime.datetime(2026, 11, 30, 12)


def action(seconds, name=facts.ACTION):
    return types.SimpleNamespace(
        action=name, start_time=NOON + datetime.timedelta(seconds=seconds)
    )


def event(name, result='Success', details=None, host=None):
    return types.SimpleNamespace(
        event=name, result=result, details=details, host=host
    )


def failed(name, details, host=None):
    return event(name, 'Error', details, host)


def row(migration_id, hidden=False):
    return types.SimpleNamespace(id=migration_id, hidden=hidden)


CHECK = 'compute_check_can_live_migrate_destination'
CONDUCTOR = 'conductor_live_migrate_instance'


class TestAction(unittest.TestCase):
    def test_latest_one_before(self):
        actions = [action(9), action(-5), action(-60), action(-1, 'reboot')]
        self.assertIs(actions[1], facts.action_of(actions, NOON))

    def test_next_one_comes_at_once(self):
        own = action(-0.1)
        self.assertIs(own, facts.action_of([action(0.4), own], NOON))

    def test_clocks_differ(self):
        late = action(0.9)
        self.assertIs(late, facts.action_of([action(9), late], NOON))
        self.assertIsNone(facts.action_of([action(9)], NOON))

    def test_none(self):
        self.assertIsNone(facts.action_of([], NOON))
        self.assertIsNone(facts.action_of([action(0, 'reboot')], NOON))


class TestMode(unittest.TestCase):
    def mode(self, *events):
        return facts.block_migration('uuid', events)

    def noted(self, mode, migration='uuid'):
        return event(
            facts.MODE_EVENT,
            details=facts.mode_details(migration, mode, 'host'),
        )

    def test_last_host_counts(self):
        self.assertIs(False, self.mode(self.noted(True), self.noted(False)))

    def test_other_migration(self):
        self.assertIsNone(self.mode(self.noted(True, 'other')))

    def test_what_cannot_be_read(self):
        for details in (None, '', 'text', '[]', '1', '{}', 'null'):
            with self.subTest(details):
                self.assertIsNone(
                    self.mode(event(facts.MODE_EVENT, details=details))
                )


class TestFlags(unittest.TestCase):
    def test_all_events(self):
        events = [
            event(
                name, details=json.dumps({'xcell_migration': 'uuid', **said})
            )
            for name, said in zip(
                (flag_record.FLAGS_EVENT, flag_record.FORCED_EVENT),
                ({'post_copy': True}, {'forced': 'paused'}),
                strict=True,
            )
        ]
        self.assertEqual(
            {'post_copy': True, 'forced': 'paused'},
            facts.flags('uuid', events),
        )
        self.assertIsNone(facts.flags('other', events))


class TestReason(unittest.TestCase):
    def test_none(self):
        self.assertIsNone(facts.reason([]))
        self.assertIsNone(
            facts.reason([event('x', details='fine'), failed('x', None)])
        )

    def test_hosts_that_could_not(self):
        events = [
            failed(CHECK, 'no room', 'host2'),
            failed(CHECK, 'too old', 'host3'),
            failed(CONDUCTOR, 'No valid host was found.'),
        ]
        self.assertEqual(
            'No valid host was found. host2: no room host3: too old',
            facts.reason(events),
        )

    def test_said_once(self):
        events = [
            failed(CHECK, 'no room', 'host2'),
            failed(CONDUCTOR, 'Pre-check error: no room'),
        ]
        self.assertEqual('Pre-check error: no room', facts.reason(events))

    def test_hypervisor_before_what_follows(self):
        events = [
            failed(facts.FAILED_EVENT, 'connection reset'),
            failed('compute_rollback', 'port not found'),
        ]
        self.assertEqual('connection reset', facts.reason(events))


class TestSuccessor(unittest.TestCase):
    def test_next_visible_one(self):
        rows = [row(9), row(7), row(6, hidden=True), row(3), row(5)]
        self.assertEqual(7, facts.successor(5, rows).id)

    def test_none(self):
        self.assertIsNone(facts.successor(5, [row(4), row(6, hidden=True)]))

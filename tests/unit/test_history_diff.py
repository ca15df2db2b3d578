# SPDX-License-Identifier: Apache-2.0
"""What one cell's history has beyond another's (XC-14, XC-17)."""

import unittest

from nova_xcell.tasks import history_diff


def action(number, request, **values):
    return {
        'id': number,
        'action': 'reboot',
        'request_id': request,
        'start_time': 1,
        'finish_time': 2,
        'updated_at': 2,
        'message': None,
        **values,
    }


def event(number, action_id, name='e', **values):
    return {
        'id': number,
        'action_id': action_id,
        'event': name,
        'host': 'h',
        'start_time': 1,
        'finish_time': 2,
        'result': 'Success',
        'traceback': None,
        'details': None,
        **values,
    }


def fault(number, message='m'):
    return {
        'id': number,
        'created_at': 1,
        'code': 500,
        'message': message,
        'host': 'h',
    }


def history(actions=(), events=(), faults=()):
    return {
        'actions': list(actions),
        'events': list(events),
        'faults': list(faults),
    }


class TestCompare(unittest.TestCase):
    def test_same_but_for_numbers(self):
        difference = history_diff.compare(
            history([action(7, 'r')], [event(9, 7)], [fault(3)]),
            history([action(1, 'r')], [event(2, 1)], [fault(1)]),
        )
        self.assertFalse(difference)

    def test_new_action_with_its_events(self):
        new, its = action(8, 's'), event(10, 8)
        difference = history_diff.compare(
            history([action(7, 'r'), new], [event(9, 7), its]),
            history([action(8, 'r')], [event(2, 8)]),
        )
        self.assertEqual([new], difference.actions)
        self.assertEqual([its], difference.events)
        self.assertEqual([], difference.late_events)

    def test_new_event_of_a_known_action(self):
        difference = history_diff.compare(
            history([action(7, 'r')], [event(9, 7), event(10, 7, 'late')]),
            history([action(1, 'r')], [event(2, 1)]),
        )
        self.assertEqual([event(10, 1, 'late')], difference.late_events)
        self.assertEqual([], difference.events)

    def test_event_that_each_cell_recorded(self):
        """The host does that, and the times differ."""
        self.assertFalse(
            history_diff.compare(
                history([action(7, 'r')], [event(9, 7, start_time=3)]),
                history([action(1, 'r')], [event(2, 1, start_time=4)]),
            )
        )

    def test_event_that_happened_again(self):
        again = event(10, 7, start_time=9)
        difference = history_diff.compare(
            history([action(7, 'r')], [event(9, 7), again]),
            history([action(1, 'r')], [event(2, 1)]),
        )
        self.assertEqual([{**again, 'action_id': 1}], difference.late_events)

    def test_what_has_ended_meanwhile(self):
        difference = history_diff.compare(
            history(
                [action(7, 'r', message='Error')],
                [event(9, 7, result='Error', details='d')],
            ),
            history(
                [action(1, 'r', finish_time=None)],
                [event(2, 1, finish_time=None, result=None)],
            ),
        )
        self.assertEqual(
            [
                {
                    'id': 1,
                    'finish_time': 2,
                    'message': 'Error',
                    'updated_at': 2,
                }
            ],
            difference.ended_actions,
        )
        self.assertEqual(
            [
                {
                    'id': 2,
                    'finish_time': 2,
                    'result': 'Error',
                    'traceback': None,
                    'details': 'd',
                }
            ],
            difference.ended_events,
        )

    def test_what_ended_here_stays(self):
        self.assertFalse(
            history_diff.compare(
                history(
                    [action(7, 'r', finish_time=None)],
                    [event(9, 7, finish_time=None)],
                ),
                history([action(1, 'r')], [event(2, 1)]),
            )
        )

    def test_without_a_request(self):
        """The host made some outside of any request."""
        difference = history_diff.compare(
            history([action(7, None), action(8, None, start_time=5)]),
            history([action(1, None)]),
        )
        self.assertEqual([8], [row['id'] for row in difference.actions])

    def test_fault(self):
        difference = history_diff.compare(
            history(faults=[fault(3), fault(4, 'new')]),
            history(faults=[fault(1)]),
        )
        self.assertEqual([fault(4, 'new')], difference.faults)

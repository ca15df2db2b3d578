# SPDX-License-Identifier: Apache-2.0
"""Where a move that nobody drives has to go (XC-27)."""

import unittest

from nova_xcell.tasks import goal

Goal, Half = goal.Goal, goal.Half
NOTHING = Half()


def source(status='pre-migrating', **kwargs):
    """The record of the cell that a server leaves, on its way."""
    values = {'vm_state': 'active', 'task_state': 'resize_prep', **kwargs}
    return Half(exists=True, status=status, **values)


def target(status='pre-migrating', **kwargs):
    """Its copy in the other cell, on its way."""
    values = {
        'hidden': True,
        'vm_state': 'active',
        'task_state': 'resize_prep',
        **kwargs,
    }
    return Half(exists=True, status=status, **values)


def left():
    """The record that a server has left."""
    return source('post-migrating', task_state='resize_migrated', hidden=True)


def resized(status='finished', **kwargs):
    """The record of a server that waits for confirm or revert."""
    values = {
        'hidden': False,
        'vm_state': 'resized',
        'task_state': None,
        **kwargs,
    }
    return target(status, **values)


#: What it is: (at the target, source, target, decision), and the goal.
CASES = {
    # Before the guest is there, all goes back.
    'no copy yet': (False, source(), NOTHING, None, Goal.ROLL_BACK),
    'half a copy': (False, source(), target(None), None, Goal.ROLL_BACK),
    'dest prepared': (False, source(), target(), None, Goal.ROLL_BACK),
    'source at work': (
        False,
        source('migrating', task_state='resize_migrating'),
        target(),
        None,
        Goal.ROLL_BACK,
    ),
    'failed, dest at work to undo it': (
        False,
        source('post-migrating', task_state='resize_migrated'),
        target('reverting', task_state='resize_reverting'),
        'migrate',
        Goal.ROLL_BACK,
    ),
    'failed, source at work to undo it': (
        False,
        source('reverting', task_state='resize_reverting'),
        NOTHING,
        'resize',
        Goal.ROLL_BACK,
    ),
    'over here, and made up by the other cell': (
        False,
        source('reverted', task_state=None),
        resized(hidden=True),
        None,
        Goal.ROLL_BACK,
    ),
    'source left': (
        False,
        source('post-migrating', task_state='resize_migrated'),
        target(task_state='resize_migrated'),
        None,
        Goal.ROLL_BACK,
    ),
    'dest failed': (
        False,
        source('error', vm_state='error', task_state=None),
        target('error', vm_state='error', task_state=None),
        None,
        Goal.ROLL_BACK,
    ),
    'a plain conductor has given up': (
        False,
        source('error', task_state=None),
        target(),
        None,
        Goal.ROLL_BACK,
    ),
    'failed, and the guest runs again, but more is left': (
        False,
        source('reverted', task_state=None, undoing='error'),
        NOTHING,
        'migrate',
        Goal.ROLL_BACK,
    ),
    'given up with nothing left': (
        False,
        source('error', task_state=None),
        NOTHING,
        None,
        Goal.REST,
    ),
    # Once it is there, all goes on.
    'guest is there': (
        False,
        source('post-migrating', task_state='resize_migrated'),
        resized(hidden=True),
        None,
        Goal.VERIFY,
    ),
    'guest is there, but its conductor has given up': (
        False,
        source('error', vm_state='error', task_state=None),
        resized(hidden=True),
        None,
        Goal.ROLL_BACK,
    ),
    'both are visible': (
        True,
        source('post-migrating', task_state='resize_migrated'),
        resized(),
        None,
        Goal.VERIFY,
    ),
    'the user is to decide': (True, left(), resized(), None, Goal.REST),
    # What the user has decided is finished.
    'confirming': (
        True,
        left(),
        resized('confirming'),
        'confirmResize',
        Goal.CONFIRM,
    ),
    'a plain conductor has failed to confirm': (
        True,
        left(),
        target('error', hidden=False, vm_state='error', task_state=None),
        'confirmResize',
        Goal.CONFIRM,
    ),
    'deleted while it waits, source is clean': (
        True,
        Half(
            exists=True,
            hidden=True,
            vm_state='active',
            task_state='resize_migrated',
            status='confirmed',
        ),
        resized(task_state='deleting'),
        None,
        Goal.CONFIRM,
    ),
    'confirmed but for the state': (
        True,
        NOTHING,
        resized('confirmed'),
        'confirmResize',
        Goal.CONFIRM,
    ),
    'confirmed': (
        True,
        NOTHING,
        target('confirmed', hidden=False, task_state=None),
        'confirmResize',
        Goal.REST,
    ),
    'an administrator has reset the state': (
        True,
        left(),
        target('finished', hidden=False, task_state=None),
        None,
        Goal.CONFIRM,
    ),
    'reverting at the target': (
        True,
        left(),
        resized('reverting', task_state='resize_reverting'),
        'revertResize',
        Goal.REVERT,
    ),
    'reverting, shown at the source': (
        False,
        source('reverting', task_state='resize_reverting'),
        resized('reverting', hidden=True, task_state='resize_reverting'),
        'revertResize',
        Goal.REVERT,
    ),
    'reverting, target is gone': (
        False,
        source('reverting', task_state='resize_reverting'),
        NOTHING,
        'revertResize',
        Goal.REVERT,
    ),
    'a plain host has failed to start the guest again': (
        False,
        source('error', vm_state='error', task_state=None),
        NOTHING,
        'revertResize',
        Goal.REVERT,
    ),
    'reverted': (
        False,
        source('reverted', task_state=None),
        NOTHING,
        'revertResize',
        Goal.REST,
    ),
}


class TestGoal(unittest.TestCase):
    def test_every_case(self):
        for name, (
            at_target,
            left_half,
            right,
            decision,
            wanted,
        ) in CASES.items():
            with self.subTest(name):
                facts = goal.Facts(at_target, left_half, right, decision)
                self.assertIs(wanted, goal.choose(facts))

    def test_request_spec_has_the_wrong_flavor(self):
        facts = goal.Facts(True, left(), resized(), spec_is_current=False)
        self.assertIs(Goal.VERIFY, goal.choose(facts))

# SPDX-License-Identifier: Apache-2.0
"""Who wins when a preparation and giving up on it meet (XC-19)."""

import unittest

from nova_xcell import exception
from nova_xcell.compute import preparations


class TestPreparations(unittest.TestCase):
    def setUp(self):
        self.register = preparations.Preparations()
        self.undone = []

    def prepare(self, body=lambda: None, uuid='m1'):
        with self.register.running(uuid, lambda: self.undone.append(uuid)):
            body()

    def test_nobody_gives_up(self):
        self.prepare()
        self.assertEqual([], self.undone)

    def test_finished_before(self):
        """What it left is the caller's to drop."""
        self.prepare()
        self.assertTrue(self.register.abandon('m1'))
        self.assertEqual([], self.undone)

    def test_arrives_after(self):
        self.assertTrue(self.register.abandon('m1'))
        body = []
        with self.assertRaises(exception.PreparationAbandoned):
            self.prepare(lambda: body.append(1))
        self.assertEqual([], body)
        self.assertEqual([], self.undone)

    def test_while_running(self):
        answers = []
        with self.assertRaises(exception.PreparationAbandoned):
            self.prepare(lambda: answers.append(self.register.abandon('m1')))
        self.assertEqual([False], answers)
        self.assertEqual(['m1'], self.undone)
        self.assertTrue(self.register.abandon('m1'))

    def test_still_there_until_undone(self):
        answers = []

        def undo():
            answers.append(self.register.abandon('m1'))

        with self.assertRaises(exception.PreparationAbandoned):
            with self.register.running('m1', undo):
                self.register.abandon('m1')
        self.assertEqual([False], answers)

    def test_fails_by_itself(self):
        def fail():
            self.register.abandon('m1')
            raise ValueError()

        with self.assertRaises(ValueError):
            self.prepare(fail)
        self.assertEqual([], self.undone)
        self.assertTrue(self.register.abandon('m1'))

    def test_others_are_not_concerned(self):
        self.register.abandon('m1')
        self.prepare(uuid='m2')

    def test_memory_is_bounded(self):
        for number in range(preparations.REMEMBERED + 1):
            self.register.abandon(str(number))
        self.prepare(uuid='0')
        with self.assertRaises(exception.PreparationAbandoned):
            self.prepare(uuid='1')

# SPDX-License-Identifier: Apache-2.0
"""What a host says about the steps of moves it was asked for (XC-19)."""

import unittest

from nova_xcell import exception
from nova_xcell.compute import work

KEY = ('migration', 'request', 'operation')


class TestWork(unittest.TestCase):
    def setUp(self):
        self.work = work.Work()

    def test_running_then_done(self):
        with self.work.doing(*KEY):
            self.assertEqual(work.RUNNING, self.work.settle(*KEY))
            self.assertEqual(['operation'], self.work.running('migration'))
        self.assertEqual(work.DONE, self.work.settle(*KEY))
        self.assertEqual([], self.work.running('migration'))

    def test_failed(self):
        with self.assertRaises(ValueError):
            with self.work.doing(*KEY):
                raise ValueError()
        self.assertEqual(work.FAILED, self.work.settle(*KEY))

    def test_what_comes_after_the_question_is_refused(self):
        self.assertEqual(work.REFUSED, self.work.settle(*KEY))
        with self.assertRaises(exception.WorkRefused):
            with self.work.doing(*KEY):
                self.fail('it was done all the same')

    def test_who_asks_again_is_not_refused(self):
        self.work.settle(*KEY)
        with self.assertRaises(exception.WorkRefused):
            with self.work.doing(*KEY):
                self.fail('it was done all the same')
        with self.work.doing(*KEY):
            pass
        self.assertEqual(work.DONE, self.work.settle(*KEY))

    def test_another_request_is_another_matter(self):
        self.work.settle(*KEY)
        with self.work.doing('migration', 'next request', 'operation'):
            pass
        self.assertEqual(
            work.DONE, self.work.settle('migration', 'next request', KEY[2])
        )

    def test_it_does_not_grow_for_ever_and_keeps_what_runs(self):
        with self.work.doing(*KEY):
            for number in range(work.REMEMBERED + 10):
                self.work.settle('migration', str(number), 'operation')
            self.assertEqual(work.RUNNING, self.work.settle(*KEY))
        self.assertEqual(work.DONE, self.work.settle(*KEY))
        self.assertEqual(
            work.REFUSED,
            self.work.settle('migration', str(number), 'operation'),
        )
        self.assertEqual(work.REMEMBERED, len(self.work._states))

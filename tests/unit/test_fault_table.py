# SPDX-License-Identifier: Apache-2.0
"""The fault matrix has every case once, and its table counts right."""

from __future__ import annotations

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from tests.embedded import steps
from tests.faults import results
from tests.faults import table


class StepsTest(unittest.TestCase):
    """The table of steps."""

    def test_each_case_has_a_name_of_its_own(self) -> None:
        """Names are those of tests and of files."""
        names = [case.name for case in steps.cases()]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertTrue(name.isidentifier(), name)

    def test_calls_meet_every_fault(self) -> None:
        """For all operations, with both kinds of root disk."""
        for operation in steps.OPERATIONS:
            met = {
                (case.fault, case.backing)
                for case in steps.cases()
                if case.operation == operation and case.step.is_call
            }
            self.assertEqual(2 * len(steps.Fault), len(met))

    def test_the_likely_ones_are_few_and_of_every_operation(self) -> None:
        """They are run with every change."""
        likely = [case for case in steps.cases() if case.likely]
        self.assertEqual(
            set(steps.OPERATIONS), {case.operation for case in likely}
        )
        self.assertLess(len(likely), 60)


class TableTest(unittest.TestCase):
    """What is printed."""

    def test_counts_cases_by_invariant(self) -> None:
        """A case counts once for each invariant that it breaks."""
        clean, dirty = list(steps.cases())[:2]
        text = table.render(
            [
                results.result(clean, 'before', []),
                results.result(
                    dirty,
                    'neither',
                    [
                        'leftover record in cell2, host host2',
                        'leftover binding of port 1 on host2: ACTIVE',
                        'leftover binding of port 2 on host2: ACTIVE',
                    ],
                ),
            ],
            [fault.value for fault in steps.Fault],
        )
        self.assertIn('1 of 2 clean, 3 leaks', text)
        head, *rows = text.splitlines()
        counts = dict(
            zip(
                head.split(),
                next(row for row in rows if row.startswith('all')).split()[1:],
                strict=True,
            )
        )
        self.assertEqual(
            ('2', '1', '1', '1', '.'),
            tuple(
                counts[name]
                for name in ('cases', 'clean', 'record', 'binding', 'guest')
            ),
        )

    def test_findings_are_told_apart(self) -> None:
        """By the words that `invariants.leaks` uses."""
        for finding, invariant in (
            ('record in cell1 is stuck in task resize_prep', 'task'),
            ('the request spec has flavor 2, the server 1', 'flavor'),
            ('migration 1 in cell1 is left in status done', 'migration'),
            ('leftover allocation of the migration 1 on a', 'allocation'),
            ('missing allocation of the server on host1', 'allocation'),
            ('leftover attachment 1 of volume 2 for host2', 'attachment'),
            ('temporary snapshot 1 is still in Glance', 'snapshot'),
            ('leftover claim on host2: migration', 'claim'),
            ('there is no guest on host1', 'guest'),
            ('the server is None', 'state'),
        ):
            self.assertEqual(invariant, table.invariant_of(finding), finding)


class ResultsTest(unittest.TestCase):
    """What is kept of a test."""

    def test_is_read_as_it_was_written(self) -> None:
        """And who has nothing to show is not clean."""
        one, other = list(steps.cases())[:2]
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict(os.environ, {results.FOLDER: folder}),
        ):
            results.save(one, 'before', ['a leak'])
            path = pathlib.Path(folder)
            self.assertEqual(
                results.result(one, 'before', ['a leak']),
                results.load(path, one),
            )
            self.assertTrue(results.load(path, other)['findings'])


if __name__ == '__main__':
    unittest.main()

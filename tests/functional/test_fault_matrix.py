# SPDX-License-Identifier: Apache-2.0
"""Every step of a cross-cell resize fails, in every way (XC-11 to XC-13,
XC-18, XC-19, XC-27).

Those of the cases that are likely to happen are run by default, all of them
with `NOVA_XCELL_TEST_ALL_FAULTS`. `python -m tests.faults` prints a table.
"""

import os

from tests.embedded import steps
from tests.functional import faulty_move

#: Set in the environment to run the whole matrix.
ALL = 'NOVA_XCELL_TEST_ALL_FAULTS'


class TestNoFault(faulty_move.FaultyMove):
    """What the others are measured by."""

    def check(self, operation, backing):
        self.prepare(operation, backing)
        self.start(operation)
        self.wait_for_end(operation)
        verdict = self.judge(operation)
        self.assertEqual(('finished', []), (verdict.end, verdict.findings))

    def wait_for_end(self, operation):
        if operation == 'delete':
            self._wait_until_deleted(self.server)
            return
        status = faulty_move.VIEWS[operation][1][0]
        self.wait_for_status(self.server, status)
        self.wait_for_rest(self.server)


for _operation in steps.OPERATIONS:
    for _backing in ('image', 'volume'):

        def _test(self, operation=_operation, backing=_backing):
            self.check(operation, backing)

        _test.__name__ = f'test_{_operation}_{_backing}'
        setattr(TestNoFault, _test.__name__, _test)


class TestFault(faulty_move.FaultyMove):
    """One test for each cell of the matrix."""


faulty_move.add_tests(
    TestFault,
    (case for case in steps.cases() if case.likely or os.environ.get(ALL)),
)

# SPDX-License-Identifier: Apache-2.0
"""Run cases one after the other in one cloud: `-m tests.faults.worker NAME...`

Each case leaves a file in the folder that the environment names. A process of
its own for some cases at a time, since a service that is stopped within a
process never frees all of its threads.
"""

from __future__ import annotations

import logging
import sys
import traceback
import unittest
import warnings

from tests.embedded import steps
from tests.faults import results
from tests.functional import faulty_move


class Worker(faulty_move.FaultyMove):
    """A cloud, and the cases that are run in it."""

    names: tuple[str, ...] = ()

    def test_cases(self) -> None:
        """Run every case, whatever becomes of the others."""
        known = {case.name: case for case in steps.cases()}
        for name in self.names:
            case = known[name]
            try:
                self.run_case(case)
            except Exception as exc:
                traceback.print_exc()
                text = str(exc).strip().splitlines() or [type(exc).__name__]
                results.save(case, 'broken', [f'no verdict: {text[-1]}'])


def main() -> int:
    """Run the cases that the arguments name.

    :returns: 0 if all have a result
    """
    warnings.showwarning = lambda *args, **kwargs: None
    logging.disable(logging.CRITICAL)
    Worker.names = tuple(sys.argv[1:])
    result = unittest.TextTestRunner(verbosity=0).run(Worker('test_cases'))
    return 0 if result.wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""How ``nova-xcell-manage`` ends."""

import os
import sys
import unittest
from unittest import mock

from nova_xcell.cmd import exits


class TestEnds(unittest.TestCase):
    def test_interrupted(self):
        def interrupted():
            raise KeyboardInterrupt

        self.assertEqual(130, exits.program(interrupted))

    def test_nobody_reads(self):
        """Nothing is left that Python would complain of at its end."""
        reader, writer = os.pipe()
        os.close(reader)
        stream = os.fdopen(writer, 'w')
        self.addCleanup(stream.close)
        with mock.patch.object(sys, 'stdout', stream):
            self.assertEqual(
                141, exits.program(lambda: stream.write('x') and 0)
            )
            stream.flush()

    def test_worst(self):
        code = exits.Exit
        self.assertEqual(code.OK, exits.worst())
        self.assertEqual(code.FOUND, exits.worst(code.OK, code.FOUND))
        self.assertEqual(code.FAILED, exits.worst(code.FAILED, code.FOUND))
        self.assertEqual(
            code.INTERRUPTED, exits.worst(code.INTERRUPTED, code.FAILED)
        )

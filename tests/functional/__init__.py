# SPDX-License-Identifier: Apache-2.0
"""Real Nova services in one process, with the plug-ins switched on."""

from tests import switch

switch.turn_on()

# Decides on monkey patching, so nothing of the host may come before it.
import nova.tests.functional  # noqa: E402, F401

# SPDX-License-Identifier: Apache-2.0
"""Real Nova services in one process, with the plug-ins switched on."""

from tests import switch

switch.start()

# SPDX-License-Identifier: Apache-2.0
"""Nova's own functional suites, run with the plug-ins switched on.

The modules import the host's test classes, so that stestr finds them here. A
test that asserts a defect we mend is listed, with the reason, in
``excluded.txt``.
"""

import os
import sys

from tests import switch

switch.turn_on()
# Nova's fixtures look for it beside the package; an installed Nova has it in
# the environment's etc.
os.environ.setdefault(
    'OS_WSGI__API_PASTE_CONFIG',
    os.path.join(sys.prefix, 'etc', 'nova', 'api-paste.ini'),
)

# Decides on monkey patching, so nothing of the host may come before it.
import nova.tests.functional  # noqa: E402, F401

# SPDX-License-Identifier: Apache-2.0
"""Nova's own functional suites, run with the plug-ins switched on.

The modules import the host's test classes, so that stestr finds them here. A
test that asserts a defect we mend is listed, with the reason, in
``excluded.txt``.
"""

from tests import switch

switch.start()

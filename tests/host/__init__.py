# SPDX-License-Identifier: Apache-2.0
"""Nova's own functional suites, run with the plug-ins switched on.

Their names are those that they have there; ``tests/areas.py`` selects them. A
test that asserts a defect we mend is listed, with the reason, in
``excluded.txt``.
"""

from tests import switch

switch.start()

# SPDX-License-Identifier: Apache-2.0
"""Nova's suites of rebuilds, and of servers that boot from volumes."""

from nova import test
from nova.tests.functional.regressions.test_bug_1732947 import *  # noqa: F403
from nova.tests.functional.regressions.test_bug_1843708 import *  # noqa: F403
from nova.tests.functional.regressions.test_bug_1902925 import *  # noqa: F403
from nova.tests.functional.regressions.test_bug_2040264 import *  # noqa: F403
from nova.tests.functional.test_boot_from_volume import *  # noqa: F403
from nova.tests.functional.test_servers import ServerRebuildTestCase  # noqa: F401
from nova.tests.functional.test_servers import ServerRebuildTestCaseV293  # noqa: F401
from nova.tests.functional.test_servers import TraitsBasedSchedulingTest  # noqa: F401

from nova_xcell import loader


class TestPluginsAreLoaded(test.NoDBTestCase):
    """Without this the suites above could pass on a plain host."""

    def test_armed(self):
        self.assertIn('volume-backed-rebuild', loader.armed())

# SPDX-License-Identifier: Apache-2.0
"""Nova's suites of reshapes, and of what its report client sends."""

from nova import test
from nova.tests.functional.libvirt.test_reshape import *  # noqa: F403
from nova.tests.functional.test_report_client import *  # noqa: F403

from nova_xcell import loader


class TestPluginsAreLoaded(test.NoDBTestCase):
    """Without this the suites above could pass on a plain host."""

    def test_armed(self):
        self.assertIn('reshape', loader.armed())
        self.assertEqual(
            'nova_xcell.compute.report_client',
            VersionCheckingReportClient._reshape.__module__,  # noqa: F405
        )

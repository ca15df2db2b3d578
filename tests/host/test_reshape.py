# SPDX-License-Identifier: Apache-2.0
"""Nova's suites of reshapes, and of what its report client sends."""

from nova import test
import nova.conf

# Arms. The suite's client is a subclass of what is there at its import, while
# its fixture changes what is there when a test begins.
nova.conf.CONF([], project='nova', default_config_files=[])
nova.conf.CONF.reset()

from nova.tests.functional.libvirt.test_reshape import *  # noqa: E402, F403
from nova.tests.functional.test_report_client import *  # noqa: E402, F403

from nova_xcell import loader  # noqa: E402


class TestPluginsAreLoaded(test.NoDBTestCase):
    """Without this the suites above could pass on a plain host."""

    def test_armed(self):
        self.assertIn('reshape', loader.armed())
        self.assertEqual(
            'nova_xcell.compute.report_client',
            VersionCheckingReportClient.__base__.__module__,  # noqa: F405
        )

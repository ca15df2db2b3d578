# SPDX-License-Identifier: Apache-2.0
"""Nova's suite of cross-cell resize and cold migration."""

from nova import service
from nova import test
from nova.tests.functional.test_cross_cell_migrate import *  # noqa: F403

from nova_xcell import loader


class TestPluginsAreLoaded(test.NoDBTestCase):
    """Without this the suite above could pass on a plain host."""

    def test_armed(self):
        self.assertIn('cross-cell-resize', loader.armed())
        self.assertIn('nova_xcell', service.SERVICE_MANAGERS['nova-compute'])

# SPDX-License-Identifier: Apache-2.0
"""Nova's suites of live migrations, and of what its API says about them.

An installed Nova has the templates of its samples, but not the samples. They
are made by the first test that needs one; the answers are compared with the
templates all the same.
"""

import os
import tempfile

from nova import test
from nova.tests.functional import api_samples_test_base
from nova.tests.functional.api_sample_tests.test_migrate_server import *  # noqa: F403
from nova.tests.functional.api_sample_tests.test_migrations import *  # noqa: F403
from nova.tests.functional.api_sample_tests.test_server_migrations import *  # noqa: F403
from nova.tests.functional.compute.test_live_migration import *  # noqa: F403
from nova.tests.functional.libvirt.test_live_migration import *  # noqa: F403

from nova_xcell import loader

_samples = tempfile.TemporaryDirectory()
os.environ['GENERATE_SAMPLES'] = '1'


_Base = api_samples_test_base.ApiSampleTestBase
_host_verify_response = _Base._verify_response


def _get_sample(cls, name, api_version=None):
    return cls._get_sample_path(name, _samples.name, api_version=api_version)


def _verify_response(self, name, subs, response, *args, **kwargs):
    # The host makes the sample of a request, but fails with that of an answer.
    if not os.path.exists(self._get_sample(name, self.microversion)):
        self._write_sample(name, response.text)
    return _host_verify_response(self, name, subs, response, *args, **kwargs)


_Base._get_sample = classmethod(_get_sample)
_Base._verify_response = _verify_response


class TestPluginsAreLoaded(test.NoDBTestCase):
    """Without this the suites above could pass on a plain host."""

    def test_armed(self):
        self.assertIn('live-migration-api', loader.armed())

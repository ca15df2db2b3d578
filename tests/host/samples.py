# SPDX-License-Identifier: Apache-2.0
"""Samples of requests and answers, which an installed Nova lacks.

It has the templates of its API samples. The samples are made by the first test
that needs one; the answers are compared with the templates all the same. Of
notifications it has neither; they are looked for where Nova's source would
have them.
"""

import os
import pathlib
import tempfile

from nova.tests import functional
from nova.tests.functional import api_samples_test_base

_made = tempfile.TemporaryDirectory()

_Base = api_samples_test_base.ApiSampleTestBase
_host_verify_response = _Base._verify_response


def _get_sample(cls, name, api_version=None):
    return cls._get_sample_path(name, _made.name, api_version=api_version)


def _verify_response(self, name, subs, response, *args, **kwargs):
    # The host makes the sample of a request, but fails with that of an answer.
    if not os.path.exists(self._get_sample(name, self.microversion)):
        self._write_sample(name, response.text)
    return _host_verify_response(self, name, subs, response, *args, **kwargs)


def make() -> None:
    """Let tests of API samples make what they lack."""
    os.environ['GENERATE_SAMPLES'] = '1'
    _Base._get_sample = classmethod(_get_sample)
    _Base._verify_response = _verify_response


def of_notifications() -> pathlib.Path:
    """Return the folder in which tests of notifications find samples."""
    root = pathlib.Path(functional.__file__).parents[3]
    return root / 'doc' / 'notification_samples'

# SPDX-License-Identifier: Apache-2.0
"""Nova's own functional tests, as :mod:`tests.areas` selects them."""

from collections.abc import Iterator
import importlib
import os
import pkgutil
import unittest

from nova import service
from nova import test
from nova.scheduler.client import report
from nova.tests import functional

from nova_xcell import features
from nova_xcell import loader
from tests import areas
from tests.host import samples

#: Set in the environment for the few modules of ``tools/run tests``.
BRIEF = 'NOVA_XCELL_TEST_BRIEF'


class TestPluginsAreLoaded(test.NoDBTestCase):
    """Without this the host's tests could pass on a plain host."""

    def test_armed(self):
        for feature in features.FEATURES.values():
            if feature.nova_releases:
                self.assertIn(feature.name, loader.armed())
        self.assertIn('nova_xcell', service.SERVICE_MANAGERS['nova-compute'])
        self.assertEqual(
            'nova_xcell.compute.report_client',
            report.SchedulerReportClient._reshape.__module__,
        )


class TestSamples(test.NoDBTestCase):
    def test_notifications(self):
        if not samples.of_notifications().exists():
            self.skipTest(
                "samples of notifications are in Nova's source only: %s"
                % samples.of_notifications()
            )


def load_tests(
    loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None
) -> unittest.TestSuite:
    """See unittest; adds the host's tests, with the names they have there."""
    brief = bool(os.environ.get(BRIEF))
    samples.make()
    for name in modules(brief):
        module = importlib.import_module(name)
        for found in _flatten(loader.loadTestsFromModule(module)):
            # What a module imports has the name of another one.
            if found.id().startswith(name + '.') and areas.area_of(
                found.id(), brief
            ):
                tests.addTest(found)
    return tests


def modules(brief: bool) -> list[str]:
    """Return the names of the modules to load from the host.

    :param brief: only what `tools/run tests` runs
    """
    return [
        found.name
        for found in pkgutil.walk_packages(
            functional.__path__, areas.ROOT, onerror=_ignore
        )
        if not found.ispkg
        and any(area.selects(found.name, brief) for area in areas.AREAS)
        and (
            '.notification_sample_tests.' not in found.name
            or samples.of_notifications().exists()
        )
    ]


def _ignore(name: str) -> None:
    """Pass over a package that cannot be imported."""


def _flatten(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for found in suite:
        if isinstance(found, unittest.TestSuite):
            yield from _flatten(found)
        else:
            yield found

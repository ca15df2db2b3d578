# SPDX-License-Identifier: Apache-2.0
"""What the documentation says of the code (XC-31, RP-12)."""

import ast
import re
import unittest

from nova_xcell import conf
from nova_xcell import exception
from nova_xcell import features
from nova_xcell import policies
from tests.packaging.tree import ROOT

SOURCE = ROOT / 'doc' / 'source'
PLACEHOLDER = re.compile(r'%(?:\(\w+\))?[drs]')
#: For who reads the code: they are raised and caught, or an operator reads
#: them within another message.
INTERNAL = {
    'XcellError',
    'FeatureNotForRelease',
    'HistoryChanged',
    'HostDown',
    'OutcomeUnknown',
    'PeerWithoutPlugin',
    'RemoteWorkFailed',
    'RemoteWorkRefused',
}


def page(*names: str) -> str:
    """Return the text of a page with single blanks.

    :param names: folders and file below doc/source
    """
    return ' '.join(SOURCE.joinpath(*names).read_text().split())


def beginnings(message: str) -> list[str]:
    """Return how the parts of a message begin that are the same each time.

    A page may leave out the rest, and what is too short says nothing.

    :param message: with placeholders
    """
    parts = (' '.join(part.split()) for part in PLACEHOLDER.split(message))
    return [part[:24] for part in parts if len(part) >= 12]


def logged() -> list[tuple[str, str]]:
    """Return, with its place, what is logged as a warning or worse."""
    found = []
    for path in sorted((ROOT / 'nova_xcell').rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            if not re.fullmatch(
                r'LOG\.(warning|error|exception|critical)',
                ast.unparse(node.func),
            ):
                continue
            message = ast.literal_eval(node.args[0])
            place = '%s:%d' % (path.relative_to(ROOT), node.lineno)
            found.append((place, message))
    return found


class TestMessages(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.page = page('admin', 'messages.rst')

    def test_logged(self):
        messages = logged()
        self.assertGreater(len(messages), 50)
        for place, message in messages:
            with self.subTest(place):
                self.assert_explained(message)

    def test_errors(self):
        for name, error in vars(exception).items():
            if not isinstance(error, type) or name in INTERNAL:
                continue
            with self.subTest(name):
                self.assert_explained(error.msg_fmt)

    def assert_explained(self, message):
        parts = beginnings(message)
        # Some pass on what another one says.
        if parts:
            self.assertTrue(any(part in self.page for part in parts), message)


class TestReference(unittest.TestCase):
    def test_options(self):
        table = page('configuration.rst')
        for option in conf.xcell_opts:
            with self.subTest(option.name):
                self.assertIn('``%s``' % option.name, table)

    def test_features(self):
        for name in features.FEATURES:
            for text in (page('index.rst'), (ROOT / 'README.rst').read_text()):
                with self.subTest(name):
                    self.assertIn('``%s``' % name, text)

    def test_rules_are_named_in_guides(self):
        guides = ''.join(
            path.read_text()
            for folder in ('admin', 'user')
            for path in (SOURCE / folder).glob('*.rst')
        )
        for rule in policies.list_rules():
            with self.subTest(rule.name):
                self.assertIn(rule.name, guides)


class TestArchitecture(unittest.TestCase):
    def test_every_module_is_there(self):
        """A table names modules; others are named beside one."""
        text = SOURCE.joinpath('architecture.rst').read_text()
        package = ROOT / 'nova_xcell'
        for name in re.findall(r'^``([\w/]+\.py)``  ?', text, re.MULTILINE):
            with self.subTest(name):
                self.assertTrue((package / name).is_file())
        for path in package.rglob('*.py'):
            if path.name == '__init__.py' or path.parent.name == 'seams':
                continue
            with self.subTest(path):
                self.assertIn(path.name, text)

    def test_pure_modules(self):
        """What is called pure imports nothing of a host."""
        text = SOURCE.joinpath('architecture.rst').read_text()
        names = re.findall(r'^``([\w/]+\.py)`` \(pure\)', text, re.MULTILINE)
        self.assertGreater(len(names), 30)
        for name in names:
            source = (ROOT / 'nova_xcell' / name).read_text()
            with self.subTest(name):
                self.assertNotRegex(
                    source, r'(?m)^\s*(from|import) (nova|placement)(\.| |$)'
                )

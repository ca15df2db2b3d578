# SPDX-License-Identifier: Apache-2.0
"""What the Debian package is made of; ``tests.packaging.debian`` makes it."""

import dataclasses
import unittest

from tests.packaging import tree
from tests.packaging.debian import errors
from tests.packaging.debian import facts
from tests.packaging.debian import folder


class TestFacts(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.facts = facts.read(tree.ROOT, '1.2.3')

    def test_each_command_has_a_man_page(self):
        self.assertTrue(self.facts.commands)
        self.assertCountEqual(
            ['%s.1' % name for name in self.facts.commands],
            self.facts.man_pages,
        )
        for name in self.facts.commands:
            page = tree.ROOT / 'doc/source/cli' / ('%s.rst' % name)
            self.assertTrue(page.exists(), page)

    def test_man_pages_are_not_found(self):
        with self.assertRaisesRegex(errors.PackageError, 'no man_pages'):
            facts.man_pages('project = "x"\n')

    def test_description_is_what_the_readme_begins_with(self):
        first, *_others = self.facts.description
        self.assertTrue(first.startswith('Plug-ins for OpenStack Nova. They'))
        self.assertNotIn('What works', ' '.join(self.facts.description))

    def test_requirements(self):
        self.assertEqual(
            (
                facts.Requirement('a.b', ()),
                facts.Requirement('C-d', (('>=', '1.0'),)),
                facts.Requirement('e', (('>=', '31.0.0'), ('<', '35'))),
            ),
            facts.requirements('# x\na.b\n\nC-d>=1.0 # MIT\ne>=31.0.0,<35\n'),
        )

    def test_requirement_that_is_not_understood(self):
        for line in ('a; python_version < "3.12"', 'a[b]', 'a ~= 1', '-e .'):
            with self.assertRaisesRegex(errors.PackageError, 'not understood'):
                facts.requirements(line)


class TestFolder(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.facts = facts.read(tree.ROOT, '1.2.3')
        self.files = folder.files(self.facts, 'a date')

    def field(self, name):
        """Return the relations of a field."""
        found = []
        for line in self.files['control'].split('%s:\n' % name)[1].split('\n'):
            if not line.startswith(' '):
                break
            found.append(line.strip(' ,'))
        return found

    def test_it_depends_on_what_is_required(self):
        depends = self.field('\nDepends')
        for requirement in self.facts.requires:
            for relation in folder.relations(requirement):
                self.assertIn(relation, depends)
                self.assertIn(relation, self.field('Build-Depends-Indep'))
        self.assertIn('python3-oslo.config (>= 1:9.0.0)', depends)
        self.assertIn('python3-yaml (>= 6.0)', depends)

    def test_the_host_is_suggested(self):
        """Not more: apt would remove us, or a host that it upgrades."""
        self.assertEqual(
            [
                'python3-libvirt (>= 9.0.0)',
                'python3-nova (>= 2:31.0.0)',
                'python3-placement (>= 13.0.0)',
            ],
            sorted(self.field('Suggests')),
        )
        control = self.files['control']
        self.assertEqual(1, control.count('python3-nova ('))
        self.assertNotIn('Breaks', control)
        self.assertNotIn('Conflicts', control)

    def test_versions_sort_as_python_sorts_them(self):
        for version, expected in (
            ('1.2.3', '1.2.3'),
            ('1.0.0rc1', '1.0.0~rc1'),
            ('1.0.0.0b2', '1.0.0.0~b2'),
            ('1.0.1.dev3', '1.0.1~dev3'),
        ):
            self.assertEqual(expected, folder.debian_version(version))

    def test_change_log(self):
        self.assertTrue(
            self.files['changelog'].startswith('nova-xcell (1.2.3-1) ')
        )

    def test_a_license_that_is_not_known(self):
        other = dataclasses.replace(self.facts, license='MIT')
        self.assertRaises(errors.PackageError, folder.copyright, other)

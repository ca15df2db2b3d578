# SPDX-License-Identifier: Apache-2.0
"""Rules of a reshape: what they mean, and what is wrong with them (RP-06)."""

import os
import tempfile
import unittest
from unittest import mock

import ddt

from nova_xcell.reshaper import document
from nova_xcell.reshaper import rules
from nova_xcell.reshaper import rules_file

HEAD = 'version: 1\nrules:\n'


@ddt.ddt
class TestGoodRules(unittest.TestCase):
    def test_move_to_named_children(self):
        (rule,) = rules.parse(
            HEAD
            + """
- name: a provider for each GPU
  nodes: [gpu-*]
  move:
    resource_class: VGPU
    to:
    - name: '{node}_pci_0000_84_00_0'
      traits: [CUSTOM_A40]
      inventories: {VGPU: {total: 16}}
    - name: '{node}_pci_0000_85_00_0'
      inventories: {VGPU: {total: 8}}
"""
        )
        self.assertEqual(
            rules.Spread(
                label='a provider for each GPU',
                nodes=('gpu-*',),
                providers='{node}',
                classes=('VGPU',),
                targets=(
                    rules.Child(
                        '{node}_pci_0000_84_00_0',
                        {'VGPU': {'total': 16}},
                        ('CUSTOM_A40',),
                    ),
                    rules.Child(
                        '{node}_pci_0000_85_00_0', {'VGPU': {'total': 8}}
                    ),
                ),
                together=False,
                divisible=False,
                consumers={},
            ),
            rule,
        )

    def test_split_over_generated_children(self):
        (rule,) = rules.parse(
            HEAD
            + """
- split:
    resource_classes: [VCPU, MEMORY_MB]
    to: {count: 2, name: '{provider}_NUMA{index}', traits: [HW_NUMA_ROOT]}
"""
        )
        self.assertEqual('rule in line 4', rule.label)
        self.assertTrue(rule.together)
        self.assertEqual(
            ['{provider}_NUMA0', '{provider}_NUMA1'],
            [child.name for child in rule.targets],
        )

    def test_rules_compose(self):
        rename, move = rules.parse(
            HEAD
            + """
- rename: {resource_class: CUSTOM_GPU, to: VGPU}
- move: {resource_class: VGPU, to: {existing: '{node}_pci_*'}}
"""
        )
        self.assertEqual(('CUSTOM_GPU', 'VGPU'), (rename.old, rename.new))
        self.assertEqual('*', rename.providers)
        self.assertEqual(rules.Existing('{node}_pci_*'), move.targets)

    @ddt.data(
        ('gpu-1', 'other', True),
        ('GPU-1', 'other', False),
        ('x', 'the-uuid', True),
    )
    @ddt.unpack
    def test_nodes(self, name, uuid, expected):
        rule = rules.Rule('a', ('gpu-*', 'the-uuid'), '*')
        self.assertEqual(expected, rule.is_for(name, uuid))

    def test_wildcards_in_a_name_are_none(self):
        self.assertTrue(rules.matches('{node}_*', 'a*_b', node='a*'))
        self.assertFalse(rules.matches('{node}_*', 'ab_b', node='a*'))


MOVE = '- move:\n    resource_class: VGPU\n    to:\n'


@ddt.ddt
class TestBadRules(unittest.TestCase):
    def reason(self, text):
        with self.assertRaises(rules.BadRules) as caught:
            rules.parse(text, 'rules.yaml')
        return str(caught.exception)

    @ddt.data(
        ('', 1, 'no file of rules'),
        # Quoted it would tell whoever may run the command, and not read.
        ('root:x:0:0:root:/root:/bin/sh\n', 1, 'this is no file of rules'),
        ('version: 2\nrules: []\n', 1, '1 was expected'),
        (HEAD + '- {}\n', 3, 'not none'),
        (HEAD + '- nodes: [a]\n  teleport: {}\n', 3, "'teleport'"),
        (HEAD + '- name: a\n  name: b\n', 4, "'name' is there twice"),
        (HEAD + '- &a {}\n- *a\n', 4, 'aliases'),
        (HEAD + '- {\n', 4, 'expected'),
        (HEAD + '- ? [a]\n  : b\n', 3, 'a key has to be a word'),
        (HEAD + '- !!python/object:os.system {}\n', 3, 'tags'),
        (HEAD + '- name: !!python/name:os.system\n', 3, 'tags'),
        # PyYAML fails on these with errors that are not its own.
        (HEAD + '- name: !!bool maybe\n', 3, 'tags'),
        (HEAD + '- name: !!int ""\n', 3, 'tags'),
        (HEAD + '- name: !!timestamp today\n', 3, 'tags'),
        (
            HEAD + MOVE + '    - name: a\n      inventories:\n'
            '        VGPU: {total: 1, allocation_ratio: .nan}\n',
            8,
            'not a finite number',
        ),
        (
            HEAD + '- rename:\n    resource_class: "CUSTOM_A\\n"\n'
            '    to: VGPU\n',
            4,
            'does not match',
        ),
        (HEAD + '- name: 2026-99-99\n', 1, 'month'),
        ('[' * 10000, 1, 'nested too deeply'),
        ('#' * (document.MAX_SIZE + 1), 1, 'larger than'),
        (HEAD + '- name: a\x00\n', 1, 'not allowed'),
        (
            HEAD + '- rename:\n    resource_class: GPU\n    to: VGPU\n',
            4,
            'GPU is neither a standard resource class nor',
        ),
        (
            HEAD + '- rename:\n    resource_class: CUSTOM_PMEM_NAMESPACE_A\n'
            '    to: CUSTOM_A\n',
            4,
            'CUSTOM_PMEM_NAMESPACE_A is how Nova finds',
        ),
        (
            HEAD + '- rename:\n    resource_class: VGPU\n    to: VGPU\n',
            5,
            'VGPU is its name already',
        ),
        (HEAD + MOVE + '    - {}\n', 6, "'name' is a required property"),
        (HEAD + MOVE + '      count: 2\n', 5, 'count and name'),
        (
            HEAD + MOVE + '      count: 2\n      name: a\n',
            7,
            'a name for 2 children needs {index}',
        ),
        (HEAD + MOVE + '    - name: "{host}"\n', 6, '{host} is none of'),
        (HEAD + MOVE + '    - name: a\n    - name: a\n', 7, "'a' is there"),
        (
            HEAD + MOVE + '    - name: a\n      inventories:\n'
            '        VCPU: {total: 1}\n',
            8,
            'VCPU is not moved',
        ),
        (
            HEAD + MOVE + '    - name: a\n      inventories:\n'
            '        VGPU: {total: 0}\n',
            8,
            'less than the minimum',
        ),
        (
            HEAD + MOVE + '    - name: a\n      inventories:\n'
            '        VGPU: {total: 1, reserved: 2}\n',
            8,
            'more is reserved',
        ),
        (
            HEAD + MOVE + '    - name: a\n    - name: b\n'
            '      inventories: {VGPU: {total: 1}}\n',
            5,
            'some children only',
        ),
        (
            HEAD + MOVE + '    - name: a\n    consumers: {me: a}\n',
            7,
            "'me' is not a 'uuid'",
        ),
        (
            HEAD + '- split:\n    resource_classes: [VCPU]\n'
            '    together: true\n    divisible: true\n'
            '    to: [{name: a}]\n',
            6,
            'either divisible or together',
        ),
    )
    @ddt.unpack
    def test_line_and_reason(self, text, line, words):
        reason = self.reason(text)
        self.assertIn(words, reason)
        self.assertEqual(
            'rules.yaml, line %d: ' % line, reason.split(': ')[0] + ': '
        )

    def test_long_word(self):
        # jsonschema cannot spell so large a number.
        self.assertIn(
            'line 1: longer than', self.reason('version: 0x' + 'f' * 6000)
        )
        self.assertIn(
            'line 2: longer than',
            self.reason('version: 1\n%s: b' % ('k' * 1001)),
        )

    def test_short_reason(self):
        reason = self.reason('version: 1\nrules: {%s}\n' % ('a%s: 1, ' * 500)
                             % tuple(range(500)))  # fmt: skip
        self.assertLess(len(reason), 250)

    def test_few_errors_are_looked_at(self):
        with mock.patch.object(
            rules.jsonschema.exceptions, 'best_match'
        ) as best_match:
            best_match.side_effect = lambda errors: list(errors)[-1]
            self.assertIn('line 102:', self.reason(HEAD + '- 1\n' * 1000))


class TestRulesFile(unittest.TestCase):
    def test_no_more_is_read_than_shows_that_it_is_too_much(self):
        with tempfile.NamedTemporaryFile() as opened:
            os.truncate(opened.name, 10 * document.MAX_SIZE)
            with mock.patch.object(rules_file.rules_module, 'parse') as parse:
                rules_file.read(opened.name)
            self.assertEqual(document.MAX_SIZE + 1, len(parse.call_args[0][0]))
            with self.assertRaisesRegex(rules.BadRules, 'larger than'):
                rules_file.read(opened.name)

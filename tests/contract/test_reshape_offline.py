# SPDX-License-Identifier: Apache-2.0
"""The command, its configuration and a database; nothing else (RP-07)."""

import json
import os
import subprocess
import sys
import textwrap

from tests.contract import base

RULES = '''
version: 1
rules:
- rename: {resource_class: CUSTOM_GPU, to: CUSTOM_FAST_GPU}
- move:
    resource_class: CUSTOM_FAST_GPU
    to: {count: 2, name: '{node}_gpu{index}'}
'''

MAKE = '''
from nova_xcell.reshaper import direct
from nova_xcell.reshaper import placement
asked = placement.Placement(direct.connect(direct.configured(sys.argv[1:])))
'''

NODE = '6d1a5f0e-3f0b-4c57-8d5e-0d2a7f1c9b34'
SERVER = '0f84e659-d1f1-4de1-80f8-363c2c11fd2b'


class TestOffline(base.ProcessTest):
    """Policies and user are those of Placement as it is shipped."""

    def setUp(self):
        super().setUp()
        self.placement_file = str(self.folder / 'placement.conf')
        self.write(
            'placement.conf',
            '[placement_database]\nsync_on_startup = true\n'
            'connection = sqlite:///%s\n' % (self.folder / 'placement.db'),
        )
        self.write('rules.yaml', RULES)
        self.undo_file = str(self.folder / 'undo.json')
        self.ask(
            '''
            asked.put('/resource_classes/CUSTOM_GPU')
            asked.post('/resource_providers', {'uuid': %(node)r,
                                               'name': 'node'})
            asked.put('/resource_providers/%(node)s/inventories', {
                'resource_provider_generation': 0,
                'inventories': {'CUSTOM_GPU': {'total': 4}}})
            asked.put('/allocations/%(server)s', {
                'project_id': %(node)r, 'user_id': %(node)r,
                'consumer_generation': None,
                'allocations': {
                    %(node)r: {'resources': {'CUSTOM_GPU': 2}}}})'''
        )

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def ask(self, code):
        """Ask Placement in another process; return what is printed."""
        process = self.run_python(
            'import sys'
            + MAKE
            + textwrap.dedent(code) % {'node': NODE, 'server': SERVER},
            self.placement_file,
        )
        self.assertEqual(0, process.returncode, process.stderr)
        return process.stdout

    def command(self, *words, code=0):
        process = subprocess.run(
            [
                sys.executable,
                '-m',
                'nova_xcell.cmd.manage',
                '--config-file',
                self.config_file('[DEFAULT]\n'),
                'placement',
                'migrate_compute_inventory',
                '--placement-config-file',
                self.placement_file,
                *words,
            ],
            env={**os.environ, 'PYTHONWARNINGS': 'ignore'},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(
            code, process.returncode, process.stdout + process.stderr
        )
        return process.stdout

    def allocations(self):
        return self.ask(
            '''
            found = asked.get('/allocations/%(server)s')['allocations']
            print([each['resources'] for each in found.values()])'''
        ).strip()

    def test_there_and_back(self):
        before = self.allocations()
        rules = ('--rules', 'rules.yaml', '--node', 'node')
        self.assertIn(
            '+     node_gpu0', self.command(*rules, '--dry-run', code=3)
        )
        self.assertEqual(before, self.allocations())
        output = self.command(*rules, '--undo-file', self.undo_file)
        self.assertEqual('node: done, 3 providers and 1 consumers\n', output)
        self.assertEqual("[{'CUSTOM_FAST_GPU': 2}]", self.allocations())
        self.assertEqual('node: nothing to do\n', self.command(*rules))
        self.command('--undo', self.undo_file)
        self.assertEqual(before, self.allocations())

    def test_nothing_but_the_result(self):
        """What is logged is not on standard output, whatever is logged."""
        output = self.command(
            '--rules', 'rules.yaml', '--node', 'node', '--dry-run', '-f',
            'json', '-vvvv', code=3,
        )  # fmt: skip
        self.assertEqual('would be done', json.loads(output)[-1]['What'])

    def test_without_a_configuration(self):
        self.write('placement.conf', '[DEFAULT]\n')
        self.command('--rules', 'rules.yaml', '--all', code=1)

    def test_user_that_the_policy_permits(self):
        """An admin, whom the host's own direct access is, gets 403."""
        status = self.ask(
            '''
            direct._HEADERS['x-roles'] = 'admin'
            try:
                asked.post('/reshaper', {'inventories': {
                    %(node)r: {'resource_provider_generation': 1,
                               'inventories': {'CUSTOM_GPU': {'total': 4}}}},
                    'allocations': {}})
            except placement.PlacementError as exc:
                print(exc)'''
        )
        self.assertIn('answered 403', status)

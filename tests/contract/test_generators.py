# SPDX-License-Identifier: Apache-2.0
"""The oslo generators and the status command know what is ours (XC-01)."""

import importlib.metadata
import os
import subprocess
import sys

from nova_xcell import releases
from nova_xcell import seams
from tests.contract import base


class TestGenerators(base.ProcessTest):
    def command(self, name, *arguments, code=0):
        process = subprocess.run(
            [os.path.join(os.path.dirname(sys.executable), name), *arguments],
            env={**os.environ, 'PYTHONWARNINGS': 'ignore'},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(
            code, process.returncode, process.stdout + process.stderr
        )
        return process.stdout

    def test_policy_sample(self):
        sample = self.command(
            'oslopolicy-sample-generator', '--namespace', 'nova_xcell'
        )
        self.assertIn('#"compute:servers:resize:cross_cell": "!"', sample)
        for what in ('ephemeral_disks', 'personality_files'):
            self.assertIn(
                '#"compute:servers:resize:cross_cell:lose_%s": "!"' % what,
                sample,
            )
        self.assertIn('/servers/{server_id}/action (resize)', sample)
        self.assertIn('/servers/{server_id}/action (migrate)', sample)

    def test_config_sample(self):
        sample = self.command(
            'oslo-config-generator', '--namespace', 'nova_xcell'
        )
        self.assertIn('[xcell]', sample)
        for option in (
            'features',
            'cell_weights',
            'prep_settle_timeout',
            'reshape_rules',
            'reshape_undo_dir',
        ):
            self.assertIn('\n#%s = ' % option, sample)

    def test_status_of_a_good_installation(self):
        output = self.command(
            'nova-xcell-status',
            '--config-file',
            self.config_file(base.ENABLED),
            'upgrade',
            'check',
        )
        self.assertIn('cross-cell-resize: nova-api, nova-compute', output)
        self.assertIn('compute:servers:resize:cross_cell: !', output)
        self.assertEqual(5, output.count('Result: Success'))

    def test_status_without_the_switch(self):
        output = self.command(
            'nova-xcell-status',
            '--config-file',
            self.config_file('[DEFAULT]\n'),
            'upgrade',
            'check',
            code=1,
        )
        self.assertIn('Result: Warning', output)

    def test_status_with_a_misspelt_driver(self):
        """oslo.config goes on without it, so a service would start plain."""
        output = self.command(
            'nova-xcell-status',
            '--config-file',
            self.config_file(base.ENABLED.replace('nova_xcell', 'nova_cell')),
            'upgrade',
            'check',
            code=1,
        )
        self.assertIn('Result: Warning', output)

    def test_status_of_bad_options(self):
        output = self.command(
            'nova-xcell-status',
            '--config-file',
            self.config_file('[xcell]\nfeatures = teleport\n'),
            'upgrade',
            'check',
            code=2,
        )
        self.assertIn('teleport', output)

    def test_status_of_a_bad_policy_file(self):
        policy = self.folder / 'policy.yaml'
        policy.write_text('"compute:servers:resize:cross_cell": "rule:gone"\n')
        output = self.command(
            'nova-xcell-status',
            '--config-file',
            self.config_file(
                base.ENABLED + '[oslo_policy]\npolicy_file = %s\n' % policy
            ),
            'upgrade',
            'check',
            code=2,
        )
        self.assertIn('policy file is not valid', output)

    def test_every_entry_point_loads(self):
        # Some plug-ins are for other releases of the host.
        wanted, others = set(), set()
        for seam in seams.SEAMS:
            is_wanted = releases.installed('nova') in seam.nova_releases
            (wanted if is_wanted else others).add(seam.plugin)
        mine = [
            point
            for point in importlib.metadata.distribution(
                'nova-xcell'
            ).entry_points
            if (point.group, point.name) not in others - wanted
        ]
        self.assertTrue(mine)
        code = 'import nova.tests.functional\n' + '\n'.join(
            'import %s' % point.module for point in mine
        )
        process = self.run_python(code)
        self.assertEqual(0, process.returncode, process.stderr)

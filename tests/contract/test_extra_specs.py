# SPDX-License-Identifier: Apache-2.0
"""Extra specs of flavors, as nova-api validates them (MF-02)."""

import textwrap

from tests.contract import base

VALIDATE = textwrap.dedent('''
    from nova.api.validation.extra_specs import validators
    for name, value in (
        ('compute:live_migration_post_copy', 'true'),
        ('compute:live_migration_post_copy', 'maybe'),
        ('compute:live_migration_other', 'true'),
        ('compute:other', 'anything'),
        ('hw:other', 'anything'),
    ):
        try:
            validators.validate(name, value)
            print('good', end=' ')
        except Exception as exc:
            print('bad', end=' ')
    print('compute' in validators.NAMESPACES)
    ''')


class TestExtraSpecs(base.ProcessTest):
    def validate(self, config):
        # The package decides on monkey patching, before anything else.
        process = self.run_python(
            'import nova.api.openstack' + base.PARSE + VALIDATE,
            '--config-file',
            self.config_file(config),
        )
        self.assertEqual(0, process.returncode, process.stderr)
        return process.stdout.strip()

    def test_feature_on(self):
        self.assertEqual(
            'good bad bad good bad False', self.validate(base.ENABLED)
        )

    def test_feature_off(self):
        """The entry point is there all the same, and does nothing."""
        for config in (
            '[DEFAULT]\n',
            base.ENABLED + 'features = cross-cell-resize\n',
        ):
            self.assertEqual(
                'good good good good bad False', self.validate(config)
            )

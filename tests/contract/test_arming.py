# SPDX-License-Identifier: Apache-2.0
"""Services of the host with the switch in their configuration."""

import os
import subprocess
import sys
import textwrap

from tests.contract import base

SHOW = '''
from nova import service
from nova.conductor.tasks import migrate
from nova.scheduler.weights import cross_cell
import nova.virt.libvirt
from nova import policies
from nova.compute import api
from nova.compute import resource_tracker
from nova.scheduler.client import report
print(service.SERVICE_MANAGERS['nova-compute'])
print(migrate.cross_cell_migrate.__name__)
print(cross_cell.CrossCellWeigher.__module__)
print(nova.virt.libvirt.LibvirtDriver.__module__)
print([ours.__module__ for ours in api.API.__mro__[:-2]])
print(policies.list_rules.__module__)
print(resource_tracker.ResourceTracker.__module__)
print(report.SchedulerReportClient._reshape.__module__)
'''

PLAIN = '''\
nova.compute.manager.ComputeManager
nova.conductor.tasks.cross_cell_migrate
nova.scheduler.weights.cross_cell
nova.virt.libvirt.driver
[]
nova.policies
nova.compute.resource_tracker
nova.scheduler.client.report'''

#: What stands before the host's compute API.
API_CLASSES = [
    # The name of the whole is that of the last part.
    'nova_xcell.rebuild.compute_api',
    'nova_xcell.rebuild.compute_api',
    'nova_xcell.live.compute_api',
    'nova_xcell.live.compute_api',
    'nova_xcell.api.migration_wishes',
    'nova_xcell.api.migration_wishes',
    'nova_xcell.api.compute_api',
]

OURS = (
    '''\
nova_xcell.compute.service_manager.ComputeManager
nova_xcell.tasks.cross_cell_migrate
nova_xcell.weighers.cross_cell
nova_xcell.virt.reshaping_driver
%s
nova_xcell.api.policies
nova_xcell.compute.reshapes
nova_xcell.compute.report_client'''
    % API_CLASSES
)


class TestArming(base.ProcessTest):
    def test_host_modules_imported_after(self):
        self.assertEqual(OURS, self.output_of(base.ENABLED, SHOW))

    def test_host_modules_imported_before(self):
        imports = '\n'.join(
            line for line in SHOW.splitlines() if 'print' not in line
        )
        process = self.run_python(
            imports + base.PARSE + SHOW,
            '--config-file',
            self.config_file(base.ENABLED),
        )
        self.assertEqual(0, process.returncode, process.stderr)
        self.assertEqual(OURS, process.stdout.strip())

    def test_disarm_restores_the_host(self):
        self.assertEqual(
            PLAIN,
            self.output_of(
                base.ENABLED,
                SHOW.replace('print', 'str') + 'loader.disarm()' + SHOW,
            ),
        )

    def test_disarm_and_arm_again(self):
        again = (
            '\nimport nova.conf\nloader.disarm()\n'
            "loader.arm(nova.conf.CONF, 'nova')"
        )
        self.assertEqual(
            OURS,
            self.output_of(
                base.ENABLED, SHOW.replace('print', 'str') + again + SHOW
            ),
        )

    def test_features_switched_off(self):
        self.assertEqual(
            PLAIN, self.output_of(base.ENABLED + 'features =\n', SHOW)
        )

    def test_manager_has_the_part_of_each_feature(self):
        show = textwrap.dedent('''
            from oslo_utils import importutils
            from nova import service
            manager = importutils.import_class(
                service.SERVICE_MANAGERS['nova-compute'])
            print([part.__module__ for part in manager.__mro__
                   if part.__name__ in ('ComputeManager', 'Rebuilds')])''')
        rebuilds = 'nova_xcell.rebuild.compute_manager'
        cross_cell = [
            'nova_xcell.compute.manager',
            'nova_xcell.compute.tracked_moves',
        ]
        host = 'nova.compute.manager'
        whole = 'nova_xcell.compute.service_manager'
        for names, expected in (
            ('all', [whole, rebuilds, *cross_cell, host]),
            ('volume-backed-rebuild', [whole, rebuilds, host]),
            ('cross-cell-resize', [whole, *cross_cell, host]),
            ('', [host]),
        ):
            with self.subTest(names):
                self.assertEqual(
                    str(expected),
                    self.output_of(
                        base.ENABLED + 'features = %s\n' % names, show
                    ),
                )

    def test_rebuilds_in_each_service(self):
        """VR-02, VR-06: API, conductor and compute, or none of them."""
        show = textwrap.dedent('''
            from nova.compute import api, resource_tracker
            from nova.conductor import manager, rpcapi
            print([api.API.__mro__[1].__module__,
                   manager.ComputeTaskManager.__mro__[1].__module__,
                   rpcapi.ComputeTaskAPI.rebuild_instance.__module__,
                   resource_tracker.ResourceTracker
                   .delete_allocation_for_evacuated_instance.__module__,
                   ])''')
        ours = [
            'nova_xcell.rebuild.compute_api',
            'nova_xcell.rebuild.task_manager',
            'nova_xcell.rebuild.handing',
            'nova_xcell.rebuild.tracker',
        ]
        enabled = base.ENABLED + 'features = volume-backed-rebuild\n'
        self.assertEqual(str(ours), self.output_of(enabled, show))
        host = self.output_of(base.ENABLED + 'features =\n', show)
        self.assertNotIn('nova_xcell', host)
        again = '\nloader.disarm()\n'
        self.assertEqual(
            host,
            self.output_of(
                enabled, show.replace('print', 'str') + again + show
            ),
        )

    def test_without_the_switch_the_host_is_plain(self):
        self.assertEqual(PLAIN, self.output_of('[DEFAULT]\n', SHOW))

    def test_without_the_switch_nothing_of_ours_is_imported(self):
        process = self.run_python(
            base.PARSE.replace('from nova_xcell import loader', '')
            + 'print([m for m in sys.modules if m.startswith("nova_xcell")])',
            '--config-file',
            self.config_file('[DEFAULT]\n'),
        )
        self.assertEqual('[]', process.stdout.strip(), process.stderr)

    def test_all_weighers_has_ours_instead_of_the_hosts(self):
        """XC-03: in its place, not beside it."""
        self.assertEqual(
            "['nova_xcell.weighers.cross_cell']",
            self.output_of(
                base.ENABLED,
                textwrap.dedent('''
                from nova.scheduler import weights
                print([found.__module__ for found in weights.all_weighers()
                       if found.__name__ == 'CrossCellWeigher'])'''),
            ),
        )

    def test_our_policy_rules_are_registered_once(self):
        """XC-26: beside the host's, which has one of them itself."""
        self.assertEqual(
            "['compute:servers:resize:cross_cell', "
            "'compute:servers:resize:cross_cell:lose_ephemeral_disks', "
            "'compute:servers:resize:cross_cell:lose_personality_files']",
            self.output_of(
                base.ENABLED,
                textwrap.dedent('''
                from nova import policy
                policy.init(suppress_deprecation_warnings=True)
                print(sorted(
                    name for name in policy._ENFORCER.registered_rules
                    if 'cross_cell' in name))'''),
            ),
        )

    def test_controllers_of_the_api_get_ours(self):
        # The package decides on monkey patching, before anything else.
        process = self.run_python(
            'import nova.api.openstack'
            + base.PARSE
            + textwrap.dedent('''
            from nova.api.openstack.compute import migrate_server
            print([ours.__module__ for ours
                   in migrate_server.compute.API.__mro__[:-2]])'''),
            '--config-file',
            self.config_file(base.ENABLED),
        )
        self.assertEqual(
            str(API_CLASSES),
            process.stdout.strip(),
            process.stderr,
        )

    def test_placement_reads_the_switch_too(self):
        process = self.run_python(
            textwrap.dedent('''
            import sys
            from oslo_config import cfg
            from placement import conf
            config = cfg.ConfigOpts()
            conf.register_opts(config)
            config(sys.argv[1:], project='placement')
            print(config.xcell.features)'''),
            '--config-file',
            self.config_file(
                base.ENABLED + '[placement_database]\nconnection = x\n'
            ),
        )
        self.assertEqual("['all']", process.stdout.strip(), process.stderr)

    def test_two_configurations_in_one_process(self):
        """Nova parses a bare one first; that must not arm."""
        process = self.run_python(
            textwrap.dedent('''
            import sys
            from oslo_config import cfg
            cfg.ConfigOpts()(sys.argv[1:])
            print('nova_xcell.loader' in sys.modules)'''),
            '--config-file',
            self.config_file(base.ENABLED),
        )
        self.assertEqual('False', process.stdout.strip(), process.stderr)


class TestRefusals(base.ProcessTest):
    """Bad input: one line, and the service does not start."""

    def test_unknown_feature(self):
        self.assert_refused(
            self.run_service(base.ENABLED + 'features = teleport\n', SHOW),
            'teleport',
            'cross-cell-resize',
        )

    def test_misspelt_option(self):
        self.assert_refused(
            self.run_service(base.ENABLED + 'featurs = all\n', SHOW),
            'featurs',
            'nova.conf',
        )

    def test_malformed_cell_weights(self):
        self.assert_refused(
            self.run_service(
                base.ENABLED + 'cell_weights = old:drained\n', SHOW
            ),
            'old:drained',
            'draining',
        )

    def distribution(self, version):
        """Let the host's metadata show another version."""
        info = self.folder / ('nova-%s.dist-info' % version)
        info.mkdir()
        (info / 'METADATA').write_text(
            'Metadata-Version: 2.1\nName: nova\nVersion: %s\n' % version
        )
        return str(self.folder)

    def test_unsupported_release(self):
        for version in ('30.0.0', '35.0.0'):
            self.assert_refused(
                self.run_service(
                    base.ENABLED, SHOW, path=self.distribution(version)
                ),
                'nova %s' % version,
                '31, 32, 33, 34',
            )
            os.rename(
                self.folder / ('nova-%s.dist-info' % version),
                self.folder / ('was-%s' % version),
            )

    def test_missing_host(self):
        code = textwrap.dedent('''
            import importlib.metadata
            real = importlib.metadata.version
            def version(name):
                if name == 'nova':
                    raise importlib.metadata.PackageNotFoundError(name)
                return real(name)
            importlib.metadata.version = version''')
        self.assert_refused(
            self.run_python(
                code + base.PARSE,
                '--config-file',
                self.config_file(base.ENABLED),
            ),
            'nova is not installed',
        )

    def test_changed_seam(self):
        code = textwrap.dedent('''
            from nova.scheduler.weights import cross_cell
            cross_cell.CrossCellWeigher._weigh_object = lambda self: 0''')
        self.assert_refused(
            self.run_python(
                code + base.PARSE,
                '--config-file',
                self.config_file(base.ENABLED),
            ),
            'CrossCellWeigher._weigh_object',
            'found (self)',
        )

    def test_changed_seam_in_a_module_that_is_imported_later(self):
        package = self.folder / 'xcell_patch.py'
        package.write_text(
            textwrap.dedent('''
            import wrapt
            def change(module):
                module.claim_resources = lambda ctx: None
            wrapt.register_post_import_hook(change, 'nova.scheduler.utils')''')
        )
        self.assert_refused(
            self.run_python(
                'import xcell_patch'
                + base.PARSE
                + 'from nova.conductor import manager',
                '--config-file',
                self.config_file(base.ENABLED),
                path=str(self.folder),
            ),
            'nova.scheduler.utils.claim_resources',
        )

    def test_plugin_missing_from_the_installation(self):
        code = '''
loader.disarm()
from nova_xcell import seams
import dataclasses, nova.conf, nova.service
seams.SEAMS = tuple(
    dataclasses.replace(seam, plugin=('nova_xcell.compute', 'gone'))
    if seam.item else seam for seam in seams.SEAMS)
from nova_xcell import source
source.XcellSourceDriver().open_source_from_opt_group(
    nova.conf.CONF, 'xcell')'''
        self.assert_refused(
            self.run_service(base.ENABLED, code), "'gone'", 'reinstall'
        )

    def test_real_service_does_not_start(self):
        """The console script of the host, not a stand-in for it."""
        command = os.path.join(
            os.path.dirname(sys.executable), 'nova-scheduler'
        )
        environ = {
            **os.environ,
            'PYTHONWARNINGS': 'ignore',
            'OS_NOVA_DISABLE_EVENTLET_PATCHING': 'true',
        }
        process = subprocess.run(
            [
                command,
                '--config-file',
                self.config_file(base.ENABLED + 'features = teleport\n'),
            ],
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assert_refused(process, 'teleport')

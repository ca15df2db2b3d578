# SPDX-License-Identifier: Apache-2.0
"""Rules that nova-compute applies, on Nova's fake libvirt (RP-02, RP-08)."""

import glob
import os
from unittest import mock

import fixtures
from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import session
from oslo_serialization import jsonutils
from oslo_utils.fixture import uuidsentinel as uuids

from nova import context
from nova import exception
import nova.conf
from nova.scheduler.client import report
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import base
from nova.tests.unit import fake_requests

from nova_xcell.cmd import placement as command
from nova_xcell.reshaper import client
from nova_xcell.reshaper import placement
from nova_xcell.reshaper import undo_file

CONF = nova.conf.CONF

NUMA = """
version: 1
rules:
- name: NUMA
  split:
    resource_classes: [VCPU, MEMORY_MB]
    to: {count: 2, name: '{node}_NUMA{index}', traits: [HW_NUMA_ROOT]}
"""

RENAMED = """
version: 1
rules:
- rename: {resource_class: CUSTOM_OLD, to: CUSTOM_NEW}
"""


class Reshaped:
    """For tests with hosts that follow rules."""

    ADMIN_API = True
    microversion = 'latest'

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        # What is sent to Placement, and answers for some of it.
        self.sent = []
        self.bodies = []
        self.answers = {}
        asked = self.placement.fixture._client
        request = asked.request

        def watched(url, method, **kwargs):
            name = '%s %s' % (method, url)
            self.sent.append(name)
            if name == 'POST /reshaper':
                self.bodies.append(kwargs['json'])
            if name in self.answers:
                return self.answers[name]()
            return request(url, method, **kwargs)

        asked.request = watched
        report.PLACEMENTCLIENT = None

    def set_rules(self, text):
        path = os.path.join(self.folder, 'rules.yaml')
        with open(path, 'w') as opened:
            opened.write(text)
        # A plain host has no such options.
        if 'xcell' in CONF:
            self.flags(
                reshape_rules=path,
                reshape_undo_dir=os.path.join(self.folder, 'undo'),
                group='xcell',
            )

    def restart(self, name='host'):
        """Start the service anew, with a report client that knows nothing."""
        report.PLACEMENTCLIENT = None
        del self.sent[:]
        self.restart_compute_service(name)

    def tree(self, name='host'):
        """Return, by name, totals and what consumers have."""
        root = self.compute_rp_uuids[name]
        return {
            provider['name']: (
                {
                    resource: inventory['total']
                    for resource, inventory in self._get_provider_inventory(
                        provider['uuid']
                    ).items()
                },
                {
                    consumer: each['resources']
                    for consumer, each in self.placement.get(
                        '/resource_providers/%s/allocations' % provider['uuid']
                    )
                    .body['allocations']
                    .items()
                },
            )
            for provider in self._get_all_rps_in_a_tree(root)
        }

    def server(self, **extra_specs):
        return self._create_server(
            flavor_id=self._create_flavor(
                memory_mb=512,
                vcpu=2,
                disk=1,
                ephemeral=0,
                extra_spec=extra_specs,
            ),
            networks='none',
        )

    def undo_files(self):
        return sorted(glob.glob(os.path.join(self.folder, 'undo', '*')))

    def writes(self):
        return [each for each in self.sent if not each.startswith('GET ')]


class LiveBase(Reshaped, base.ServersTestBase):
    pass


class TestSplit(LiveBase):
    """VCPU and MEMORY_MB of a host go to its NUMA nodes."""

    def setUp(self):
        super().setUp()
        self.start_compute('host')

    def test_servers_are_there(self):
        """RP-02, RP-08: at start-up, with all that servers have."""
        server = self.server()
        before = self.tree()
        self.set_rules(NUMA)
        self.restart()
        tree = self.tree()
        self.assertEqual({'host', 'host_NUMA0', 'host_NUMA1'}, set(tree))
        self.assertEqual(
            ({'DISK_GB': 128}, {server['id']: {'DISK_GB': 1}}), tree['host']
        )
        totals, _ = before['host']
        for name in ('VCPU', 'MEMORY_MB'):
            self.assertEqual(
                totals[name],
                sum(tree['host_NUMA%d' % n][0][name] for n in (0, 1)),
            )
        self.assertEqual(
            [{server['id']: {'VCPU': 2, 'MEMORY_MB': 512}}],
            [each for name, (_, each) in tree.items() if each][1:],
        )
        self.assertEqual(1, self.sent.count('POST /reshaper'))

        # Nothing in periodics, and nothing when it starts again (RP-03).
        del self.sent[:]
        self._run_periodics()
        self.assertEqual([], self.writes())
        self.restart()
        self.assertEqual([], self.writes())
        self.assertEqual(tree, self.tree())

        # New servers come and go.
        other = self.server()
        self.assertEqual('ACTIVE', other['status'])
        self._delete_server(other)
        self.assertEqual(tree, self.tree())
        self.assertEqual(1, len(self.undo_files()))

    def test_undo(self):
        """RP-06: what nova-compute kept brings everything back."""
        server = self.server()
        before = self.tree()
        self.set_rules(NUMA)
        self.restart()
        # This one came later.
        other = self.server()
        (path,) = self.undo_files()
        (record,) = undo_file.read(path)
        fixture = self.placement.fixture
        plan = client.Client(
            placement.Placement(
                adapter.Adapter(
                    session.Session(auth=None),
                    service_type='placement',
                    endpoint_override=fixture.endpoint,
                    additional_headers={'x-auth-token': fixture.token},
                )
            )
        ).undo(record)
        self.assertEqual([], plan.problems)
        tree = self.tree()
        self.assertEqual({'host'}, set(tree))
        totals, used = before['host']
        self.assertEqual(
            (totals, {**used, other['id']: used[server['id']]}), tree['host']
        )
        self.flags(reshape_rules=None, group='xcell')
        self.restart()
        self.assertEqual([], self.writes())
        self.assertEqual(tree, self.tree())

    def test_nodes_of_a_host(self):
        """RP-07: the command finds them in the databases."""
        self.assertEqual(
            [self.compute_rp_uuids['host']], command._nodes_of('host')
        )
        error = self.assertRaises(
            command.UnknownHost, command._nodes_of, 'nowhere'
        )
        self.assertIn('nowhere', str(error))

    def test_new_host(self):
        """There is nothing to move, so nothing is reshaped."""
        self.set_rules(NUMA)
        self.start_compute('new')
        self.assertEqual(
            {'new', 'new_NUMA0', 'new_NUMA1'}, set(self.tree('new'))
        )
        self.assertNotIn('POST /reshaper', self.sent)
        self.assertEqual([], self.undo_files())

    def test_ratio_of_the_operator_is_kept(self):
        """Set in Placement, and not in the configuration."""
        self.set_rules(NUMA)
        self.restart()
        for provider in self._get_all_rps_in_a_tree(
            self.compute_rp_uuids['host']
        )[1:]:
            inventories = self.placement.get(
                '/resource_providers/%s/inventories' % provider['uuid']
            ).body
            inventories['inventories']['VCPU']['allocation_ratio'] = 3.0
            self.placement.put(
                '/resource_providers/%s/inventories' % provider['uuid'],
                inventories,
            )
        self.restart()
        self._run_periodics()
        self.assertEqual(
            [3.0, 3.0],
            [
                self._get_provider_inventory(provider['uuid'])['VCPU'][
                    'allocation_ratio'
                ]
                for provider in self._get_all_rps_in_a_tree(
                    self.compute_rp_uuids['host']
                )
                if 'NUMA' in provider['name']
            ],
        )

    def test_host_that_gets_more_memory(self):
        self.set_rules(NUMA)
        self.restart()
        with mock.patch(
            'nova.virt.libvirt.host.Host.get_memory_mb_total',
            return_value=40960,
        ):
            self._run_periodics()
        self.assertEqual(
            [20480, 20480],
            [self.tree()['host_NUMA%d' % n][0]['MEMORY_MB'] for n in (0, 1)],
        )

    def test_server_that_fits_no_child(self):
        """RP-03, RP-09: nova-compute ends, and says which server it is."""
        half = self.tree()['host'][0]['VCPU'] // 2
        server = self._create_server(
            flavor_id=self._create_flavor(
                memory_mb=512, vcpu=half + 1, disk=1, ephemeral=0
            ),
            networks='none',
        )
        before = self.tree()
        self.set_rules(NUMA)
        error = self.assertRaises(exception.ReshapeFailed, self.restart)
        self.assertIn(server['id'], str(error))
        self.assertIn('does not go with max_unit %d' % half, str(error))
        self.compute_rp_uuids['host'] = str(uuids.node_host)
        self.assertEqual(before, self.tree())
        self.assertEqual([], self.writes())

    def test_rules_that_are_wrong(self):
        """RP-06: nova-compute does not start without them."""
        self.set_rules(NUMA.replace('count: 2', 'count: two'))
        error = self.assertRaises(SystemExit, self.restart)
        self.assertIn('rules.yaml, line 7', str(error))
        self.set_rules(NUMA)
        os.unlink(os.path.join(self.folder, 'rules.yaml'))
        error = self.assertRaises(SystemExit, self.start_compute, 'other')
        self.assertIn('[xcell] reshape_rules', str(error))


class TestProviderConfig(LiveBase):
    """A custom class that comes from a provider config file."""

    def setUp(self):
        super().setUp()
        self.flags(provider_config_location=self.folder, group='compute')
        self.describe('CUSTOM_OLD', 4)
        self.start_compute('host')

    def describe(self, name, total):
        with open(os.path.join(self.folder, 'providers.yaml'), 'w') as opened:
            opened.write(
                jsonutils.dumps(
                    {
                        'meta': {'schema_version': '1.0'},
                        'providers': [
                            {
                                'identification': {'uuid': '$COMPUTE_NODE'},
                                'inventories': {
                                    'additional': [{name: {'total': total}}]
                                },
                            }
                        ],
                    }
                )
            )

    def set_rules(self, text):
        # Nova reads every YAML file of the folder.
        with mock.patch.object(
            self, 'folder', self.useFixture(fixtures.TempDir()).path
        ):
            super().set_rules(text)

    def test_renamed_in_use(self):
        """RP-06: what the file says of it is right afterwards."""
        server = self.server(**{'resources:CUSTOM_OLD': 2})
        self.describe('CUSTOM_NEW', 5)
        self.set_rules(RENAMED)
        self.restart()
        inventories, allocations = self.tree()['host']
        self.assertEqual(5, inventories.get('CUSTOM_NEW'))
        self.assertNotIn('CUSTOM_OLD', inventories)
        self.assertEqual(2, allocations[server['id']].get('CUSTOM_NEW'))
        del self.sent[:]
        self._run_periodics()
        self.assertEqual([], self.writes())


class TestOfTheHost(LiveBase):
    """Without rules: what Nova reshapes by itself."""

    def put_vgpu_on_the_root(self, name):
        """Make a tree as it was before Nova had providers for GPUs."""
        self.flags(enabled_mdev_types='', group='devices')
        self.start_compute(
            name,
            mdev_info=fakelibvirt.HostMdevDevicesInfo(
                devices={
                    'mdev_4b20d080_1b54_4048_85b3_a6a62d165c01': (
                        fakelibvirt.FakeMdevDevice(
                            dev_name='mdev_4b20d080_1b54_4048_85b3_'
                            'a6a62d165c01',
                            type_id=fakelibvirt.NVIDIA_11_VGPU_TYPE,
                            parent=fakelibvirt.MDEVCAP_DEV1_PCI_ADDR,
                        )
                    )
                }
            ),
        )
        url = (
            '/resource_providers/%s/inventories' % self.compute_rp_uuids[name]
        )
        inventories = self.placement.get(url).body
        inventories['inventories']['VGPU'] = {'total': 1}
        self.placement.put(url, inventories)
        self.flags(
            enabled_mdev_types=fakelibvirt.NVIDIA_11_VGPU_TYPE,
            group='devices',
        )

    def test_other_roots_are_not_touched(self):
        """RP-05: Nova 34 wipes those that the report client has met."""
        self.start_compute('other')
        before = self.tree('other')
        self.put_vgpu_on_the_root('host')
        make = report.SchedulerReportClient.__init__

        def make_and_meet(client, *args, **kwargs):
            make(client, *args, **kwargs)
            # As hosts of ironic and sharing providers are met.
            client._ensure_resource_provider(
                context.get_admin_context(),
                str(uuids.node_other),
                name='other',
            )

        self.patch(report.SchedulerReportClient, '__init__', make_and_meet)
        self.restart()
        self.assertIn('POST /reshaper', self.sent)
        self.assertNotIn('VGPU', self.tree('host')['host'][0])
        self.assertEqual(before, self.tree('other'))

    def test_only_what_changes_is_sent(self):
        """RP-05: no provider whose inventories stay."""
        self.put_vgpu_on_the_root('host')
        server = self.server()
        self.restart()
        (body,) = self.bodies
        self.assertEqual({}, body['allocations'])
        self.assertIn(server['id'], self.tree()['host'][1])

    def test_conflicts_that_do_not_pass(self):
        """RP-03: nova-compute ends, instead of running with the old tree."""
        self.put_vgpu_on_the_root('host')
        error = {
            'code': 'placement.concurrent_update',
            'detail': 'Inventories have changed.',
        }
        self.answers['POST /reshaper'] = lambda: fake_requests.FakeResponse(
            409, content=jsonutils.dumps({'errors': [error]})
        )
        error = self.assertRaises(exception.ReshapeFailed, self.restart)
        self.assertEqual(4, self.sent.count('POST /reshaper'))
        self.assertIn('Start nova-compute again', str(error))

    def test_children_that_cannot_be_created(self):
        """RP-03: the same for what comes before the request."""
        self.put_vgpu_on_the_root('host')

        def fail():
            raise ks_exceptions.ConnectFailure('gone')

        self.answers['POST /resource_providers'] = fail
        self.assertRaises(exception.ReshapeFailed, self.restart)

    def test_conflicts_without_a_reshape_are_left_to_the_host(self):
        self.start_compute('host')
        with mock.patch.object(
            report.SchedulerReportClient,
            'update_from_provider_tree',
            side_effect=exception.ResourceProviderUpdateConflict(
                uuid='', generation=1, error='busy'
            ),
        ) as update:
            self.restart()
        self.assertEqual(4, update.call_count)

    def test_allocations_are_not_read_in_periodics(self):
        """RP-01: the host reads what each server has, every minute."""
        self.start_compute('host')
        server = self.server()
        del self.sent[:]
        self._run_periodics()
        self.assertNotEqual([], self.sent)
        self.assertNotIn('GET /allocations/' + server['id'], self.sent)

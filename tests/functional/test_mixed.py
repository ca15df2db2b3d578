# SPDX-License-Identifier: Apache-2.0
"""Services with and without the plug-ins side by side (XC-09, XC-19)."""

import fixtures

from nova import service

from nova_xcell import features
from nova_xcell import loader
from nova_xcell import seams
from tests.embedded import cloud
from tests.functional import dest_hosts


class _PlainComputes(cloud.TwoCellCloud):
    """Every nova-compute is plain, conductor and scheduler are not."""

    def _start_compute(self, *args, **kwargs):
        self.useFixture(
            fixtures.MockPatchObject(
                service,
                'SERVICE_MANAGERS',
                dict(
                    service.SERVICE_MANAGERS,
                    **{'nova-compute': 'nova.compute.manager.ComputeManager'},
                ),
            )
        )
        return super()._start_compute(*args, **kwargs)


class TestPlainComputes(dest_hosts.DestHostsTest, _PlainComputes):
    def test_they_are_plain(self):
        self.assertTrue(loader.armed())
        for compute in self.computes.values():
            self.assertNotIn('nova_xcell', type(compute.manager).__module__)

    def test_claim_refused(self):
        server = self.boot(data_volume=True)
        self.refuse_claim('host2')
        self.resize(server)
        self.assert_taken_by('host3')

    def test_volumes_are_not_checked(self):
        server = self.boot(data_volume=True)
        asked = []
        for host in ('host2', 'host3'):
            self.computes[host].manager.driver.observer = lambda *args: (
                asked.append(args)
            )
        self.resize(server)
        self.assert_taken_by('host2')
        self.assertEqual([], asked)

    def test_answer_lost(self):
        """The records of the host show that it is done, and it is asked to
        drop the claim by the host's own call."""
        server = self.boot(data_volume=True)
        self.time_out_prep('host2', after_work=True)
        self.resize(server)
        self.assert_taken_by('host3')

    def test_request_lost(self):
        """Nothing tells that it will not be worked on yet: no other host."""
        server = self.boot(data_volume=True)
        self.time_out_prep('host2', after_work=False)
        self.resize(server)
        self.assert_as_before()
        self.assert_reason_is_told('host2: ', 'no further host was tried')


class TestPlainConductor(dest_hosts.DestHostsTest):
    """The computes carry the plug-ins, the conductor does not."""

    def setUp(self):
        super().setUp()
        for seam in loader.installed():
            if (
                seam.feature == features.CROSS_CELL_RESIZE.name
                and seam.services == ('nova-conductor',)
                and seam.item is None
            ):
                owner, key = seams.holder(
                    seam, __import__(seam.module, fromlist=['x'])
                )
                # Another feature may extend what this one replaces.
                plain = loader._installed[seam].original
                self.useFixture(fixtures.MockPatchObject(owner, key, plain))

    def test_move_and_confirm(self):
        server = self.boot(data_volume=True)
        self.resize(server)
        self.assert_taken_by('host2')
        self.confirm(server)
        self.assertEqual([], self.wait_for_no_leak(server))

    def test_unreachable_volume_leaves_the_guest_alone(self):
        """A plain host notices when the guest is gone already."""
        server = self.boot(data_volume=True)
        self.make_volume_unreachable(self.volumes_of(server)[-1], 'host2')
        self.api.post_server_action(
            server['id'],
            {'resize': {'flavorRef': self.api.get_flavors()[1]['id']}},
        )
        self._wait_for_migration_status(server, ['error'])
        self.assertIn(
            server['id'],
            self.computes['host1'].manager.driver.list_instance_uuids(),
        )
        self.assertEqual(
            {}, self.computes['host2'].manager.rt.tracked_migrations
        )

# SPDX-License-Identifier: Apache-2.0
"""Which cell a move goes to, decided by the real scheduler (XC-03)."""

from nova import test

from nova_xcell.weighers import cross_cell
from tests.embedded import cloud


class TestWeigher(cloud.TwoCellCloud):
    HOSTS = {
        'cell1': ('host1', 'host2'),
        'cell2': ('host3',),
        'cell3': ('host4',),
    }

    def goes_to(self, *weights, **action):
        if weights:
            self.flags(cell_weights=list(weights), group='xcell')
        server = self.create_server(port=False)
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])
        server = self.resize(server, **action)
        self.assertEqual('VERIFY_RESIZE', server['status'])
        return server['OS-EXT-SRV-ATTR:host']

    def test_own_cell_by_default(self):
        self.assertEqual('host2', self.goes_to())

    def test_draining_cell_is_left(self):
        self.assertEqual('host3', self.goes_to('cell1:draining'))

    def test_towards_the_chosen_cell(self):
        self.assertEqual(
            'host4', self.goes_to('cell1:draining', 'cell3:preferred')
        )

    def test_preferred_cell_draws_by_itself(self):
        self.assertEqual('host4', self.goes_to('cell3:preferred'))

    def test_uuid_instead_of_the_name(self):
        self.assertEqual(
            'host4',
            self.goes_to('%s:preferred' % self.cell_mappings['cell3'].uuid),
        )

    def test_small_weight_decides_between_other_cells_only(self):
        self.assertEqual('host2', self.goes_to('cell3:0.5'))

    def test_negative_multiplier_keeps_the_sense_of_weights(self):
        self.flags(
            cross_cell_move_weight_multiplier=-1000000.0,
            group='filter_scheduler',
        )
        self.assertEqual('host4', self.goes_to('cell3:preferred'))

    def test_named_host_is_obeyed(self):
        self.assertEqual('host3', self.goes_to('cell2:draining', host='host3'))

    def test_no_part_in_other_operations(self):
        """A server still boots in a cell that is draining."""
        self.flags(cell_weights=['cell1:draining'], group='xcell')
        server = self.create_server(port=False)
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])

    def test_unknown_cell_is_told_once(self):
        log = self.useFixture(
            test.fixtures.FakeLogger(name=cross_cell.__name__)
        )
        self.assertEqual('host2', self.goes_to('nowhere:preferred'))
        self.assertEqual(1, log.output.count('nowhere'))


class TestWithoutPolicy(cloud.TwoCellCloud):
    """XC-01: nobody may by default, so nothing changes for them."""

    HOSTS = {'cell1': ('host1', 'host2'), 'cell2': ('host3',)}

    def test_same_cell(self):
        self.policy.set_rules(
            {'compute:servers:resize:cross_cell': '!'}, overwrite=False
        )
        self.flags(cell_weights=['cell1:draining'], group='xcell')
        server = self.resize(self.create_server(port=False))
        self.assertEqual('host2', server['OS-EXT-SRV-ATTR:host'])

# SPDX-License-Identifier: Apache-2.0
"""Swap follows the flavor to another cell and back (XC-26)."""

from nova import objects

from nova_xcell.tasks import swap
from tests.functional import refusals


class TestSwap(refusals.RefusalTest):
    def resize_swap(self, before, after):
        self.boot_flavor(swap=before)
        flavor = self._create_flavor(
            vcpu=1, memory_mb=512, disk=1, ephemeral=0, swap=after
        )
        self.api.post_server_action(
            self.server['id'], {'resize': {'flavorRef': flavor}}
        )
        self.server = self.wait_for_rest(self.server)
        self.assertEqual('VERIFY_RESIZE', self.server['status'])

    def swap_in(self, cell):
        with self.context_of(cell) as context:
            bdms = objects.BlockDeviceMappingList.get_by_instance_uuid(
                context, self.server['id']
            )
            return [bdm.volume_size for bdm in bdms if swap.is_swap(bdm)]

    def test_added(self):
        self.resize_swap(0, 512)
        self.assertEqual([512], self.swap_in('cell2'))
        self.confirm(self.server)
        self.assertEqual([512], self.swap_in('cell2'))

    def test_grown(self):
        self.resize_swap(512, 1024)
        self.assertEqual([1024], self.swap_in('cell2'))

    def test_removed(self):
        self.resize_swap(512, 0)
        self.assertEqual([], self.swap_in('cell2'))

    def test_added_and_reverted(self):
        """The host's revert would want a volume attachment for it."""
        self.resize_swap(0, 512)
        self.assertEqual([512], self.swap_in('cell2'))
        self.revert(self.server)
        self.assertEqual([], self.swap_in('cell1'))
        self.assertEqual([], self.wait_for_no_leak(self.server))

    def test_grown_and_reverted(self):
        self.resize_swap(512, 1024)
        self.assertEqual([1024], self.swap_in('cell2'))
        self.revert(self.server)
        self.assertEqual([512], self.swap_in('cell1'))

    def test_removed_and_reverted(self):
        self.resize_swap(512, 0)
        self.assertEqual([], self.swap_in('cell2'))
        self.revert(self.server)
        self.assertEqual([512], self.swap_in('cell1'))

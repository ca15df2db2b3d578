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

    def test_confirmed(self):
        for before, after in ((0, 512), (512, 1024), (512, 0)):
            wanted = [after] if after else []
            self.resize_swap(before, after)
            self.assertEqual(wanted, self.swap_in('cell2'))
            self.confirm(self.server)
            self.assertEqual(wanted, self.swap_in('cell2'))

    def test_reverted(self):
        """The host's revert would want a volume attachment for a new one."""
        for before, after in ((0, 512), (512, 1024), (512, 0)):
            self.resize_swap(before, after)
            self.assertEqual([after] if after else [], self.swap_in('cell2'))
            self.revert(self.server)
            self.assertEqual([before] if before else [], self.swap_in('cell1'))
            self.assertEqual([], self.wait_for_no_leak(self.server))

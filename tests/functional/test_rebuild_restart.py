# SPDX-License-Identifier: Apache-2.0
"""A host that is started again after it died in the middle of a rebuild."""

from nova import objects
from nova.compute import task_states
from nova.compute import vm_states

from tests.functional import rebuilds


class TestRestart(rebuilds.RebuildTest):
    """VR-06: nova-compute died while it worked on a rebuild."""

    def restart(self, vm_state):
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(context, self.server['id'])
            instance.vm_state = vm_state
            instance.task_state = task_states.REBUILDING
            instance.save()
        self.flags(host='host1')
        self.computes['host1'] = self.restart_compute_service(
            self.computes['host1']
        )
        self.flags(host='controller')
        self.driver = self.computes['host1'].manager.driver

    def test_first_and_second_try(self):
        for vm_state in (vm_states.ACTIVE, vm_states.ERROR):
            with self.subTest(vm_state):
                self.restart(vm_state)
                server = self.api.get_server(self.server['id'])
                self.assertEqual('ERROR', server['status'])
                self.assertIsNone(server['OS-EXT-STS:task_state'])
                self.assertEqual('ACTIVE', self.rebuild()['status'])
                self.image, self.old_image = self.old_image, self.image

# SPDX-License-Identifier: Apache-2.0
"""What the libvirt driver tells of live migrations, on the fake libvirt."""

import fixtures

from nova import utils
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import test_live_migration as host_tests

GIB = 1024**3


class TestLibvirt(host_tests.LiveMigrationWithLockBase):
    """A server with a local disk; src and dest do not share storage."""

    # Errors of the conductor do not get to the API in a real cloud.
    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.server = self._create_server(
            host=self.src_hostname, networks='none'
        )
        self.share_storage(False)

    def share_storage(self, shared):
        # The hosts of the test are one.
        for name in (
            '_check_shared_storage_test_file',
            '_is_shared_block_storage',
        ):
            self.patch(self.src.driver, name, lambda *args: shared)

    def patch(self, owner, name, value):
        self.useFixture(fixtures.MockPatchObject(owner, name, value))

    def give_disk(self, gib):
        """Let the disk of the server hold some GiB of its 100."""
        self.patch(
            self.src.driver,
            '_get_instance_disk_info',
            lambda *args: [
                {
                    'type': 'qcow2',
                    'path': '/instances/disk',
                    'backing_file': '',
                    'disk_size': gib * GIB,
                    'virt_disk_size': 100 * GIB,
                    'over_committed_disk_size': (100 - gib) * GIB,
                }
            ],
        )

    def leave_room(self, gib):
        # Whatever the record of the destination says.
        self.patch(
            self.dest.driver,
            '_get_local_gb_info',
            lambda: {'total': 128, 'used': 128 - gib, 'free': gib},
        )

    def migrate(self, *statuses, **wanted):
        """Live-migrate the server; return what is shown at the end."""
        with utils.temporary_mutation(self.api, microversion='latest'):
            answer = self.api.api_post(
                '/servers/%s/action' % self.server['id'],
                {'os-migrateLive': wanted},
            )
            path = answer.headers['location']
            path = path[path.index('/servers/') :]

            def check():
                seen = self.api.api_get(path).body['migration']
                self.assertIn(seen['status'], statuses)

            self._wait_for_assert(check, max_retries=150, sleep=0.1)
            return self.api.api_get(path).body['migration']

    def test_disk_of_the_destination(self):
        """LM-02: it is not filled, and what fits is not refused."""
        self.give_disk(10)
        self.leave_room(9)
        seen = self.migrate('error')
        self.assertIn('Disk of instance is too large', seen['reason'])
        self.leave_room(11)
        seen = self.migrate('completed')
        self.assertIs(True, seen['block_migration'])

    def test_shared_storage(self):
        """LM-01, LM-02: found, and no disk is looked at."""
        self.share_storage(True)
        self.give_disk(10)
        self.leave_room(0)
        seen = self.migrate('completed')
        self.assertIs(False, seen['block_migration'])

    def test_explicit_mode_that_cannot_be(self):
        """LM-01: refused, and the reason says what is missing."""
        seen = self.migrate('error', block_migration=False)
        self.assertIn('requires either shared storage', seen['reason'])
        self.share_storage(True)
        seen = self.migrate('error', block_migration=True)
        self.assertIn('can not be used with shared storage', seen['reason'])

    def test_what_the_hypervisor_says(self):
        """LM-04: its words are not in the log only."""

        def fail(domain, *args, **kwargs):
            # Before Nova 34 its job runs until somebody says otherwise.
            domain.fail_job()
            raise fakelibvirt.make_libvirtError(
                fakelibvirt.libvirtError,
                'operation failed: connection reset by the moon',
                error_code=fakelibvirt.VIR_ERR_OPERATION_FAILED,
            )

        self.give_disk(1)
        self.patch(fakelibvirt.Domain, 'migrateToURI3', fail)
        # The monitor of Nova 31 does not get the error.
        seen = self.migrate('error', 'failed')
        self.assertIn('reset by the moon', seen['reason'])
        self.assertIs(True, seen['block_migration'])

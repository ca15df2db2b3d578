# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage rebuild`` on what plain hosts leave (VR-06, VR-09)."""

import json
from unittest import mock

from nova import objects

from nova_xcell.cmd import exits
from nova_xcell.cmd import findings
from tests.functional import commands
from tests.functional import rebuilds


class TestAudit(rebuilds.RebuildTest):
    def setUp(self):
        super().setUp()
        self.useFixture(commands.of_this_process())

    def run_command(self, *words):
        """Return the exit code and what was printed."""
        code, output = commands.run('rebuild', *words, '-f', 'json')
        return code, json.loads(output)

    def break_server(self):
        """Leave what a plain host leaves of a reimage that has failed.

        Some of it at least; what it leaves depends on the step.
        """
        with self.broken('timeout'):
            self.rebuild()
        self.cinder.statuses.clear()
        self.cinder.fake_attachment_create(
            None, self.root, self.server['id'], connector={'host': 'host1'}
        )
        (data,) = self.data
        self.cinder.volume_to_attachment[data].clear()
        with self.context_of('cell1') as context:
            self.computes[
                'host1'
            ].manager.reportclient.delete_allocation_for_instance(
                context, self.server['id']
            )
            instance = objects.Instance.get_by_uuid(
                context, self.server['id'], expected_attrs=['system_metadata']
            )
            instance.system_metadata['image_base_image_ref'] = self.image
            instance.system_metadata['image_hw_disk_bus'] = 'scsi'
            instance.image_ref = self.image
            instance.save()

    def all_attachments(self):
        return [self.attachments(volume) for volume in (self.root, *self.data)]

    def problems(self, rows):
        return {row['Problem']: row['Waits for'] for row in rows}

    def test_nothing_is_wrong(self):
        self.assertEqual((0, []), self.run_command('audit'))
        self.rebuild()
        self.assertEqual((0, []), self.run_command('audit'))

    def test_audit_and_heal(self):
        before = self.stored()
        self.break_server()
        broken = self.stored(), self.all_attachments()
        code, rows = self.run_command('audit')
        self.assertEqual(exits.Exit.FOUND, code)
        expected = {
            'no allocations': None,
            'attachment of no device': None,
            'device without attachment': None,
            'image out of step': None,
        }
        self.assertEqual(expected, self.problems(rows))
        self.assertEqual({self.server['id']}, {row['Server'] for row in rows})
        code, rows = self.run_command('heal', '--dry-run')
        self.assertEqual(
            (exits.Exit.FOUND, {'would be done'}),
            (code, {row['Result'] for row in rows}),
        )
        with mock.patch.object(findings, '_check_server'):
            self.assertEqual(
                (0, []),
                self.run_command(
                    'heal', '--server', 'a8b1f5a4-0000-4000-8000-000000000000'
                ),
            )
        self.assertEqual(broken, (self.stored(), self.all_attachments()))
        self.assertEqual({}, self.allocated())
        code, rows = self.run_command('heal')
        self.assertEqual(
            (0, {'done'}), (code, {row['Result'] for row in rows})
        )
        self.assertEqual((0, []), self.run_command('audit'))
        self.assertEqual(self.allocations, self.allocated())
        metadata, spec, fields = self.stored()
        self.assertNotIn('image_hw_disk_bus', metadata)
        self.assertEqual(self.old_image, metadata['image_base_image_ref'])
        self.assertEqual(self.old_image, spec['id'])
        self.assertEqual(before[2], fields)
        for volume in (self.root, *self.data):
            (attachment,) = self.attachments(volume)
            self.assertIsNone(attachment['connector'])
        # The user can go on.
        self.assertEqual('ACTIVE', self.rebuild()['status'])
        self.assertEqual((0, []), self.run_command('audit'))

    def test_volume_in_error_is_left_to_the_operator(self):
        with self.broken('reimage failed'):
            self.rebuild()
        code, rows = self.run_command('audit')
        self.assertEqual(exits.Exit.FOUND, code)
        self.assertEqual(['volume in error'], list(self.problems(rows)))
        code, rows = self.run_command('heal')
        self.assertEqual((0, 'left alone'), (code, rows[0]['Result']))
        self.assertIn('set its status to reserved', rows[0]['Waits for'])

    def test_what_cannot_be_mended(self):
        self.break_server()
        (data,) = self.data
        with self.broken('attachment create'):
            # Cinder fails for these only.
            self.cinder.bootable[data] = self.old_image
            code, rows = self.run_command('heal')
        results = {row['Problem']: row['Result'] for row in rows}
        self.assertEqual(1, code)
        self.assertIn('broken', results['device without attachment'])
        self.assertEqual('done', results['no allocations'])

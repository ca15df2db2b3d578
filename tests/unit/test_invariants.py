# SPDX-License-Identifier: Apache-2.0
"""The invariant checker finds what it is there to find."""

from __future__ import annotations

import dataclasses
from typing import Any
import unittest

from tests.embedded import invariants
from tests.embedded import snapshots

SERVER, MOVE = 'server-uuid', 'move-uuid'


def record(host: str, **changes: Any) -> snapshots.Record:
    """Make the record of a server with one volume.

    :param host: where it says the server is
    :param changes: fields that differ from those of a server at rest
    :returns: the record
    """
    plain = snapshots.Record(
        host=host,
        node=host,
        hidden=False,
        vm_state='active',
        task_state=None,
        flavor='small',
        volumes={'volume': f'attachment-{host}'},
    )
    return dataclasses.replace(plain, **changes)


def at_rest(**changes: Any) -> snapshots.Snapshot:
    """Make a snapshot of a server that runs on host1 of cell1.

    :param changes: fields that differ from it
    :returns: the snapshot
    """
    plain = snapshots.Snapshot(
        server=SERVER,
        mapping='cell1',
        records={'cell1': record('host1')},
        spec_flavor='small',
        moves={},
        allocations={SERVER: {'host1': {'VCPU': 1}}},
        bindings={'port': {'host1': 'ACTIVE'}},
        attachments={
            'attachment-host1': snapshots.Attachment('volume', 'host1')
        },
        images=(),
        claims={'host1': ('instance',)},
        guests=('host1',),
        vcpus={'host1': 1},
    )
    return dataclasses.replace(plain, **changes)


def resized(**changes: Any) -> snapshots.Snapshot:
    """Make a snapshot of a server resized from cell1 to host2 of cell2.

    :param changes: fields that differ from it
    :returns: the snapshot
    """
    plain = at_rest(
        mapping='cell2',
        records={
            'cell1': record(
                'host1', hidden=True, task_state='resize_migrated'
            ),
            'cell2': record('host2', vm_state='resized', flavor='large'),
        },
        spec_flavor='large',
        moves={
            'cell1': (
                snapshots.Move(MOVE, 'post-migrating', 'host1', 'host2'),
            ),
            'cell2': (snapshots.Move(MOVE, 'finished', 'host1', 'host2'),),
        },
        allocations={
            SERVER: {'host2': {'VCPU': 2}},
            MOVE: {'host1': {'VCPU': 1}},
        },
        bindings={'port': {'host1': 'INACTIVE', 'host2': 'ACTIVE'}},
        attachments={
            'attachment-host1': snapshots.Attachment('volume', None),
            'attachment-host2': snapshots.Attachment('volume', 'host2'),
        },
        claims={'host1': ('instance',), 'host2': ('migration',)},
        guests=('host2',),
    )
    return dataclasses.replace(plain, **changes)


def deleted(**changes: Any) -> snapshots.Snapshot:
    """Make a snapshot of a server that is gone.

    :param changes: fields that differ from it
    :returns: the snapshot
    """
    plain = at_rest(
        records={},
        spec_flavor=None,
        allocations={},
        bindings={},
        attachments={},
        claims={},
        guests=(),
    )
    return dataclasses.replace(plain, **changes)


class LeaksTest(unittest.TestCase):
    """What `leaks` says about good and bad snapshots."""

    def test_nothing_to_say_about_a_sound_server(self) -> None:
        """At rest, resized to another cell and deleted, all is well."""
        for sound in (at_rest(), resized(), deleted()):
            self.assertEqual([], invariants.leaks(sound))

    def test_each_kind_of_leak_is_named(self) -> None:
        """One thing too many or too few gives the finding about it."""
        stray = snapshots.Attachment('volume', 'host2')
        both = {**at_rest().attachments, 'stray': stray}
        cases = (
            (
                'leftover record in cell2',
                at_rest(
                    records={
                        **at_rest().records,
                        'cell2': record('host2', hidden=True),
                    }
                ),
            ),
            (
                'visible records in',
                resized(
                    records={**resized().records, 'cell1': record('host1')}
                ),
            ),
            (
                'is stuck in task resize_prep',
                at_rest(
                    records={
                        'cell1': record('host1', task_state='resize_prep')
                    }
                ),
            ),
            (
                'the request spec has flavor large, the server small',
                at_rest(spec_flavor='large'),
            ),
            (
                'left in status pre-migrating',
                at_rest(
                    moves={
                        'cell1': (
                            snapshots.Move(
                                MOVE, 'pre-migrating', 'host1', None
                            ),
                        )
                    }
                ),
            ),
            (
                'leftover allocation of the server on host2',
                at_rest(allocations={SERVER: {'host1': {}, 'host2': {}}}),
            ),
            (
                'leftover allocation of the migration',
                deleted(
                    moves={
                        'cell1': (
                            snapshots.Move(MOVE, 'error', 'host1', None),
                        )
                    },
                    allocations={MOVE: {'host1': {}}},
                ),
            ),
            (
                'missing allocation of the migration',
                resized(allocations={SERVER: {'host2': {}}}),
            ),
            (
                'leftover binding of port port on host2',
                at_rest(
                    bindings={'port': {'host1': 'ACTIVE', 'host2': 'INACTIVE'}}
                ),
            ),
            (
                'binding of port port is INACTIVE on host1',
                at_rest(bindings={'port': {'host1': 'INACTIVE'}}),
            ),
            (
                'port port is not bound on host1',
                at_rest(bindings={'port': {}}),
            ),
            ('leftover attachment stray', at_rest(attachments=both)),
            ('points at attachment attachme', at_rest(attachments={})),
            (
                'is for no host, not host1',
                at_rest(
                    attachments={
                        'attachment-host1': snapshots.Attachment(
                            'volume', None
                        )
                    }
                ),
            ),
            (
                'is still connected to host1',
                resized(
                    attachments={
                        **resized().attachments,
                        'attachment-host1': snapshots.Attachment(
                            'volume', 'host1'
                        ),
                    }
                ),
            ),
            ('temporary snapshot image', at_rest(images=('image',))),
            (
                'leftover claim on host2',
                at_rest(
                    claims={'host1': ('instance',), 'host2': ('migration',)}
                ),
            ),
            ('host1 does not count', at_rest(claims={})),
            ('a guest is left on host1', resized(guests=('host1', 'host2'))),
            ('there is no guest on host1', at_rest(guests=())),
        )
        for finding, snapshot in cases:
            with self.subTest(finding=finding):
                found = invariants.leaks(snapshot)
                self.assertTrue(any(finding in line for line in found), found)

    def test_a_guest_stays_behind_within_a_cell(self) -> None:
        """A resize in one cell keeps the old guest until it is confirmed."""
        here = resized(
            mapping='cell1',
            records={
                'cell1': record('host2', vm_state='resized', flavor='large')
            },
            moves={'cell1': resized().moves['cell2']},
            bindings={'port': {'host2': 'ACTIVE'}},
            attachments={
                'attachment-host2': snapshots.Attachment('volume', 'host2')
            },
            guests=('host1', 'host2'),
        )
        self.assertEqual([], invariants.leaks(here))


class DiffTest(unittest.TestCase):
    """What `diff` says about two snapshots."""

    def test_tells_what_came_changed_and_went(self) -> None:
        """One line per change, none for what stayed."""
        after = at_rest(
            guests=(),
            images=('image',),
            bindings={'port': {'host1': 'INACTIVE'}},
        )
        self.assertEqual(
            [
                '~ binding port on host1: ACTIVE => INACTIVE',
                '+ snapshot image: temporary, in Glance',
                '- guest on host1: was exists',
            ],
            snapshots.diff(at_rest(), after),
        )

    def test_from_nothing_and_to_nothing(self) -> None:
        """A server that appears or is gone for good."""
        self.assertEqual([], snapshots.diff(None, None))
        appeared = snapshots.diff(None, at_rest())
        gone = snapshots.diff(at_rest(), None)
        self.assertEqual(len(appeared), len(gone))
        self.assertTrue(all(line.startswith('+ ') for line in appeared))
        self.assertTrue(all(line.startswith('- ') for line in gone))


if __name__ == '__main__':
    unittest.main()

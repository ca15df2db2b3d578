# SPDX-License-Identifier: Apache-2.0
"""Which flags a live migration gets (MF-05, MF-09)."""

import itertools
import unittest

import ddt

from nova_xcell.virt import migration_flags
from nova_xcell.virt import wishes

VALUES = {
    migration_flags.AUTO_CONVERGE: 1,
    migration_flags.POST_COPY: 2,
    migration_flags.PARALLEL: 4,
}
#: What keeps a guest from post-copy.
KINDS = ('passthrough', 'persistent_memory', 'paused')

NEITHER, CONVERGE, SWITCH = 'neither', 'auto-converge', 'post-copy'

#: What a host permits (auto-converge, post-copy), what a server wishes (the
#: same), what its migration uses, and what it uses if the guest cannot be
#: switched to post-copy.
TABLE = (
    ((False, False), (None, None), NEITHER, NEITHER),
    ((False, False), (None, False), NEITHER, NEITHER),
    ((False, False), (None, True), SWITCH, NEITHER),
    ((False, False), (False, None), NEITHER, NEITHER),
    ((False, False), (False, False), NEITHER, NEITHER),
    ((False, False), (False, True), SWITCH, NEITHER),
    ((False, False), (True, None), CONVERGE, CONVERGE),
    ((False, False), (True, False), CONVERGE, CONVERGE),
    ((False, False), (True, True), SWITCH, CONVERGE),
    ((False, True), (None, None), SWITCH, NEITHER),
    ((False, True), (None, False), NEITHER, NEITHER),
    ((False, True), (None, True), SWITCH, NEITHER),
    ((False, True), (False, None), SWITCH, NEITHER),
    ((False, True), (False, False), NEITHER, NEITHER),
    ((False, True), (False, True), SWITCH, NEITHER),
    ((False, True), (True, None), CONVERGE, CONVERGE),
    ((False, True), (True, False), CONVERGE, CONVERGE),
    ((False, True), (True, True), SWITCH, CONVERGE),
    ((True, False), (None, None), CONVERGE, CONVERGE),
    ((True, False), (None, False), CONVERGE, CONVERGE),
    ((True, False), (None, True), SWITCH, CONVERGE),
    ((True, False), (False, None), NEITHER, NEITHER),
    ((True, False), (False, False), NEITHER, NEITHER),
    ((True, False), (False, True), SWITCH, NEITHER),
    ((True, False), (True, None), CONVERGE, CONVERGE),
    ((True, False), (True, False), CONVERGE, CONVERGE),
    ((True, False), (True, True), SWITCH, CONVERGE),
    ((True, True), (None, None), SWITCH, CONVERGE),
    ((True, True), (None, False), CONVERGE, CONVERGE),
    ((True, True), (None, True), SWITCH, CONVERGE),
    ((True, True), (False, None), SWITCH, NEITHER),
    ((True, True), (False, False), NEITHER, NEITHER),
    ((True, True), (False, True), SWITCH, NEITHER),
    ((True, True), (True, None), CONVERGE, CONVERGE),
    ((True, True), (True, False), CONVERGE, CONVERGE),
    ((True, True), (True, True), SWITCH, CONVERGE),
)


def used(flags):
    return [name for name, choice in flags.items() if choice.used]


@ddt.ddt
class TestDecide(unittest.TestCase):
    def decide(self, permitted, wished, tunnelled=False, **kinds):
        flags = migration_flags.decide(
            migration_flags.Host(*permitted, tunnelled=tunnelled),
            wishes.Wishes(*wished),
            migration_flags.Guest(**kinds),
        )
        return {
            (): NEITHER,
            ('auto_converge',): CONVERGE,
            ('post_copy',): SWITCH,
        }[tuple(used(flags))]

    def test_table_is_complete(self):
        self.assertEqual(
            [
                (permitted, wished)
                for permitted in itertools.product((False, True), repeat=2)
                for wished in itertools.product((None, False, True), repeat=2)
            ],
            [row[:2] for row in TABLE],
        )

    @ddt.data(*TABLE)
    @ddt.unpack
    def test_host_and_wishes(self, permitted, wished, expected, _otherwise):
        """MF-05"""
        self.assertEqual(expected, self.decide(permitted, wished))

    @ddt.data(*TABLE)
    @ddt.unpack
    def test_guest_that_cannot_be_switched(
        self, permitted, wished, _expected, otherwise
    ):
        """MF-09"""
        for kind in KINDS:
            with self.subTest(kind):
                self.assertEqual(
                    otherwise, self.decide(permitted, wished, **{kind: True})
                )

    @ddt.data(*TABLE)
    @ddt.unpack
    def test_tunnelled(self, permitted, wished, _expected, otherwise):
        """libvirt refuses to do both (MF-09)"""
        self.assertEqual(
            otherwise, self.decide(permitted, wished, tunnelled=True)
        )


@ddt.ddt
class TestParallel(unittest.TestCase):
    @ddt.data(
        (False, True, True, False),
        (True, True, True, True),
        (True, True, False, False),
        # Not switched, so what QEMU can do plays no part.
        (True, False, False, True),
    )
    @ddt.unpack
    def test_with_post_copy(self, configured, post_copy, able, expected):
        """MF-09"""
        flags = migration_flags.decide(
            migration_flags.Host(
                parallel=configured, parallel_with_post_copy=able
            ),
            wishes.Wishes(post_copy=post_copy),
            migration_flags.Guest(),
        )
        self.assertEqual(post_copy, flags.post_copy.used)
        self.assertEqual(expected, flags.parallel.used)


class TestFlags(unittest.TestCase):
    def flags(self, *choices):
        return migration_flags.Flags(
            *(migration_flags.Choice(used, 'because') for used in choices)
        )

    def test_other_flags_stay(self):
        for host in (8, 15):
            self.assertEqual(
                8 | 2, self.flags(False, True, False).applied(host, VALUES)
            )
        self.assertEqual(
            8 | 1 | 4, self.flags(True, False, True).applied(8, VALUES)
        )

    def test_release_that_has_no_parallel(self):
        values = {**VALUES, migration_flags.PARALLEL: 0}
        self.assertEqual(
            12, self.flags(False, False, False).applied(12, values)
        )

    def test_spelled_with_reasons(self):
        flags = migration_flags.decide(
            migration_flags.Host(auto_converge=True, post_copy=True),
            wishes.Wishes(post_copy=True),
            migration_flags.Guest(paused=True),
        )
        self.assertEqual(
            "auto-converge on (permitted by the host's configuration), "
            'post-copy off (the guest is paused), '
            'parallel off (not configured)',
            str(flags),
        )

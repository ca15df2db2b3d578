# SPDX-License-Identifier: Apache-2.0
"""Which flags one live migration gets: pure, no host imports.

The host decides once for all of its guests. Here it is decided for each
migration, from what the host permits, what the server wishes and what the
guest is able to do. See spec expose-auto-converge-post-copy.
"""

from __future__ import annotations

import dataclasses
import typing as ty

from nova_xcell.virt import wishes as server_wishes

AUTO_CONVERGE = server_wishes.AUTO_CONVERGE
POST_COPY = server_wishes.POST_COPY
PARALLEL = 'parallel'

#: The least QEMU that sends memory through several connections (multifd) to a
#: guest that may switch to post-copy.
PARALLEL_WITH_POST_COPY = (10, 1, 0)


@dataclasses.dataclass(frozen=True)
class Host:
    """What a host does with a guest that wishes nothing.

    :ivar auto_converge: its configuration permits auto-converge
    :ivar post_copy: its configuration permits post-copy
    :ivar parallel: memory is sent through several connections
    :ivar tunnelled: memory goes through libvirt's own connection
    :ivar parallel_with_post_copy: its QEMU can do both in one migration
    """

    auto_converge: bool = False
    post_copy: bool = False
    parallel: bool = False
    tunnelled: bool = False
    parallel_with_post_copy: bool = False


@dataclasses.dataclass(frozen=True)
class Guest:
    """What keeps a guest from post-copy.

    :ivar passthrough: it has devices of the host (VFIO: PCI, vGPU)
    :ivar persistent_memory: it has vPMEM
    :ivar paused: it does not run
    """

    passthrough: bool = False
    persistent_memory: bool = False
    paused: bool = False


class Choice(ty.NamedTuple):
    """Whether a migration uses one feature of the hypervisor, and why."""

    used: bool
    reason: str


@dataclasses.dataclass(frozen=True)
class Flags:
    """What one migration uses.

    :ivar auto_converge: slow the guest down until it can be moved
    :ivar post_copy: may switch to the destination before all memory is there
    :ivar parallel: send memory through several connections
    """

    auto_converge: Choice
    post_copy: Choice
    parallel: Choice

    def items(self) -> list[tuple[str, Choice]]:
        """Return names and choices."""
        return [
            (field.name, getattr(self, field.name))
            for field in dataclasses.fields(self)
        ]

    def applied(self, flags: int, values: ty.Mapping[str, int]) -> int:
        """Return a host's flags with those of this migration in them.

        :param flags: flags as the host would use them
        :param values: libvirt's flag by :data:`AUTO_CONVERGE`,
            :data:`POST_COPY` and :data:`PARALLEL`
        """
        for name, choice in self.items():
            if choice.used:
                flags |= values[name]
            else:
                flags &= ~values[name]
        return flags

    def __str__(self) -> str:
        return ', '.join(
            '%s %s (%s)'
            % (
                name.replace('_', '-'),
                'on' if choice.used else 'off',
                choice.reason,
            )
            for name, choice in self.items()
        )


_ASKED = 'asked for by the flavor or image'
_RULED_OUT = 'ruled out by the flavor or image'
_PERMITTED = "permitted by the host's configuration"
_NOT_PERMITTED = "not permitted by the host's configuration"


def decide(host: Host, wishes: server_wishes.Wishes, guest: Guest) -> Flags:
    """Choose what a migration uses.

    A wish goes before the host's configuration, in both directions (MF-05).
    What the guest cannot do is left out whoever asked for it (MF-09).

    :param host: the source host
    :param wishes: of the server, as they are tolerated
    :param guest: the guest as it is when the migration starts
    """
    post_copy = _post_copy(host, wishes, guest)
    return Flags(
        auto_converge=_auto_converge(host, wishes, post_copy),
        post_copy=post_copy,
        parallel=_parallel(host, post_copy),
    )


def _post_copy(
    host: Host, wishes: server_wishes.Wishes, guest: Guest
) -> Choice:
    if wishes.post_copy is False:
        return Choice(False, _RULED_OUT)
    if wishes.post_copy is None:
        if not host.post_copy:
            return Choice(False, _NOT_PERMITTED)
        if wishes.auto_converge:
            return Choice(False, 'auto-converge is asked for')
    # All of these are refused by QEMU or libvirt, at a time when the
    # destination is ready and nothing else can be tried.
    for obstacle, reason in (
        (guest.passthrough, 'the guest has devices of the host'),
        (guest.persistent_memory, 'the guest has persistent memory'),
        (guest.paused, 'the guest is paused'),
        (host.tunnelled, 'migrations of the host are tunnelled'),
    ):
        if obstacle:
            return Choice(False, reason)
    return Choice(True, _ASKED if wishes.post_copy else _PERMITTED)


def _auto_converge(
    host: Host, wishes: server_wishes.Wishes, post_copy: Choice
) -> Choice:
    if wishes.auto_converge is False:
        return Choice(False, _RULED_OUT)
    if not wishes.auto_converge and not host.auto_converge:
        return Choice(False, _NOT_PERMITTED)
    if post_copy.used:
        return Choice(False, 'post-copy is used')
    return Choice(True, _ASKED if wishes.auto_converge else _PERMITTED)


def _parallel(host: Host, post_copy: Choice) -> Choice:
    if not host.parallel:
        return Choice(False, 'not configured')
    if post_copy.used and not host.parallel_with_post_copy:
        return Choice(False, 'QEMU of the host cannot do it with post-copy')
    return Choice(True, 'configured')

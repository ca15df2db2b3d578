# SPDX-License-Identifier: Apache-2.0
"""What one server holds all over a cloud, as plain values; and differences.

Knows nothing of Nova: `observe` fills these in, `invariants` judges them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses

#: The first words of what `Snapshot.facts` names, in reading order.
KINDS = (
    'mapping',
    'record',
    'migration',
    'allocation',
    'binding',
    'attachment',
    'snapshot',
    'claim',
    'guest',
)

#: Resource class -> amount.
Resources = Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Record:
    """The row of the server in the database of one cell."""

    host: str | None
    node: str | None
    hidden: bool
    vm_state: str | None
    task_state: str | None
    #: The flavor that the server has there, by its public id.
    flavor: str | None
    #: Volume -> the attachment that the block device mapping points at.
    volumes: Mapping[str, str | None]


@dataclasses.dataclass(frozen=True)
class Move:
    """A migration record of one cell."""

    uuid: str
    status: str
    source: str | None
    dest: str | None


@dataclasses.dataclass(frozen=True)
class Attachment:
    """An attachment that Cinder knows; without a host it is empty."""

    volume: str
    host: str | None


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """All that belongs to one server at one moment, whoever keeps it."""

    server: str
    #: The cell that the instance mapping points at.
    mapping: str | None
    #: Cell -> its record of the server.
    records: Mapping[str, Record]
    #: The flavor that the request spec asks a scheduler for.
    spec_flavor: str | None
    #: Cell -> its migration records of the server, oldest first.
    moves: Mapping[str, tuple[Move, ...]]
    #: Consumer (the server or a migration) -> provider -> resources.
    allocations: Mapping[str, Mapping[str, Resources]]
    #: Port -> host -> ACTIVE or INACTIVE.
    bindings: Mapping[str, Mapping[str, str]]
    #: Attachment id -> attachment.
    attachments: Mapping[str, Attachment]
    #: Temporary snapshots in Glance.
    images: tuple[str, ...]
    #: Host -> what its resource tracker counts: `instance`, `migration`.
    claims: Mapping[str, tuple[str, ...]]
    #: Hosts on whose hypervisor the guest exists.
    guests: tuple[str, ...]
    #: Host -> virtual CPUs that its resource tracker reports as used,
    #: by this and all other servers.
    vcpus: Mapping[str, int]

    @property
    def home(self) -> Record | None:
        """The record that the mapping points at, None when there is none."""
        return self.records.get(self.mapping) if self.mapping else None

    def facts(self) -> dict[str, str]:
        """Put the snapshot in words.

        :returns: one line per thing that exists, by a name that stays the
            same from snapshot to snapshot
        """
        return dict(
            [
                *self._nova_facts(),
                *self._placement_facts(),
                *self._storage_and_network_facts(),
                *self._host_facts(),
            ]
        )

    def _nova_facts(self) -> Iterator[tuple[str, str]]:
        if self.mapping:
            yield 'mapping', self.mapping
        for cell, record in self.records.items():
            seen = 'hidden' if record.hidden else 'visible'
            state = f'{record.vm_state}/{record.task_state}'
            yield f'record {cell}', f'{seen} host={record.host} {state}'
        for cell, moves in self.moves.items():
            for move in moves:
                yield (
                    f'migration {short(move.uuid)} in {cell}',
                    f'{move.status} {move.source} -> {move.dest}',
                )

    def _placement_facts(self) -> Iterator[tuple[str, str]]:
        for consumer, providers in self.allocations.items():
            who = 'server'
            if consumer != self.server:
                who = f'migration {short(consumer)}'
            for provider, resources in providers.items():
                amounts = (
                    f'{name}={amount}'
                    for name, amount in sorted(resources.items())
                )
                yield f'allocation {provider} by {who}', ' '.join(amounts)

    def _storage_and_network_facts(self) -> Iterator[tuple[str, str]]:
        for port, hosts in self.bindings.items():
            for host, status in hosts.items():
                yield f'binding {short(port)} on {host}', status
        for key, attachment in self.attachments.items():
            volume = short(attachment.volume)
            yield (
                f'attachment {short(key)} of volume {volume}',
                attachment.host or 'empty',
            )
        for image in self.images:
            yield f'snapshot {short(image)}', 'temporary, in Glance'

    def _host_facts(self) -> Iterator[tuple[str, str]]:
        for host, kinds in self.claims.items():
            yield f'claim on {host}', ', '.join(kinds)
        for host in self.guests:
            yield f'guest on {host}', 'exists'


def short(uuid: str) -> str:
    """Shorten a uuid so that a line stays readable.

    :param uuid: the uuid
    :returns: its first eight characters
    """
    return uuid[:8]


def diff(before: Snapshot | None, after: Snapshot | None) -> list[str]:
    """Tell what changed from one snapshot to the next.

    :param before: the earlier one, None when nothing was there yet
    :param after: the later one, None when nothing is left
    :returns: readable lines: `+` appeared, `-` went away, `~` changed
    """
    old = before.facts() if before else {}
    new = after.facts() if after else {}
    # Stable: what is of one kind stays together and in order.
    names = sorted(
        {**old, **new}, key=lambda name: KINDS.index(name.split()[0])
    )
    lines = []
    for name in names:
        if name not in new:
            lines.append(f'- {name}: was {old[name]}')
        elif name not in old:
            lines.append(f'+ {name}: {new[name]}')
        elif old[name] != new[name]:
            lines.append(f'~ {name}: {old[name]} => {new[name]}')
    return lines

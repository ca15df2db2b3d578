# SPDX-License-Identifier: Apache-2.0
"""What keeps a server from moving to another cell: pure, no host imports.

A move to another cell carries the root disk through the image service, and
the records. Nothing else that is on the source host comes along. A server
that has more is refused before anything is touched (XC-26).
"""

import dataclasses
import typing as ty

EPHEMERAL = 'ephemeral'
PERSONALITY = 'personality'
DISK_SHRINK = 'disk-shrink'
VTPM = 'vtpm'
SHARES = 'shares'
SIGNED_IMAGE = 'signed-image'
PORT_REQUESTS = 'port-requests'
OLD_CINDER = 'old-cinder'
OLD_NEUTRON = 'old-neutron'
OLD_COMPUTE = 'old-compute'

#: What an operator can allow to be lost.
LOSABLE = (EPHEMERAL, PERSONALITY)

#: Key of system metadata: what may be lost in the move that is asked for.
MAY_LOSE = 'xcell_may_lose'

#: Key of system metadata: the request that may move the server although it
#: has ports with a resource request.
PORTS_MAY_MOVE = 'xcell_ports_may_move'

#: Key of system metadata: the server was created with personality files.
HAS_PERSONALITY = 'xcell_personality'

#: How the keys of system metadata begin that hold a signature of the image.
_SIGNATURE = 'image_img_signature'


@dataclasses.dataclass(frozen=True)
class Facts:
    """What there is to know about a server and the move asked for.

    :ivar root_is_local: the root disk is on the host and not a volume
    :ivar old_root_gb: root disk in the flavor it has
    :ivar new_root_gb: root disk in the flavor it gets
    :ivar ephemeral_gb: size of its ephemeral disks
    :ivar vtpm: it has an emulated TPM
    :ivar shares: number of shares attached
    :ivar signed_image: its image is signed
    :ivar config_drive: it has a config drive
    :ivar personality: it was created with personality files
    :ivar port_requests: it has ports with a resource request, which only
        services with the plug-ins can move
    """

    root_is_local: bool = True
    old_root_gb: int = 0
    new_root_gb: int = 0
    ephemeral_gb: int = 0
    vtpm: bool = False
    shares: int = 0
    signed_image: bool = False
    config_drive: bool = False
    personality: bool = False
    port_requests: bool = False


class Obstacle(ty.NamedTuple):
    """One reason against a move."""

    kind: str
    reason: str


def find(
    facts: Facts, may_lose: ty.Collection[str] = ()
) -> tuple[Obstacle, ...]:
    """List what keeps a server from moving to another cell.

    :param facts: what there is to know about it
    :param may_lose: kinds that are allowed to be lost
    :returns: the obstacles; empty if it can move
    """
    return tuple(
        Obstacle(kind, reason)
        for kind, reason in _reasons(facts)
        if kind not in may_lose or kind not in LOSABLE
    )


def _reasons(facts: Facts) -> ty.Iterator[tuple[str, str]]:
    if facts.ephemeral_gb:
        yield (
            EPHEMERAL,
            'it has ephemeral disks (%d GB), which would be blank afterwards'
            % facts.ephemeral_gb,
        )
    if facts.personality and facts.config_drive:
        yield PERSONALITY, personality_reason()
    if facts.root_is_local and 0 < facts.new_root_gb < facts.old_root_gb:
        yield (
            DISK_SHRINK,
            'its root disk would shrink from %d GB to %d GB'
            % (facts.old_root_gb, facts.new_root_gb),
        )
    if facts.vtpm:
        yield VTPM, 'it has an emulated TPM, whose content would be lost'
    if facts.shares:
        yield (
            SHARES,
            'it has %d attached share(s); detach them first' % facts.shares,
        )
    if facts.root_is_local and facts.signed_image:
        yield (
            SIGNED_IMAGE,
            'its image is signed, and a snapshot of its root disk is not',
        )


def port_requests_at(service: str) -> Obstacle:
    """Say that a service cannot move ports with a resource request.

    :param service: the service, which does not carry the plug-ins
    """
    return Obstacle(
        PORT_REQUESTS,
        'it has ports with a resource request (QoS), and %s does not carry '
        'nova-xcell, which they need' % service,
    )


def ports_may_move(
    request_id: str, system_metadata: ty.Mapping[str, str]
) -> bool:
    """Tell whether a request may move a server with such ports.

    :param request_id: the request; that of an earlier one does not count
    :param system_metadata: of the server
    """
    return system_metadata.get(PORTS_MAY_MOVE) == request_id


def personality_reason() -> str:
    """Say why personality files are in the way."""
    return (
        'its config drive has personality files, which would be missing '
        'from the one that is made anew'
    )


def summary(found: ty.Iterable[Obstacle]) -> str:
    """Return all reasons in one sentence, for errors, faults and logs.

    :param found: the obstacles, at least one
    """
    return 'The server cannot be moved to another cell: %s.' % '; '.join(
        obstacle.reason for obstacle in found
    )


def is_signed(system_metadata: ty.Iterable[str]) -> bool:
    """Tell from a server's system metadata whether its image is signed.

    :param system_metadata: the keys, or the dictionary
    """
    return any(key.startswith(_SIGNATURE) for key in system_metadata)


def grant(request_id: str, kinds: ty.Iterable[str]) -> str:
    """Spell what a request may lose, for :data:`MAY_LOSE`.

    :param request_id: the request; another one may lose nothing by this
    :param kinds: kinds out of :data:`LOSABLE`
    """
    return ' '.join([request_id, *sorted(kinds)])


def granted(request_id: str, spelled: str | None) -> frozenset[str]:
    """Return what a request may lose.

    :param request_id: the request
    :param spelled: the value of :data:`MAY_LOSE`, None if there is none
    """
    owner, *kinds = (spelled or '').split() or ['']
    if owner != request_id:
        return frozenset()
    return frozenset(kinds).intersection(LOSABLE)

# SPDX-License-Identifier: Apache-2.0
"""What a failed rebuild leaves, and what the state of a volume means: pure.

One question decides how a rebuild that failed ends: what is on the root
volume. As long as Cinder has not accepted to write to it the old system is
there, and the server gets it back. From then on nobody knows until Cinder has
finished, and afterwards the new image is there.
"""

from __future__ import annotations

import dataclasses
import enum
import math


class Content(enum.Enum):
    """What is on the root volume."""

    OLD = 'the old system'
    UNKNOWN = 'unknown'
    NEW = 'the new image'


class Progress(enum.Enum):
    """How far Cinder is with writing the image."""

    REFUSED = 'refused'
    RUNNING = 'running'
    DONE = 'done'
    FAILED = 'failed'
    UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True)
class End:
    """How a server and what belongs to it come out of a failed rebuild.

    The allocations in placement stay, and each volume has one attachment.

    :ivar is_restored: whether the server is in its previous state; it is in
        ERROR otherwise, and can be rebuilt again
    :ivar has_new_image: whether the stored image metadata and the request
        spec are those of the new image
    :ivar is_root_connected: whether the attachment of the root volume is;
        otherwise it only reserves the volume for the server. None: either
    :ivar is_rebuilt: whether the rebuild has gone on and is done
    """

    is_restored: bool
    has_new_image: bool
    is_root_connected: bool | None
    is_rebuilt: bool = False


_ENDS = {
    Content.OLD: End(True, False, True),
    # What Cinder says is on the volume: it changes that when it has finished.
    Content.UNKNOWN: End(False, False, False),
    Content.NEW: End(False, True, None),
}

#: Each step of a rebuild with a new image, in their order, and what is on the
#: root volume if it fails. The documentation has the same table.
FAILURES: dict[str, Content] = {
    'scheduling': Content.OLD,
    'pre-flight': Content.OLD,
    'power off': Content.OLD,
    'attachment create': Content.OLD,
    'disconnect': Content.OLD,
    'attachment delete': Content.OLD,
    'reimage refused': Content.OLD,
    'reimage failed': Content.UNKNOWN,
    'event lost': Content.NEW,
    'event late': Content.NEW,
    'timeout': Content.UNKNOWN,
    'destroy': Content.NEW,
    'attachment update': Content.NEW,
    'attachment complete': Content.NEW,
    'spawn': Content.NEW,
}
#: Those of them that a rebuild survives.
SURVIVED = ('event lost', 'event late')

#: Statuses of a volume. A free one has no attachment.
FREE = 'available'
WRITING = 'downloading'
KEPT = 'reserved'
IN_USE = 'in-use'


def end(content: Content) -> End:
    """Tell how a failed rebuild ends.

    :param content: what is on the root volume
    """
    return _ENDS[content]


def end_after(step: str) -> End:
    """Tell how a rebuild ends one step of which has failed.

    :param step: one of :data:`FAILURES`
    """
    if step in SURVIVED:
        return End(False, True, True, is_rebuilt=True)
    return end(FAILURES[step])


def progress(status: str, image_id: str | None, wanted: str) -> Progress:
    """Tell from a volume how far a reimage is that Cinder has accepted.

    Cinder says that it is writing before it answers, and notes the image of a
    volume when it has written it.

    :param status: of the volume
    :param image_id: the image that the volume was made from, as Cinder has it
    :param wanted: the image that is being written
    """
    if status == WRITING:
        return Progress.RUNNING
    if status.startswith('error') or status == FREE:
        # Whose attachment is gone is deleted itself.
        return Progress.FAILED
    if status == KEPT or (status == IN_USE and image_id == wanted):
        return Progress.DONE
    return Progress.UNKNOWN


def after_event(status: str | None) -> Progress:
    """Tell how far a reimage is when Cinder has sent that it is done.

    The event may be that of an earlier one, for which nobody waits any more.

    :param status: of the volume after it; None if Cinder does not tell
    """
    if status == WRITING:
        return Progress.RUNNING
    if status is not None and status.startswith('error'):
        return Progress.FAILED
    return Progress.DONE


def after_error(
    status: str | None,
    code: int | None,
    image_id: str | None,
    wanted: str,
    before: str | None,
) -> Progress:
    """Tell what became of a request to reimage that ended with an error.

    :param status: of the volume after it; None if Cinder does not tell
    :param code: the HTTP status that Cinder has answered with; None if no
        answer came
    :param image_id: the image that the volume was made from, as Cinder has it
        after the request
    :param wanted: the image that was to be written
    :param before: the image that the volume had before the request
    """
    # A bad request may be the repetition of one that was accepted, and other
    # errors may come from what is in between.
    if code is not None and code not in (400, 408) and code < 500:
        # Even if the volume says that it is written to: Cinder sets that
        # before it looks for the image, and forgets it if there is none.
        return Progress.REFUSED
    if status == WRITING:
        return Progress.RUNNING
    if status is None or status.startswith('error'):
        return Progress.UNKNOWN
    if image_id == wanted:
        # It took so long to tell that it is done, if it is.
        return Progress.UNKNOWN if before == wanted else Progress.DONE
    # Cinder writes to no volume that a server has connected, so that a
    # request which is still on its way comes too late.
    return Progress.REFUSED


def interval(looks: int) -> float:
    """Return how long to wait for the event until the volume is looked at.

    :param looks: how often it was looked at
    :returns: seconds
    """
    return min(10.0, 2.0**looks)


def timeout(seconds_per_gb: int, size: int | None) -> int:
    """Return how long to wait for a volume.

    What is written is the image at its full size, which is that of the volume
    at most. That of the image's file says little.

    :param seconds_per_gb: as configured
    :param size: of the volume, in GiB
    :returns: seconds
    """
    return seconds_per_gb * max(1, math.ceil(size or 0))

# SPDX-License-Identifier: Apache-2.0
"""A live migration that leaves this host, and the thread that watches it."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import typing as ty

from oslo_log import log as logging

from nova import context as nova_context
from nova import objects

from nova_xcell import action_events
from nova_xcell.virt import flag_record
from nova_xcell.virt import migration_flags

LOG = logging.getLogger(__name__)


@dataclasses.dataclass
class RunningMigration:
    """What is known of a migration while it runs.

    :ivar context: auth context of the request
    :ivar instance: the server
    :ivar migration: uuid of the migration record
    :ivar flags: what it uses
    :ivar forced: how it was forced to its end, one of the ways of
        :mod:`~nova_xcell.virt.flag_record`; None if it was not
    :ivar timed_out: whether the host was told to act on its timeout
    """

    context: nova_context.RequestContext
    instance: objects.Instance
    migration: str
    flags: migration_flags.Flags
    forced: str | None = None
    timed_out: bool = False

    def record_flags(self) -> None:
        """Say in the log and in the history what it uses (MF-12)."""
        LOG.info(
            'Live migration %s: %s.',
            self.migration,
            self.flags,
            instance=self.instance,
        )
        self._record(
            flag_record.FLAGS_EVENT,
            flag_record.of_flags(self.migration, self.flags),
        )

    def record_forced(self, way: str, reason: str) -> None:
        """Say in the log and in the history how it was forced to its end.

        It is said once; a host may try in vain every half a second.

        :param way: one of the ways of :mod:`~nova_xcell.virt.flag_record`
        :param reason: why that way
        """
        if way == self.forced:
            return
        self.forced = way
        LOG.info(
            'Live migration %s is forced to its end: %s (%s).',
            self.migration,
            way,
            reason,
            instance=self.instance,
        )
        self._record(
            flag_record.FORCED_EVENT,
            flag_record.of_forced(self.migration, way, reason),
        )

    def _record(self, event: str, details: str) -> None:
        action_events.record(self.context, self.instance, event, details)


# A host that watches several migrations has a thread for each.
_WATCHED: contextvars.ContextVar[RunningMigration | None] = (
    contextvars.ContextVar('nova_xcell_watched_migration', default=None)
)


@contextlib.contextmanager
def watched(running: RunningMigration) -> ty.Iterator[None]:
    """Say that this thread watches a migration, in a ``with`` statement.

    :param running: the migration
    """
    token = _WATCHED.set(running)
    try:
        yield
    finally:
        _WATCHED.reset(token)


def current() -> RunningMigration | None:
    """Return the migration that this thread watches, or None."""
    return _WATCHED.get()

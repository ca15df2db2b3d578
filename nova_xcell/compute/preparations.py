# SPDX-License-Identifier: Apache-2.0
"""Which preparations run on this host, and which nobody waits for any more.

A conductor that got no answer in time asks a destination host to abandon the
preparation of a move. The two can meet in any order; this register decides
between them without a lock that is held for longer than a look-up.
"""

import collections
import contextlib
import threading
import typing as ty

from nova_xcell import exception

#: How many abandoned migrations are remembered. Each is one UUID, and is only
#: of use until the message that asked for its preparation has expired.
REMEMBERED = 1000


class Preparations:
    """Preparations of this host by the UUID of their migration."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._running: set[str] = set()
        self._abandoned: collections.OrderedDict[str, None] = (
            collections.OrderedDict()
        )

    @contextlib.contextmanager
    def running(
        self,
        migration_uuid: str,
        undo: ty.Callable[[], None],
    ) -> ty.Iterator[None]:
        """Run a preparation; leave nothing of it if it was abandoned.

        :param migration_uuid: UUID of the migration
        :param undo: takes back what the body did. Called when the body has
            ended well but was abandoned meanwhile, before
            :meth:`abandon` says that nothing is left.
        :raises: :class:`~nova_xcell.exception.PreparationAbandoned`
        """
        with self._mutex:
            if migration_uuid in self._abandoned:
                raise exception.PreparationAbandoned(migration=migration_uuid)
            self._running.add(migration_uuid)
        try:
            yield
            if not self._finish_unless_abandoned(migration_uuid):
                undo()
                raise exception.PreparationAbandoned(migration=migration_uuid)
        finally:
            with self._mutex:
                self._running.discard(migration_uuid)

    def _finish_unless_abandoned(self, migration_uuid: str) -> bool:
        with self._mutex:
            if migration_uuid in self._abandoned:
                return False
            self._running.discard(migration_uuid)
            return True

    def abandon(self, migration_uuid: str) -> bool:
        """Note that nobody waits for a preparation any more.

        One that arrives later is refused, one that runs undoes itself.

        :param migration_uuid: UUID of the migration
        :returns: True if none is running; the caller then takes back what an
            earlier, finished one may have left
        """
        with self._mutex:
            self._abandoned[migration_uuid] = None
            self._abandoned.move_to_end(migration_uuid)
            while len(self._abandoned) > REMEMBERED:
                self._abandoned.popitem(last=False)
            return migration_uuid not in self._running

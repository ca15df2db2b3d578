# SPDX-License-Identifier: Apache-2.0
"""What this host does for moves right now: pure, no host imports.

A conductor that got no answer asks here whether its request is still being
worked on, and how it ended. A request that has not come yet is refused when it
comes, so that the answer stays true.
"""

import collections
import contextlib
import threading
import typing as ty

from nova_xcell import exception

#: How many requests are remembered. Each is of use only until the message
#: that brings it has expired.
REMEMBERED = 1000

RUNNING, DONE, FAILED, REFUSED = 'running', 'done', 'failed', 'refused'

#: Key of the system metadata of a server whose move has failed in a way that
#: the host answers with ERROR, while its guest is started again.
KEEP_ERROR = 'xcell_keep_error'

#: The same of a server whose move cannot be undone yet; its value is the
#: vm_state that the server had. Until then it is in ERROR and has a task.
WAITS = 'xcell_waits'

#: Key of the system metadata of a server from when its guest is started again
#: until all of its move is undone; its value is how the migration ends.
UNDOING = 'xcell_undoing'

#: Key of the system metadata of a server in a request, not in the database:
#: who asks brings the move to its end, whatever becomes of the request.
DRIVEN = 'xcell_driven'

#: Migration, request and name of the operation.
Key = tuple[str, str, str]


class Work:
    """Operations by the migration, the request and the name of the method."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._states: collections.OrderedDict[Key, str] = (
            collections.OrderedDict()
        )

    @contextlib.contextmanager
    def doing(self, *key: str) -> ty.Iterator[None]:
        """Note that an operation runs, and how it ends.

        :param key: UUID of the migration, id of the request, name of the
            operation
        :raises: :class:`~nova_xcell.exception.WorkRefused` if whoever asked
            for it does not wait for it any more
        """
        with self._mutex:
            if self._states.get(key) == REFUSED:
                # Whoever asks once more, does wait for it.
                del self._states[key]
                raise exception.WorkRefused(operation=key[2], migration=key[0])
            self._set(key, RUNNING)
        end = FAILED
        try:
            yield
            end = DONE
        finally:
            with self._mutex:
                self._set(key, end)

    def settle(self, *key: str) -> str:
        """Say what became of an operation; one that has not come never will.

        :param key: as in :meth:`doing`
        :returns: RUNNING, DONE, FAILED or REFUSED
        """
        with self._mutex:
            if key not in self._states:
                self._set(key, REFUSED)
            return self._states[key]

    def running(self, migration_uuid: str) -> list[str]:
        """Return the names of the operations that run for a move.

        :param migration_uuid: UUID of the migration
        """
        with self._mutex:
            return [
                key[2]
                for key, state in self._states.items()
                if key[0] == migration_uuid and state == RUNNING
            ]

    def _set(self, key: Key, state: str) -> None:
        self._states[key] = state
        self._states.move_to_end(key)
        for old in list(self._states):
            if len(self._states) <= REMEMBERED:
                return
            if self._states[old] != RUNNING:
                del self._states[old]

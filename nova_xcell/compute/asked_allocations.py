# SPDX-License-Identifier: Apache-2.0
"""Allocations that are read when somebody looks at them: no host imports."""

from __future__ import annotations

import collections
import copy
import typing as ty

#: By UUID of the consumer, as the host hands it over.
Records = dict[str, dict]


class AskedAllocations(collections.UserDict):
    """Takes the place of the dictionary that the host fills each time.

    The host reads what every consumer of a node has whenever it reports the
    node, and hardly ever looks at it.
    """

    def __init__(self, read: ty.Callable[[], Records]) -> None:
        """Remember how to read.

        :param read: reads them; called once at most
        """
        # Not super(): that would set the data.
        self._read = read
        self._now: Records | None = None
        self._before: Records = {}

    @property
    def data(self) -> Records:
        """What is there; read now if it was not."""
        if self._now is None:
            self._before = self._read()
            self._now = copy.deepcopy(self._before)
        return self._now

    def changed(self) -> Records:
        """Return the records that somebody has changed since."""
        return {
            consumer: record
            for consumer, record in self.data.items()
            if record != self._before.get(consumer)
        }

    def __deepcopy__(self, memo: dict) -> Records:
        # What reads is no matter of a copy.
        return copy.deepcopy(self.data, memo)

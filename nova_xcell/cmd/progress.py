# SPDX-License-Identifier: Apache-2.0
"""A bar that shows how far a command is (RP-12)."""

from __future__ import annotations

import sys
import typing as ty

_WIDTH = 30


class Progress:
    """Drawn for people only, and where there is more than one thing to do."""

    def __init__(self, total: int, stream: ty.TextIO | None = None) -> None:
        """Begin.

        :param total: how many things there are to do
        :param stream: where to draw; standard error if not given
        """
        self._total = total
        self._stream = stream or sys.stderr
        self._is_shown = total > 1 and self._stream.isatty()
        self._done = 0

    def show(self, name: str) -> None:
        """Draw it.

        :param name: of what is done now
        """
        if self._is_shown:
            filled = _WIDTH * self._done // self._total
            self._stream.write(
                '\r\x1b[K[%s%s] %d/%d %s'
                % (
                    '#' * filled,
                    ' ' * (_WIDTH - filled),
                    self._done,
                    self._total,
                    name,
                )
            )
            self._stream.flush()

    def step(self) -> None:
        """Remember that one thing is done."""
        self._done += 1

    def clear(self) -> None:
        """Make room for something else."""
        if self._is_shown:
            self._stream.write('\r\x1b[K')
            self._stream.flush()

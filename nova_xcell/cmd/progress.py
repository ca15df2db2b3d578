# SPDX-License-Identifier: Apache-2.0
"""How far a command is, on standard error (RP-12)."""

from __future__ import annotations

import sys
import typing as ty

_WIDTH = 30


class Progress:
    """Drawn for people only, and where there is more than one thing to do."""

    def __init__(
        self,
        total: int | None,
        stream: ty.TextIO | None = None,
        is_wanted: bool = True,
    ) -> None:
        """Begin.

        :param total: how many things there are to do; None if nobody knows
        :param stream: where to draw; standard error if not given
        :param is_wanted: whether to draw at all
        """
        self._total = total
        self._stream = stream or sys.stderr
        self._is_shown = (
            is_wanted and total not in (0, 1) and self._stream.isatty()
        )
        self._done = 0

    def show(self, name: str) -> None:
        """Draw it.

        :param name: of what is done now
        """
        if self._is_shown:
            self._stream.write('\r\x1b[K%s %s' % (self._bar(), name))
            self._stream.flush()

    def _bar(self) -> str:
        if self._total is None:
            return '[%d]' % self._done
        filled = _WIDTH * self._done // self._total
        return '[%s%s] %d/%d' % (
            '#' * filled,
            ' ' * (_WIDTH - filled),
            self._done,
            self._total,
        )

    def step(self) -> None:
        """Remember that one thing is done."""
        self._done += 1

    def clear(self) -> None:
        """Make room for something else."""
        if self._is_shown:
            self._stream.write('\r\x1b[K')
            self._stream.flush()


def of(application: ty.Any, total: int | None) -> Progress:
    """Return the progress of a command.

    :param application: that of cliff
    :param total: how many things there are to do; None if nobody knows
    """
    # 0 is what -q makes of it.
    return Progress(
        total, application.stderr, application.options.verbose_level > 0
    )

# SPDX-License-Identifier: Apache-2.0
"""A file of what reshapes have changed, one line for each node."""

from __future__ import annotations

import json
import os

from nova_xcell.reshaper import undo


class UndoFile:
    """A new file for what one run changes; made when something does.

    :ivar path: of the file
    """

    def __init__(self, path: str) -> None:
        """Name the file.

        :param path: of a file that is not there yet
        """
        self.path = path
        self._file = None

    def keep(self, record: dict) -> None:
        """Write a record, and have it on the disk before returning.

        :param record: of one node
        :raises: OSError; FileExistsError if another run has made the file
        """
        if self._file is None:
            descriptor = os.open(
                self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
            )
            self._file = os.fdopen(descriptor, 'w')
        self._file.write(json.dumps(record, sort_keys=True) + '\n')
        self._file.flush()
        os.fsync(self._file.fileno())


def read(path: str) -> list[dict]:
    """Return the records of a file, the last one first.

    :param path: of the file
    :raises: :class:`~nova_xcell.reshaper.undo.BadRecord` with the line, or
        OSError
    """
    with open(path, encoding='utf-8') as opened:
        lines = opened.read().split('\n')
    # Whoever died while writing a line has not sent anything after that.
    lines.pop()
    records = []
    for number, line in enumerate(lines, 1):
        try:
            content = json.loads(line)
        except ValueError as exc:
            reason = str(exc)
        else:
            reason = undo.check(content)
        if reason:
            raise undo.BadRecord(file=path, line=number, reason=reason)
        records.append(content)
    return records[::-1]

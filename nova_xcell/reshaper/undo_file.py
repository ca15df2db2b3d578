# SPDX-License-Identifier: Apache-2.0
"""A file of what reshapes have changed, one line for each attempt."""

from __future__ import annotations

import collections
import json
import os
import typing as ty

from nova_xcell.reshaper import undo

#: Keys are sorted.
_BEGINNING = b'{"attempt": '


class UndoFile:
    """A file for what a run changes; made when something does.

    :ivar path: of the file
    """

    def __init__(self, path: str) -> None:
        """Name the file.

        :param path: of the file. If it is there, it has to be of a run
            before, which this one goes on with
        :raises: :class:`~nova_xcell.reshaper.undo.BadRecord` if it is
            something else, or OSError
        """
        self.path = path
        self._file = None
        self._attempts: collections.Counter[str] = collections.Counter()
        self._length = _complete(path) if os.path.exists(path) else None

    def keep(self, record: dict) -> None:
        """Write a record, and have it on the disk before returning.

        :param record: of one node
        :raises: OSError; FileExistsError if another run has made the file
        """
        if self._file is None:
            self._file = self._open()
        self._attempts[record['root']] += 1
        record = {**record, 'attempt': self._attempts[record['root']]}
        self._file.write(json.dumps(record, sort_keys=True) + '\n')
        self._file.flush()
        os.fsync(self._file.fileno())

    def _open(self) -> ty.TextIO:
        if self._length is not None:
            opened = open(self.path, 'r+', encoding='utf-8')
            # What a run that died has begun to write.
            opened.truncate(self._length)
            opened.seek(0, os.SEEK_END)
            return opened
        descriptor = os.open(
            self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
        )
        return os.fdopen(descriptor, 'w', encoding='utf-8')


def _complete(path: str) -> int:
    """Return how many bytes of a file are complete records."""
    records = _parsed(path)
    with open(path, 'rb') as opened:
        content = opened.read()
    begun = content[: len(_BEGINNING)]
    if not records and not _BEGINNING.startswith(begun):
        # A file of somebody else that has no complete line.
        raise undo.BadRecord(
            file=path, line=1, reason='this is no record of a reshape'
        )
    return content.rfind(b'\n') + 1


def read(path: str) -> list[dict]:
    """Return the records of a file that were carried out, the last one first.

    :param path: of the file
    :raises: :class:`~nova_xcell.reshaper.undo.BadRecord` with the line, or
        OSError
    """
    kept: list[dict] = []
    following: dict[str, dict] = {}
    for record in reversed(_parsed(path)):
        later = following.get(record['root'])
        if later is None or not undo.was_not_done(record, later):
            kept.append(record)
        following[record['root']] = record
    return kept


def _parsed(path: str) -> list[dict]:
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
    return records

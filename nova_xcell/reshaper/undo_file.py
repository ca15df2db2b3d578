# SPDX-License-Identifier: Apache-2.0
"""A file of what reshapes have changed, one line for each attempt."""

from __future__ import annotations

import collections
import errno
import json
import os
import stat
import typing as ty

from nova_xcell import exception
from nova_xcell.reshaper import undo

#: Bytes; 10,000 servers that are moved need 3 MB.
MAX_SIZE = 256 * 1024 * 1024

#: Keys are sorted.
_BEGINNING = b'{"attempt": '


class Refused(exception.XcellError):
    """A file that is there is not one to write to."""

    msg_fmt = '%(file)s is not written to: %(reason)s; name a new file.'


class UndoFile:
    """A file for what a run changes; made when something does.

    :ivar path: of the file
    """

    def __init__(self, path: str) -> None:
        """Name the file.

        :param path: of the file. If it is there, it has to be of a run
            before, which this one goes on with
        :raises: :class:`~nova_xcell.reshaper.undo.BadRecord` if it is
            something else, :class:`Refused` if it is not safe, or OSError
        """
        self.path = path
        self._file = None
        self._attempts: collections.Counter[str] = collections.Counter()
        #: What was found; None if there was nothing.
        self._found: os.stat_result | None = None
        self._length = 0
        try:
            descriptor = _open_own(path, os.O_RDONLY)
        except FileNotFoundError:
            return
        with os.fdopen(descriptor, 'rb') as opened:
            self._found = os.fstat(opened.fileno())
            self._length = _complete(path, opened)

    def keep(self, record: dict) -> None:
        """Write a record, and have it on the disk before returning.

        :param record: of one node
        :raises: OSError; FileExistsError if another run has made the file,
            :class:`Refused` if it has written to it
        """
        if self._file is None:
            self._file = self._open()
        self._attempts[record['root']] += 1
        record = {**record, 'attempt': self._attempts[record['root']]}
        self._file.write(json.dumps(record, sort_keys=True) + '\n')
        self._file.flush()
        os.fsync(self._file.fileno())

    def _open(self) -> ty.TextIO:
        if self._found is None:
            descriptor = os.open(
                self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
            )
            return os.fdopen(descriptor, 'w', encoding='utf-8')
        descriptor = _open_own(self.path, os.O_WRONLY | os.O_APPEND)
        opened = os.fdopen(descriptor, 'a', encoding='utf-8')
        if not _is_unchanged(os.fstat(descriptor), self._found):
            opened.close()
            raise Refused(
                file=self.path, reason='something else has changed it'
            )
        # What a run that died has begun to write.
        opened.truncate(self._length)
        return opened


def _open_own(path: str, flags: int) -> int:
    """Open a file that a run before has made, and nothing else.

    Whoever can put something in its place, in a folder that others write to
    as well, must not choose what is written to, nor what is undone later.

    :raises: :class:`Refused`, or OSError
    """
    try:
        # Without O_NONBLOCK a named pipe is waited for.
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as exc:
        if exc.errno != errno.ELOOP:
            raise
        raise Refused(file=path, reason='it is a symbolic link') from None
    status = os.fstat(descriptor)
    reason = None
    if not stat.S_ISREG(status.st_mode):
        reason = 'it is no regular file'
    elif status.st_uid != os.geteuid():
        reason = 'it belongs to another user'
    if reason:
        os.close(descriptor)
        raise Refused(file=path, reason=reason)
    return descriptor


def _is_unchanged(now: os.stat_result, before: os.stat_result) -> bool:
    return all(
        getattr(now, name) == getattr(before, name)
        for name in ('st_dev', 'st_ino', 'st_size', 'st_mtime_ns')
    )


def _complete(path: str, opened: ty.BinaryIO) -> int:
    """Return how many bytes of a file are complete records."""
    content = _content(path, opened)
    records = _parsed(path, content)
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
    with open(path, 'rb') as opened:
        content = _content(path, opened)
    for record in reversed(_parsed(path, content)):
        later = following.get(record['root'])
        if later is None or not undo.was_not_done(record, later):
            kept.append(record)
        following[record['root']] = record
    return kept


def _content(path: str, opened: ty.BinaryIO) -> bytes:
    content = opened.read(MAX_SIZE + 1)
    if len(content) > MAX_SIZE:
        raise undo.BadRecord(
            file=path, line=1, reason='larger than %d bytes' % MAX_SIZE
        )
    return content


def _parsed(path: str, content: bytes) -> list[dict]:
    lines = content.split(b'\n')
    # Whoever died while writing a line has not sent anything after that.
    lines.pop()
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line, parse_constant=_refuse_constant)
        except RecursionError:
            reason = 'nested too deeply'
        except ValueError as exc:
            reason = str(exc)
        else:
            reason = undo.check(record)
        if reason:
            raise undo.BadRecord(file=path, line=number, reason=reason)
        records.append(record)
    return records


def _refuse_constant(name: str) -> ty.NoReturn:
    raise ValueError('%s is no number' % name)

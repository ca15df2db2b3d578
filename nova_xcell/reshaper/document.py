# SPDX-License-Identifier: Apache-2.0
"""Read a YAML document of an operator safely, and remember its lines."""

from __future__ import annotations

import math
import typing as ty

import yaml

from nova_xcell import exception

#: Bytes; far more than the rules of a large cloud need.
MAX_SIZE = 1024 * 1024
_MAX_DEPTH = 20
#: Characters; a number with many digits takes long to read.
_MAX_SCALAR = 1000
#: Characters of a reason; it may quote what stands in the file.
_MAX_REASON = 200

Path = tuple[str | int, ...]


class BadRules(exception.XcellError):
    """The rules cannot be understood, or contradict each other."""

    msg_fmt = '%(file)s, line %(line)d: %(reason)s'


class _Bad(Exception):
    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class _Loader(yaml.SafeLoader):
    """Composes nodes; without aliases, a document cannot grow.

    Without tags nothing is made of a text that it does not look like.
    """

    depth = 0

    def compose_node(self, parent, index):
        event = self.peek_event()
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise _Bad(line, 'aliases are not supported')
        if event.tag is not None:
            raise _Bad(line, 'tags are not supported')
        if isinstance(event, yaml.ScalarEvent) and (
            len(event.value) > _MAX_SCALAR
        ):
            raise _Bad(line, 'longer than %d characters' % _MAX_SCALAR)
        if self.depth == _MAX_DEPTH:
            raise _Bad(line, 'nested too deeply')
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class Document:
    """What stands in a file, and where.

    :ivar name: of the file, for messages
    :ivar content: dictionaries, lists and scalars
    """

    def __init__(self, text: str | bytes, name: str) -> None:
        """Read it.

        :param text: YAML
        :param name: of the file, for messages
        :raises: :class:`BadRules`
        """
        self.name = name
        self._lines: dict[Path, int] = {}
        if len(text) > MAX_SIZE:
            raise self._error(1, 'larger than %d bytes' % MAX_SIZE)
        try:
            loader = _Loader(text)
            try:
                node = loader.get_single_node()
                self.content = (
                    None if node is None else self._read(loader, node, ())
                )
            finally:
                loader.dispose()
        except _Bad as exc:
            raise self._error(exc.line, str(exc))
        except yaml.MarkedYAMLError as exc:
            mark = exc.problem_mark or exc.context_mark
            raise self._error(
                mark.line + 1 if mark else 1, exc.problem or exc.context
            )
        except (yaml.YAMLError, ValueError) as exc:
            # A character that YAML does not permit, or a scalar that looks
            # like a date and is none.
            raise self._error(1, exception.one_line(exc))

    def _read(self, loader: _Loader, node: yaml.Node, path: Path) -> ty.Any:
        self._lines[path] = node.start_mark.line + 1
        if isinstance(node, yaml.SequenceNode):
            return [
                self._read(loader, item, (*path, index))
                for index, item in enumerate(node.value)
            ]
        if not isinstance(node, yaml.MappingNode):
            value = loader.construct_object(node)
            if isinstance(value, float) and not math.isfinite(value):
                raise _Bad(node.start_mark.line + 1, 'not a finite number')
            return value
        content = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value
            if not isinstance(key, str):
                raise _Bad(line, 'a key has to be a word')
            if key in content:
                raise _Bad(line, '%r is there twice' % key)
            content[key] = self._read(loader, value_node, (*path, key))
            # Where the key stands tells more than where its value begins.
            self._lines[(*path, key)] = line
        return content

    def line(self, path: ty.Iterable[str | int]) -> int:
        """Return the line of an item, or of what it would stand in.

        :param path: keys and indexes that lead to it
        """
        path = tuple(path)
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def error(self, path: ty.Iterable[str | int], reason: str) -> BadRules:
        """Return an error that names the line of an item.

        :param path: keys and indexes that lead to it
        :param reason: what is wrong with it
        """
        return self._error(self.line(path), reason)

    def _error(self, line: int, reason: str) -> BadRules:
        return BadRules(file=self.name, line=line, reason=shortened(reason))


def shortened(reason: str) -> str:
    """Return the beginning of a reason, which may quote a whole file.

    :param reason: what is wrong with it
    """
    if len(reason) <= _MAX_REASON:
        return reason
    return reason[:_MAX_REASON] + '...'

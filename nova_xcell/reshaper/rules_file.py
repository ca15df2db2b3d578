# SPDX-License-Identifier: Apache-2.0
"""Read a file of rules: no host imports."""

from __future__ import annotations

from nova_xcell import exception
from nova_xcell.reshaper import document
from nova_xcell.reshaper import rules as rules_module


class RulesNotRead(exception.XcellError):
    """The file is not there, or may not be read."""

    msg_fmt = 'the rules of [xcell] reshape_rules cannot be read: %(reason)s'


def read(path: str) -> tuple[rules_module.Rule, ...]:
    """Return the rules of a file.

    :param path: of the file
    :raises: :class:`~nova_xcell.reshaper.rules.BadRules` with the line and
        the reason, or OSError
    """
    with open(path, 'rb') as opened:
        return rules_module.parse(
            # No more than shows that it is too much.
            opened.read(document.MAX_SIZE + 1),
            path,
        )


def load(path: str | None) -> tuple[rules_module.Rule, ...]:
    """Return the rules of the file that a configuration names.

    :param path: of the file; no rules if there is none
    :raises: :class:`~nova_xcell.reshaper.rules.BadRules` with the line and
        the reason, or :class:`RulesNotRead`
    """
    if not path:
        return ()
    try:
        return read(path)
    except OSError as exc:
        raise RulesNotRead(reason=exc)

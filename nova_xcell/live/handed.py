# SPDX-License-Identifier: Apache-2.0
"""The migration that a request brings along, in nova-conductor: pure.

Apart from :mod:`nova_xcell.live.taking`, which is loaded in the midst of an
import of the host's and must not be loaded before.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import contextvars

#: The key of the uuid in the host's ``scheduler_hint``.
HINT = 'xcell_migration'

_handed: contextvars.ContextVar[str | None] = contextvars.ContextVar(
    'nova_xcell_handed_migration', default=None
)


@contextlib.contextmanager
def over(hint: dict) -> Iterator[None]:
    """Let the next migration that is made within be the one handed over.

    :param hint: the host's ``scheduler_hint``
    :returns: context manager
    """
    token = _handed.set(hint.get(HINT))
    try:
        yield
    finally:
        _handed.reset(token)


def take() -> str | None:
    """Return the uuid of the migration handed over; it can be taken once."""
    uuid = _handed.get()
    if uuid is not None:
        _handed.set(None)
    return uuid

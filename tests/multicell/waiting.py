# SPDX-License-Identifier: Apache-2.0
"""Wait for a condition instead of for a time."""

from __future__ import annotations

from collections.abc import Callable
import time
import typing as ty

from tests.multicell.errors import MulticellError

T = ty.TypeVar('T')

#: Seconds between two looks.
INTERVAL = 0.2


def wait_until(
    condition: Callable[[], T],
    what: str,
    timeout: float = 120,
    interval: float = INTERVAL,
) -> T:
    """Look until something is true.

    :param condition: what to ask; may be slow
    :param what: what is waited for, for the message
    :param timeout: seconds
    :param interval: seconds between two looks
    :returns: the first true answer
    :raises: MulticellError when the time is over
    """
    end = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise MulticellError(f'{what}: not within {timeout:.0f} s')
        time.sleep(interval)

# SPDX-License-Identifier: Apache-2.0
"""Ends or holds a service when it reaches a named point.

Python imports this by its name when it starts, in a service that
`kit.points` has started for it: nothing of the service is changed.
"""

import json
import os
import pathlib
import signal
import time

import wrapt

POINT = json.loads(os.environ['MULTICELL_POINT'])
MARKER = pathlib.Path(POINT['marker'])
_reached = False


def _reach() -> None:
    global _reached
    if _reached:
        return
    _reached = True
    MARKER.touch()
    if POINT['action'] == 'kill':
        os.killpg(0, signal.SIGKILL)
    while MARKER.exists():
        time.sleep(0.05)


def _call(wrapped, instance, args, kwargs):
    if POINT['when'] == 'before':
        _reach()
        return wrapped(*args, **kwargs)
    result = wrapped(*args, **kwargs)
    _reach()
    return result


@wrapt.when_imported(POINT['module'])
def _install(module) -> None:
    wrapt.wrap_function_wrapper(module, POINT['name'], _call)

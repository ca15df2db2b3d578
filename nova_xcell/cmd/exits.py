# SPDX-License-Identifier: Apache-2.0
"""Exit codes of ``nova-xcell-manage``, the same in every command."""

from __future__ import annotations

import enum
import os
import sys
import typing as ty
import warnings


class Exit(enum.IntEnum):
    """What the exit code says.

    2 is what argparse has for a command line it does not understand, 3 what
    ``nova-manage placement audit`` has for something found; 130 and 141 are
    those of a shell for a process that a signal has ended.
    """

    OK = 0
    FAILED = 1
    USAGE = 2
    FOUND = 3
    INTERRUPTED = 130
    PIPE = 141


#: As help and documentation show it.
MEANINGS = {
    Exit.OK: 'nothing was found, or what was to be done was done',
    Exit.FAILED: 'something could not be done or looked at, or the command '
    'itself failed',
    Exit.USAGE: 'the command line is not understood',
    Exit.FOUND: 'something was found, and nothing was changed; of audit, plan '
    'and --dry-run',
    Exit.INTERRUPTED: 'it was interrupted with Ctrl-C',
    Exit.PIPE: 'whoever read the output has gone',
}


def worst(*codes: Exit) -> Exit:
    """Return what several exit codes amount to.

    :param codes: of the parts
    """
    return next(
        code
        for code in (Exit.INTERRUPTED, Exit.FAILED, Exit.FOUND, Exit.OK)
        if code in (*codes, Exit.OK)
    )


def program(run: ty.Callable[[], int]) -> int:
    """Run a program; end quietly if it is interrupted or nobody reads on.

    :param run: returns the exit code
    :returns: the exit code
    """
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                # They are for those who develop the host.
                warnings.simplefilter('ignore')
            code = run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except BrokenPipeError:
        code = Exit.PIPE
    if code == Exit.PIPE:
        _forget_output()
    return code


def _forget_output() -> None:
    """Keep Python from complaining of what it cannot write at its end."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        # Not a file, but what a test reads.
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)

# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage`` in the process of a test."""

import contextlib
import io

import fixtures

from nova_xcell.cmd import manage


def of_this_process() -> fixtures.Fixture:
    """Keep the configuration that this process has, that of the cloud."""
    return fixtures.MockPatchObject(
        manage.Manage, 'initialize_app', lambda *args: None
    )


def run(*words: str) -> tuple[int, str]:
    """Run a command.

    :returns: the exit code and what was printed
    """
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = manage.main(list(words))
    return code, output.getvalue()


def run_apart(*words: str) -> tuple[int, str, str]:
    """Run a command.

    :returns: the exit code, what was printed, and what of errors
    """
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code, output = run(*words)
    return code, output, errors.getvalue()

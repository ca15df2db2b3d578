# SPDX-License-Identifier: Apache-2.0
"""Run the demonstration: `python -m tests.demo [--plain]`."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
import warnings

#: What an operator writes into nova.conf and placement.conf, here as the
#: environment variables that oslo.config reads for it.
SWITCH = {
    'OS_DEFAULT__CONFIG_SOURCE': 'xcell',
    'OS_XCELL__DRIVER': 'nova_xcell',
}


def main() -> int:
    """Run the demonstration.

    :returns: 0 when every check passed, 1 when one failed, 2 when the story
        could not be told
    """
    parser = argparse.ArgumentParser(
        prog='python -m tests.demo',
        description='Move servers between two cells of a real Nova.',
    )
    parser.add_argument(
        '--plain',
        action='store_true',
        help='leave the plug-ins off, to see what plain Nova does',
    )
    plain = parser.parse_args().plain
    _flip_switch(plain)
    _be_quiet()

    print('Two cells, three hosts: host1 in cell1, host2 and host3 in cell2')
    if plain:
        print("The operator's switch is off: this is plain Nova")
    else:
        print(
            "The operator's switch, from the environment: "
            + ' '.join(f'{name}={os.environ.get(name)}' for name in SWITCH)
        )
    print('Starting Nova and Placement', flush=True)

    # Only now: Nova must find the switch when it parses its config. This
    # package is the first of it, because it decides on monkey patching.
    importlib.import_module('nova.tests.functional')

    import testtools

    from tests.demo import story

    case = story.Story()
    result = testtools.TestResult()
    case.addOnException(_show)
    case.run(result)
    if not result.wasSuccessful():
        return 2
    return 1 if case.failed else 0


def _flip_switch(plain: bool) -> None:
    if plain:
        for name in SWITCH:
            os.environ.pop(name, None)
    elif 'OS_DEFAULT__CONFIG_SOURCE' not in os.environ:
        os.environ.update(SWITCH)


def _be_quiet() -> None:
    """Keep warnings and log lines of the host off the screen."""
    # Filters and levels alone do not last: Nova's fixtures set their own.
    warnings.showwarning = lambda *args, **kwargs: None
    logging.disable(logging.CRITICAL)


def _show(exc_info: tuple) -> None:
    print(
        f'The demonstration broke off: {exc_info[0].__name__}: {exc_info[1]}',
        file=sys.stderr,
    )


if __name__ == '__main__':
    sys.exit(main())

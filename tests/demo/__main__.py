# SPDX-License-Identifier: Apache-2.0
"""Run the demonstration: `python -m tests.demo [--plain]`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import warnings

from tests import switch


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
    if plain:
        os.environ[switch.PLAIN] = 'yes'
    _be_quiet()

    print('Two cells, three hosts: host1 in cell1, host2 and host3 in cell2')
    if plain:
        print("The operator's switch is off: this is plain Nova")
    else:
        print(
            "The operator's switch, from the environment: "
            + ' '.join(f'{name}={to}' for name, to in switch.SWITCH.items())
        )
    print('Starting Nova and Placement', flush=True)

    switch.start()

    # Only now: they import the host.
    import testtools

    from tests.demo import story

    case = story.Story()
    result = testtools.TestResult()
    case.addOnException(_show)
    case.run(result)
    if not result.wasSuccessful():
        return 2
    return 1 if case.failed else 0


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

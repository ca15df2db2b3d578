# SPDX-License-Identifier: Apache-2.0
"""Run the fault matrix: `python -m tests.faults [--plain] [--subset]`."""

from __future__ import annotations

import argparse
from concurrent import futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from tests import switch
from tests.embedded import steps
from tests.faults import results
from tests.faults import table

#: Cases that share a process, and a cloud.
CHUNK = 16

#: Seconds that a process may take for one case.
PATIENCE = 120


def main() -> int:
    """Run the matrix and print what was found.

    :returns: 0 when every case is clean, else 1
    """
    arguments = _arguments()
    cases = [
        case
        for case in steps.cases()
        if (case.likely or not arguments.subset)
        and re.search(arguments.cases, case.name)
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = _run(cases, pathlib.Path(folder), arguments)
    print(table.render(found, [fault.value for fault in steps.Fault]))
    if arguments.json:
        with open(arguments.json, 'w') as file:
            json.dump(found, file, indent=1)
    return 1 if any(result['findings'] for result in found) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m tests.faults',
        description='Let every step of a cross-cell resize fail in every way.',
    )
    parser.add_argument(
        '--plain',
        action='store_true',
        help='leave the plug-ins off, to see what plain Nova does',
    )
    parser.add_argument(
        '--subset',
        action='store_true',
        help='only the cases that tests.functional runs by default',
    )
    parser.add_argument(
        '--jobs', type=int, default=os.cpu_count(), help='processes at a time'
    )
    parser.add_argument('--json', help='file for the results')
    parser.add_argument(
        'cases', nargs='?', default='', help='regular expression of names'
    )
    return parser.parse_args()


def _run(
    cases: list[steps.Case],
    folder: pathlib.Path,
    arguments: argparse.Namespace,
) -> list[results.Result]:
    environment = dict(os.environ, **{results.FOLDER: str(folder)})
    if arguments.plain:
        environment[switch.PLAIN] = 'yes'
    chunks = [cases[i : i + CHUNK] for i in range(0, len(cases), CHUNK)]
    began = time.monotonic()
    with futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in futures.as_completed(
            pool.submit(_run_chunk, chunk, environment) for chunk in chunks
        ):
            done.result()
            print(
                f'{len(list(folder.iterdir()))} of {len(cases)} cases, '
                f'{time.monotonic() - began:.0f} s',
                file=sys.stderr,
                flush=True,
            )
    return [results.load(folder, case) for case in cases]


def _run_chunk(chunk: list[steps.Case], environment: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            [
                sys.executable,
                '-m',
                'tests.faults.worker',
                *(case.name for case in chunk),
            ],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE * len(chunk),
        )
    except subprocess.TimeoutExpired:
        return
    if done.returncode:
        print(done.stderr[-4000:], file=sys.stderr)


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The table of what passes on which release. Standard library only."""

from __future__ import annotations

import collections
import csv
import datetime
import json
import pathlib
import platform
import sys

import suites

sys.path.insert(0, str(suites.ROOT))

from tests import areas

SUITES = ('contract', 'functional', 'host')

FOLDER = suites.ROOT / 'doc' / 'source' / 'conformance'
#: All results; the table is made of it.
RECORD = FOLDER / 'results.json'
TABLE = FOLDER / 'table.csv'
RUNS = FOLDER / 'runs.csv'

_OURS = {
    'contract': 'Ours: contract',
    'functional': 'Ours: functional',
    'host': "Ours: Placement's reshaper, and that all is loaded",
}


def note(environment, suite: str, results: dict[str, str]) -> None:
    """Replace what is recorded of a suite on a release, and write the table.

    :param environment: where it was run
    :param suite: one of SUITES
    :param results: name of a test -> its result
    """
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    release = record.setdefault(str(environment.release), {})
    release[suite] = {
        'nova': environment.installed('nova'),
        'placement': environment.installed('openstack-placement'),
        'python': platform.python_version(),
        'mode': 'native threads' if _is_native(environment) else 'eventlet',
        'date': datetime.date.today().isoformat(),
        'areas': count(suite, results),
    }
    FOLDER.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + '\n')
    _write_table(record)


def _is_native(environment) -> bool:
    return environment.mode['OS_NOVA_DISABLE_EVENTLET_PATCHING'] == 'true'


def count(suite: str, results: dict[str, str]) -> dict[str, dict[str, int]]:
    """Add results up by area.

    :param suite: one of SUITES
    :param results: name of a test -> its result
    :returns: name of an area -> word -> number
    """
    counts: dict[str, collections.Counter] = {}
    for test, word in results.items():
        area = areas.area_of(test.partition('(')[0])
        name = area.name if area else _OURS[suite]
        counts.setdefault(name, collections.Counter())[_word(word)] += 1
    return {name: dict(found) for name, found in counts.items()}


def _word(word: str) -> str:
    return {'ok': 'passed', 'SKIPPED': 'skipped'}.get(word, 'failed')


def _write_table(record: dict) -> None:
    releases = sorted(record)
    names = [*_OURS.values(), *(area.name for area in areas.AREAS)]
    _write(
        TABLE,
        ['', *('Nova %s' % release for release in releases)],
        (
            [name, *(_cell(record[release], name) for release in releases)]
            for name in names
        ),
    )
    _write(
        RUNS,
        ['Nova', 'Placement', 'Suite', 'Python', 'Mode', 'Day'],
        (
            [run[key] if key else suite for key in (
                'nova', 'placement', None, 'python', 'mode', 'date',
            )]
            for release in releases
            for suite, run in sorted(record[release].items())
        ),
    )  # fmt: skip


def _cell(runs: dict, name: str) -> str:
    found = [
        run['areas'][name] for run in runs.values() if name in run['areas']
    ]
    if not found:
        return 'not run'
    (counts,) = found
    return ', '.join(
        '%d %s' % (counts[word], word)
        for word in ('passed', 'failed', 'skipped')
        if counts.get(word)
    )


def _write(path: pathlib.Path, head: list[str], rows) -> None:
    with path.open('w', newline='') as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator='\n')
        writer.writerows((head, *rows))

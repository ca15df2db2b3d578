# SPDX-License-Identifier: Apache-2.0
"""The results of the fault matrix as a table of faults and invariants."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
import re

from tests.faults.results import Result

#: Invariant -> what findings about it look like; the first that fits counts.
INVARIANTS = {
    'record': r'visible records|leftover record',
    'task': r'stuck in task',
    'flavor': r'request spec',
    'migration': r'^migration|no migration is finished',
    'allocation': r'allocation of',
    'binding': r'binding of port|is not bound',
    'attachment': r'attachment',
    'snapshot': r'temporary snapshot',
    'claim': r'claim on|does not count',
    'guest': r'guest',
    'state': r'the server is|hard reboot',
    'other': r'',
}


def invariant_of(finding: str) -> str:
    """Name the invariant that a finding is about.

    :param finding: a line of a verdict
    :returns: a key of `INVARIANTS`
    """
    return next(
        name
        for name, pattern in INVARIANTS.items()
        if re.search(pattern, finding)
    )


def render(results: Iterable[Result], titles: list[str]) -> str:
    """Print results.

    :param results: of the cases
    :param titles: the faults, in the order of the rows
    :returns: the table, the totals, and each case that is not clean
    """
    results = list(results)
    lines = [*_table(results, titles), '']
    dirty = [result for result in results if result['findings']]
    leaks = sum(len(result['findings']) for result in dirty)
    lines.append(
        f'{len(results) - len(dirty)} of {len(results)} clean, {leaks} leaks'
    )
    for end in sorted({result['end'] for result in results}):
        having = [result for result in results if result['end'] == end]
        clean = sum(not result['findings'] for result in having)
        lines.append(f'  {end}: {len(having)}, {clean} of them clean')
    for result in dirty:
        lines.extend(
            (
                '',
                f'{result["name"]}: {result["end"]}',
                *(f'  {finding}' for finding in result['findings']),
            )
        )
    return '\n'.join(lines)


def _table(results: list[Result], titles: list[str]) -> Iterator[str]:
    width = max(map(len, titles)) + 1
    columns = ['cases', 'clean', *INVARIANTS]
    yield ' ' * width + ' '.join(f'{name:>10}' for name in columns)
    for title in titles:
        mine = [result for result in results if result['fault'] == title]
        if mine:
            yield f'{title:{width}}' + _row(mine)
    yield f'{"all":{width}}' + _row(results)


def _row(results: list[Result]) -> str:
    found = [
        {invariant_of(finding) for finding in result['findings']}
        for result in results
    ]
    numbers = [len(results), sum(not names for names in found)]
    numbers += [sum(name in names for names in found) for name in INVARIANTS]
    return ' '.join(f'{number or ".":>10}' for number in numbers)

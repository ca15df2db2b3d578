# SPDX-License-Identifier: Apache-2.0
"""Figures of a move, of the plain host and with the plug-ins in turn."""

from __future__ import annotations

import json
import os
import pathlib
import statistics

from tests.multicell import layout as lay
from tests.multicell import netns
from tests.multicell.cloud import Cloud
from tests.multicell.processes import run

KINDS = ('image-backed', 'volume-backed')
MODES = ('plain', 'nova-xcell')
#: With a newer one the plain host cannot move a server at all.
OLDER = ('neutron28',)
#: What goes into the table of versions.
PACKAGES = ('nova', 'neutron', 'cinder', 'glance', 'openstack-placement')

#: Figure -> unit; each is a field of kit.measure.Figures.
UNITS = {
    'verify_resize': 's',
    'downtime': 's',
    'confirm': 's',
    'uploaded': 'B',
    'downloaded': 'B',
    'statements': '',
    'confirm_statements': '',
}


def measure(cloud: Cloud, rounds: int, file: pathlib.Path) -> None:
    """Measure both modes in turn; write a JSON file and print a table.

    :param cloud: one that is down; up with the plug-ins afterwards
    :param rounds: how often each mode is measured
    :param file: what to write
    :raises: MulticellError
    """
    found: list[dict] = []
    for number in range(1, rounds + 1):
        for mode in MODES:
            cloud.up(plain=mode == 'plain', older=OLDER)
            for figures in _measure_once(cloud):
                found.append({'mode': mode, 'round': number, **figures})
                print(_line(found[-1]), flush=True)
    result = {
        'processors': os.cpu_count(),
        'versions': _versions(cloud),
        'units': UNITS,
        'figures': found,
    }
    file.write_text(json.dumps(result, indent=2) + '\n')
    print(table(found))
    print(f'written to {file}')


def _measure_once(cloud: Cloud) -> list[dict]:
    command = netns.exec_in(
        cloud.layout.control, 'env', '-C', lay.ROOT, cloud.layout.python,
        '-m', 'tests.multicell.kit.measure', *KINDS,
    )  # fmt: skip
    env = {**cloud.env, lay.FOLDER_VARIABLE: str(cloud.layout.folder)}
    return json.loads(run(command, env).splitlines()[-1])


def _versions(cloud: Cloud) -> dict[str, str]:
    code = (
        'import importlib.metadata as m, json, sys; '
        'print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))'
    )
    return json.loads(run([cloud.layout.python, '-c', code, *PACKAGES]))


def _line(measured: dict) -> str:
    values = ', '.join(
        f'{name} {_number(measured[name])} {unit}'.rstrip()
        for name, unit in UNITS.items()
    )
    return (
        f'round {measured["round"]}, {measured["mode"]}, '
        f'{measured["kind"]}: {values}'
    )


def _number(value: float | dict[str, int]) -> float:
    return sum(value.values()) if isinstance(value, dict) else value


def table(found: list[dict]) -> str:
    """Return the medians of both modes side by side.

    :param found: what was measured
    """
    rows = [('', '', *MODES, 'ratio')]
    for kind in KINDS:
        for name, unit in UNITS.items():
            plain, ours = (
                statistics.median(
                    _number(measured[name])
                    for measured in found
                    if (measured['mode'], measured['kind']) == (mode, kind)
                )
                for mode in MODES
            )
            ratio = f'{ours / plain:.2f}' if plain else '-'
            label = f'{name} [{unit}]' if unit else name
            rows.append((kind, label, f'{plain:g}', f'{ours:g}', ratio))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return '\n'.join(
        '  '.join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(
                zip(row, widths, strict=True)
            )
        ).rstrip()
        for row in rows
    )

# SPDX-License-Identifier: Apache-2.0
"""What a test of the fault matrix found, kept as a file for each case."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from tests.embedded.steps import Case

#: Set in the environment to the folder that gets the files.
FOLDER = 'NOVA_XCELL_TEST_FAULT_RESULTS'

#: Name, operation, step, fault, backing, end and findings of a case.
Result = dict[str, Any]


def result(case: Case, end: str, findings: list[str]) -> Result:
    """Put a result together.

    :param case: what was tested
    :param end: how it ended: 'finished', 'before', 'rebooted', 'neither', or
        'broken' if nothing can be said
    :param findings: what does not belong
    :returns: what is kept
    """
    return {
        'name': case.name,
        'operation': case.operation,
        'step': case.step.name,
        'fault': case.fault.value,
        'backing': case.backing,
        'end': end,
        'findings': findings,
    }


def save(case: Case, end: str, findings: list[str]) -> None:
    """Keep a result, if anybody wants it.

    :param case: what was tested
    :param end: see `result`
    :param findings: what does not belong
    """
    folder = os.environ.get(FOLDER)
    if folder:
        _file(pathlib.Path(folder), case).write_text(
            json.dumps(result(case, end, findings))
        )


def load(folder: pathlib.Path, case: Case) -> Result:
    """Read what was kept.

    :param folder: where it is
    :param case: what was tested
    :returns: its result
    """
    try:
        return json.loads(_file(folder, case).read_text())
    except FileNotFoundError:
        return result(
            case, 'broken', ['no verdict: the process did not get that far']
        )


def _file(folder: pathlib.Path, case: Case) -> pathlib.Path:
    return folder / f'{case.name}.json'

# SPDX-License-Identifier: Apache-2.0
"""The source as a tarball without git has it."""

import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: What tools leave in a checkout.
LEFT = (
    '.git', '.venvs', '.tox', '.stestr', '.hypothesis', '.multicell',
    '.ruff_cache', '*.egg-info', 'build', 'dist', '__pycache__',
)  # fmt: skip


def copy(target: pathlib.Path) -> None:
    """Copy the source, without what tools have left in it.

    :param target: a folder that does not exist yet
    """
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT))

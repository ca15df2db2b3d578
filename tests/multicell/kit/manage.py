# SPDX-License-Identifier: Apache-2.0
"""nova-xcell-manage, as an operator runs it beside the API's services."""

from __future__ import annotations

import subprocess

from tests.multicell import netns
from tests.multicell import nova_config
from tests.multicell.errors import MulticellError
from tests.multicell.kit.clients import Clients


def run(clients: Clients, *words: object, **extra: str) -> str:
    """Run a command.

    :param clients: of the cloud
    :param words: the command and its arguments
    :param extra: more for its environment
    :returns: what it printed
    :raises: MulticellError if it fails
    """
    layout = clients.layout
    found = subprocess.run(
        netns.exec_in(
            layout.control, layout.bin / 'nova-xcell-manage',
            '--config-file', nova_config.super_file(layout),
            *map(str, words),
        ),
        env={**clients.cloud.env, **extra},
        capture_output=True,
        text=True,
    )  # fmt: skip
    if found.returncode:
        raise MulticellError(
            f'exit code {found.returncode}: {found.stdout}{found.stderr}'
        )
    return found.stdout

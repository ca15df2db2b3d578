# SPDX-License-Identifier: Apache-2.0
"""Run scenarios; started by ``python -m tests.multicell test``."""

from __future__ import annotations

import sys
import time
import traceback

from tests.multicell import environment
from tests.multicell.errors import MulticellError
from tests.multicell.kit.clients import Clients
from tests.multicell.kit.resources import Resources
from tests.multicell.scenarios import broken  # noqa: F401
from tests.multicell.scenarios import deaths  # noqa: F401
from tests.multicell.scenarios import live_migrations  # noqa: F401
from tests.multicell.scenarios import mixed  # noqa: F401
from tests.multicell.scenarios import moves  # noqa: F401
from tests.multicell.scenarios import rebuilds  # noqa: F401
from tests.multicell.scenarios import removals  # noqa: F401
from tests.multicell.scenarios import reshapes  # noqa: F401
from tests.multicell.scenarios import upgrades  # noqa: F401
from tests.multicell.scenarios import within_cell  # noqa: F401
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import Scenario
from tests.multicell.scenarios.registry import SCENARIOS


def main(names: list[str]) -> int:
    """Run scenarios and print a line for each.

    :param names: of the scenarios; ``--list`` only names them, ``--core``
        stands for the core ones. If empty, all that can pass: on a plain host
        not those that need the plug-ins, nor those that need an older release
        than the cloud has.
    :returns: the exit code
    """
    core = [scenario.name for scenario in SCENARIOS.values() if scenario.core]
    if '--core' in names:
        names = [
            *core,
            *(name for name in names if name not in ('--core', *core)),
        ]
    if '--list' in names:
        for name in [name for name in names if name != '--list'] or SCENARIOS:
            print(name)
        return 0
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        print(f'multicell: no scenario {", ".join(unknown)}', file=sys.stderr)
        return 2
    clients = Clients()
    Resources(clients).prepare()
    with_plugins = environment.plugin_is_installed(clients.layout)
    older = clients.cloud.older
    results = [
        run(scenario, clients)
        for scenario in map(SCENARIOS.get, names or list(SCENARIOS))
        if scenario.name in names
        or (
            (with_plugins or not scenario.needs_plugins)
            and scenario.on_older in (None, *older)
        )
    ]
    passed = results.count(True)
    print(f'{passed} passed, {len(results) - passed} failed')
    return 0 if all(results) else 1


def run(scenario: Scenario, clients: Clients) -> bool:
    """Run one scenario and print its result.

    :param scenario: the scenario
    :param clients: of the cloud
    :returns: whether it passed
    """
    began = time.monotonic()
    context = Context(clients)
    error = None
    for step in (lambda: scenario.run(context), context.resources.release):
        try:
            step()
        except MulticellError as exc:
            error = error or str(exc)
        except Exception:
            error = error or traceback.format_exc()
    result = 'FAILED' if error else 'ok'
    notes = ''.join(f', {note}' for note in context.notes)
    print(
        f'{scenario.name:34} {result:6} '
        f'{time.monotonic() - began:5.0f} s{notes}',
        flush=True,
    )
    if error:
        print(f'    {error}', flush=True)
    return error is None


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

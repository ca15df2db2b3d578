# SPDX-License-Identifier: Apache-2.0
"""What a scenario is, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

from tests.multicell.errors import MulticellError
from tests.multicell.kit.clients import Clients
from tests.multicell.kit.faults import Faults
from tests.multicell.kit.resources import Resources


class Context:
    """What a scenario is given.

    :param clients: of the cloud
    """

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self.resources = Resources(clients)
        self.faults = Faults(clients)
        #: Printed behind the result.
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Add something worth reading to the result.

        :param text: a few words
        """
        self.notes.append(text)


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A scenario.

    :param name: in the shell
    :param run: the function; raises what is wrong
    :param needs_plugins: whether a plain host fails it
    :param core: whether it is one of the few that stand for all
    :param on_older: what of the cloud has to be an older release; a key of
        environment.OLDER
    """

    name: str
    run: Callable[[Context], None]
    needs_plugins: bool
    core: bool
    on_older: str | None


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    needs_plugins: bool = False,
    core: bool = False,
    name: str | None = None,
    on_older: str | None = None,
) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Make a function a scenario.

    :param needs_plugins: whether a plain host fails it
    :param core: whether it is one of the few that stand for all
    :param name: its name; None for that of the function, with dashes
    :param on_older: what of the cloud has to be an older release; a key of
        environment.OLDER
    """

    def add(function: Callable[[Context], None]):
        known = name or function.__name__.replace('_', '-')
        SCENARIOS[known] = Scenario(
            known, function, needs_plugins, core, on_older
        )
        return function

    return add


def expect(found: object, wanted: object, what: str) -> None:
    """Compare.

    :param found: what is
    :param wanted: what should be
    :param what: what it is, for the message
    :raises: MulticellError if they differ
    """
    if found != wanted:
        raise MulticellError(f'{what}: {found!r}, not {wanted!r}')

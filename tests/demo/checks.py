# SPDX-License-Identifier: Apache-2.0
"""What the demonstration found to be true, and what not."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Check:
    """One claim and how it went; `problems` is empty when it holds."""

    claim: str
    problems: tuple[str, ...]


class Checks:
    """The claims of one run, in the order they were looked at."""

    def __init__(self) -> None:
        self.done: list[Check] = []

    def equal(self, claim: str, wanted: object, seen: object) -> bool:
        """Look at a claim that two values are the same.

        :param claim: what is claimed, in words
        :param wanted: what should be
        :param seen: what is
        :returns: whether the claim holds
        """
        return self.empty(
            claim, [] if wanted == seen else [f'wanted {wanted}, saw {seen}']
        )

    def empty(self, claim: str, problems: list[str]) -> bool:
        """Look at a claim that fails with every problem given.

        :param claim: what is claimed, in words
        :param problems: what speaks against it
        :returns: whether the claim holds
        """
        self.done.append(Check(claim, tuple(problems)))
        return not problems

    @property
    def failed(self) -> int:
        """How many claims do not hold."""
        return sum(1 for check in self.done if check.problems)

    def lines(self) -> list[str]:
        """Put the outcome in words.

        :returns: a line per claim, its problems below it
        """
        lines = []
        for check in self.done:
            lines.append(
                f'  {"FAIL" if check.problems else "ok  "}  {check.claim}'
            )
            lines.extend(f'          {problem}' for problem in check.problems)
        return lines

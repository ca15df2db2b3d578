# SPDX-License-Identifier: Apache-2.0
"""Commands that list what is wrong, and mend it."""

from __future__ import annotations

import abc
from collections.abc import Iterable
import typing as ty

from cliff import lister

#: Exit code of a command that changes nothing and has found something to do.
FOUND = 2


class Finding(ty.Protocol):
    """What is read of something that is wrong.

    :ivar server: UUID of the server
    :ivar waits: why nothing can or may be done about it now, or None
    """

    server: str
    waits: str | None


class Doctor(ty.Protocol):
    """Who finds what is wrong, and mends it."""

    def findings(self) -> Iterable[Finding]:
        """Find what is wrong."""

    def heal(self, finding: Finding) -> str | None:
        """Mend it.

        :param finding: one that nothing holds up
        :returns: why that was not possible, or None
        """


class Command(lister.Lister, abc.ABC):
    """What both commands of a subject have in common.

    :cvar columns: names of the columns of a finding
    """

    columns: tuple[str, ...] = ()

    @abc.abstractmethod
    def doctor(self) -> Doctor:
        """Return who does the work."""

    @abc.abstractmethod
    def row(self, finding: ty.Any) -> tuple:
        """Return the cells of a finding.

        :param finding: the finding
        """


class Audit(Command):
    """Lists findings, and changes nothing; the exit code tells of any."""

    found = False

    def take_action(self, parsed_args):
        """Look at everything.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        rows = [self.row(finding) for finding in self.doctor().findings()]
        self.found = bool(rows)
        return self.columns, rows

    def run(self, parsed_args):
        """Run it.

        :param parsed_args: what was given
        :returns: the exit code
        """
        return super().run(parsed_args) or (FOUND if self.found else 0)


class Heal(Command):
    """Mends findings; the exit code is 1 if that has failed for one."""

    failed = False

    def get_parser(self, prog_name):
        """Add the options.

        :param prog_name: of the command
        :returns: the parser
        """
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='only say what would be done',
        )
        parser.add_argument(
            '--server', metavar='UUID', help='only what this server has'
        )
        return parser

    def take_action(self, parsed_args):
        """Mend what can be mended.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        doctor = self.doctor()
        rows = []
        for finding in doctor.findings():
            if parsed_args.server not in (None, finding.server):
                continue
            row = self.row(finding)
            if finding.waits:
                result = 'left alone'
            elif parsed_args.dry_run:
                result = 'would be done'
            else:
                problem = doctor.heal(finding)
                result = problem or 'done'
                self.failed |= problem is not None
            rows.append((*row, result))
        if not parsed_args.dry_run:
            self.afterwards(doctor, parsed_args.server)
        return (*self.columns, 'Result'), rows

    def afterwards(self, doctor: ty.Any, server: str | None) -> None:
        """Do what is left when everything was looked at.

        :param doctor: who has done the work
        :param server: UUID of the only server to look at, None for all
        """

    def run(self, parsed_args):
        """Run it.

        :param parsed_args: what was given
        :returns: the exit code
        """
        return super().run(parsed_args) or int(self.failed)

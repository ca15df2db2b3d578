# SPDX-License-Identifier: Apache-2.0
"""Commands that list what is wrong, and mend it."""

from __future__ import annotations

import abc
import argparse
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import typing as ty
import uuid

from cliff import lister

from nova_xcell import exception
from nova_xcell.cmd import described
from nova_xcell.cmd import exits
from nova_xcell.cmd import messages
from nova_xcell.cmd import progress


class UnknownServer(exception.XcellError):
    msg_fmt = 'There is no server %(server)s in any cell.'


class Finding(ty.Protocol):
    """What is read of something that is wrong.

    :ivar server: UUID of the server; None if a cell cannot be looked at
    :ivar waits: why nothing can or may be done about it now, or None
    """

    server: str | None
    waits: str | None


class Doctor(ty.Protocol):
    """Who finds what is wrong, and mends it."""

    def findings(self, watch: Callable[[str], None]) -> Iterable[Finding]:
        """Find what is wrong.

        :param watch: called with the UUID of each server that is looked at
        """

    def heal(self, finding: Finding) -> str | None:
        """Mend it.

        :param finding: one that nothing holds up
        :returns: why that was not possible, or None
        """


class Command(described.Described, lister.Lister, abc.ABC):
    """What both commands of a subject have in common.

    :cvar columns: names of the columns of a finding; the last one is why
        nothing is done about it
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

    @abc.abstractmethod
    def is_read(self, finding: ty.Any) -> bool:
        """Tell whether it is known what is wrong.

        :param finding: the finding
        """

    def found(self, doctor: Doctor) -> Iterator[tuple[ty.Any, tuple]]:
        """Go through the findings, with the cells of each.

        :param doctor: who finds them
        """
        bar = progress.of(self.app, None)

        def watch(server: str) -> None:
            bar.show(server)
            bar.step()

        try:
            for finding in doctor.findings(watch):
                bar.clear()
                if not self.is_read(finding):
                    self.tell(exits.Exit.FAILED)
                *cells, waits = self.row(finding)
                yield finding, (*cells, waits and messages.line(waits))
        except KeyboardInterrupt:
            self.tell(exits.Exit.INTERRUPTED)
        finally:
            bar.clear()


class Audit(Command):
    """Lists findings, and changes nothing; the exit code tells of any."""

    def take_action(self, parsed_args):
        """Look at everything.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        rows = [row for _finding, row in self.found(self.doctor())]
        if rows:
            self.tell(exits.Exit.FOUND)
        return self.columns, rows


class Heal(Command):
    """Mends findings; the exit code tells if that has failed for one."""

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
            '--server',
            metavar='UUID',
            type=_uuid,
            help='only what this server has',
        )
        return parser

    def take_action(self, parsed_args):
        """Mend what can be mended.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        if parsed_args.server:
            _check_server(parsed_args.server)
        doctor = self.doctor()
        rows = []
        for finding, row in self.found(doctor):
            if parsed_args.server and finding.server not in (
                None,
                parsed_args.server,
            ):
                continue
            try:
                result = self._result(doctor, finding, parsed_args.dry_run)
            except KeyboardInterrupt:
                self.tell(exits.Exit.INTERRUPTED)
                result = 'interrupted'
            rows.append((*row, result))
            if self.code == exits.Exit.INTERRUPTED:
                break
        if not parsed_args.dry_run and self.code != exits.Exit.INTERRUPTED:
            self.afterwards(doctor, parsed_args.server)
        return (*self.columns, 'Result'), rows

    def _result(self, doctor: Doctor, finding: Finding, is_dry: bool) -> str:
        if finding.waits:
            return 'left alone'
        if is_dry:
            self.tell(exits.Exit.FOUND)
            return 'would be done'
        problem = doctor.heal(finding)
        if problem is None:
            return 'done'
        self.tell(exits.Exit.FAILED)
        return messages.line(problem)

    def afterwards(self, doctor: ty.Any, server: str | None) -> None:
        """Do what is left when everything was looked at.

        :param doctor: who has done the work
        :param server: UUID of the only server to look at, None for all
        """


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise argparse.ArgumentTypeError('%r is not a UUID' % text)


def _check_server(server: str) -> None:
    # Imported late: help needs none of Nova's modules.
    from nova import context as nova_context
    from nova import exception as host_exception
    from nova import objects

    try:
        objects.InstanceMapping.get_by_instance_uuid(
            nova_context.get_admin_context(), server
        )
    except host_exception.InstanceMappingNotFound:
        raise UnknownServer(server=server)

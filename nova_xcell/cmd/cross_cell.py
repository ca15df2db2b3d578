# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage cross-cell``: moves that are not where they belong."""

from __future__ import annotations

from cliff import lister

#: Exit code of an audit that has found something.
FOUND = 2

_COLUMNS = ('Server', 'Migration', 'From', 'To', 'Plan', 'Waits for')


def _reconciler():
    # Imported late: these are Nova's modules, and help needs none of them.
    from nova import context as nova_context

    from nova_xcell.tasks import reconcile
    from nova_xcell.tasks import services

    return reconcile.Reconciler(
        nova_context.get_admin_context(), services.Services.connect()
    )


def _row(finding) -> tuple:
    move = finding.move
    return (
        finding.server,
        finding.migration,
        move.source_host if move else None,
        move.dest_host if move else None,
        finding.goal.value if finding.goal else None,
        finding.waits,
    )


class Audit(lister.Lister):
    """List cross-cell moves that are not where they belong; change nothing.

    The exit code is 0 if there are none, and 2 if there are. Example:
    nova-xcell-manage --config-file /etc/nova/nova.conf cross-cell audit -f
    json
    """

    found = False

    def take_action(self, parsed_args):
        """Look at every move.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        rows = [_row(finding) for finding in _reconciler().findings()]
        self.found = bool(rows)
        return _COLUMNS, rows

    def run(self, parsed_args):
        """Run it.

        :param parsed_args: what was given
        :returns: the exit code
        """
        return super().run(parsed_args) or (FOUND if self.found else 0)


class Heal(lister.Lister):
    """Bring cross-cell moves that nobody drives to an end.

    A move that a conductor or a host still works on is left alone. The exit
    code is 1 if a move could not be brought to an end; run it again then, or
    leave it to nova-conductor. Example: nova-xcell-manage --config-file
    /etc/nova/nova.conf cross-cell heal --dry-run
    """

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
            '--server', metavar='UUID', help='only the moves of this server'
        )
        return parser

    def take_action(self, parsed_args):
        """Heal what can be healed.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        reconciler = _reconciler()
        rows = []
        for finding in reconciler.findings():
            if parsed_args.server not in (None, finding.server):
                continue
            row = _row(finding)
            if parsed_args.dry_run:
                result = 'left alone' if finding.waits else 'would be done'
            elif finding.waits:
                result = 'left alone'
            else:
                problem = reconciler.heal(finding)
                result = problem or 'done'
                self.failed |= problem is not None
            rows.append((*row, result))
        if not parsed_args.dry_run:
            reconciler.delete_images(parsed_args.server)
        return (*_COLUMNS, 'Result'), rows

    def run(self, parsed_args):
        """Run it.

        :param parsed_args: what was given
        :returns: the exit code
        """
        return super().run(parsed_args) or int(self.failed)

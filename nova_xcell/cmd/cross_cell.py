# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage cross-cell``: moves that are not where they belong."""

from __future__ import annotations

from nova_xcell.cmd import findings


class _Moves(findings.Command):
    columns = ('Server', 'Migration', 'From', 'To', 'Plan', 'Waits for')

    def doctor(self):
        """Return who does the work."""
        # Imported late: these are Nova's modules, and help needs none of
        # them.
        from nova import context as nova_context

        from nova_xcell.tasks import reconcile
        from nova_xcell.tasks import services

        return reconcile.Reconciler(
            nova_context.get_admin_context(), services.Services.connect()
        )

    def row(self, finding) -> tuple:
        """Return the cells of a finding.

        :param finding: a move
        """
        move = finding.move
        return (
            finding.server,
            finding.migration,
            move.source_host if move else None,
            move.dest_host if move else None,
            finding.goal.value if finding.goal else None,
            finding.waits,
        )


class Audit(_Moves, findings.Audit):
    """List cross-cell moves that are not where they belong; change nothing.

    The exit code is 0 if there are none, and 2 if there are. Example:
    nova-xcell-manage --config-file /etc/nova/nova.conf cross-cell audit -f
    json
    """


class Heal(_Moves, findings.Heal):
    """Bring cross-cell moves that nobody drives to an end.

    A move that a conductor or a host still works on is left alone. The exit
    code is 1 if a move could not be brought to an end; run it again then, or
    leave it to nova-conductor. Example: nova-xcell-manage --config-file
    /etc/nova/nova.conf cross-cell heal --dry-run
    """

    def afterwards(self, doctor, server: str | None) -> None:
        """Delete what moves have left in Glance.

        :param doctor: who has done the work
        :param server: UUID of the only server to look at, None for all
        """
        doctor.delete_images(server)

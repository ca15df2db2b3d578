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

    def is_read(self, finding) -> bool:
        """Tell whether the move could be looked at.

        :param finding: a move
        """
        return finding.move is not None


class Audit(_Moves, findings.Audit):
    """List cross-cell moves that are not where they belong; change nothing.

    A move that is under way is listed too. A cell that cannot be looked at is
    listed with the reason.
    """

    examples = ('cross-cell audit', 'cross-cell audit -f json')


class Heal(_Moves, findings.Heal):
    """Bring cross-cell moves that nobody drives to an end.

    A move is finished, confirmed, reverted or rolled back. One that a
    conductor or a host still works on is left alone. If a move could not be
    brought to an end, run it again, or leave it to nova-conductor.
    """

    examples = (
        'cross-cell heal --dry-run',
        'cross-cell heal --server 3f1c9a52-6f0e-4d7b-9f4c-0a8c6b2d1e77',
    )

    def afterwards(self, doctor, server: str | None) -> None:
        """Delete what moves have left in Glance.

        :param doctor: who has done the work
        :param server: UUID of the only server to look at, None for all
        """
        doctor.delete_images(server)

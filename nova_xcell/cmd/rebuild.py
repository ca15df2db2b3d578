# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage rebuild``: what failed rebuilds have left."""

from __future__ import annotations

from nova_xcell.cmd import findings
from nova_xcell.rebuild import leftovers


class _Rebuilds(findings.Command):
    columns = ('Server', 'State', 'Problem', 'With', 'Plan', 'Waits for')

    def doctor(self):
        """Return who does the work."""
        # Imported late: these are Nova's modules, and help needs none of
        # them.
        from nova import context as nova_context

        from nova_xcell.rebuild import audit

        return audit.Auditor(nova_context.get_admin_context())

    def row(self, finding) -> tuple:
        """Return the cells of a finding.

        :param finding: something that is wrong with a server
        """
        leftover = finding.leftover
        return (
            finding.server,
            finding.status,
            leftover.problem.value if leftover else None,
            leftover.thing if leftover else None,
            leftovers.PLANS[leftover.problem] if leftover else None,
            finding.waits,
        )

    def is_read(self, finding) -> bool:
        """Tell whether the server could be looked at.

        :param finding: something that is wrong with a server
        """
        return finding.leftover is not None


class Audit(_Rebuilds, findings.Audit):
    """List what failed rebuilds have left; change nothing.

    Looks at servers that were rebuilt, or were to be, and asks the database,
    Cinder and Placement for each. A server or a cell that cannot be looked at
    is listed with the reason.
    """

    examples = ('rebuild audit', 'rebuild audit -f csv -c Server -c Problem')


class Heal(_Rebuilds, findings.Heal):
    """Mend what failed rebuilds have left.

    Allocations, attachments and the stored image are set right; no server is
    rebuilt.
    """

    examples = (
        'rebuild heal --dry-run',
        'rebuild heal --server 3f1c9a52-6f0e-4d7b-9f4c-0a8c6b2d1e77',
    )

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


class Audit(_Rebuilds, findings.Audit):
    """List what failed rebuilds have left; change nothing.

    Looks at servers that were rebuilt, or were to be. The exit code is 0 if
    nothing is wrong, and 2 if something is. Example: nova-xcell-manage
    --config-file /etc/nova/nova.conf rebuild audit -f json
    """


class Heal(_Rebuilds, findings.Heal):
    """Mend what failed rebuilds have left.

    Allocations, attachments and the stored image are set right; no server is
    rebuilt. The exit code is 1 if something could not be mended. Example:
    nova-xcell-manage --config-file /etc/nova/nova.conf rebuild heal --dry-run
    """

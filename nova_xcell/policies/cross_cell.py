# SPDX-License-Identifier: Apache-2.0
"""Who may move a server to another cell (XC-01)."""

from oslo_policy import policy

CROSS_CELL_RESIZE = 'compute:servers:resize:cross_cell'

#: What the rules of cross-cell moves govern.
OPERATIONS = [
    {
        'method': 'POST',
        'path': '/servers/{server_id}/action (resize)',
    },
    {
        'method': 'POST',
        'path': '/servers/{server_id}/action (migrate)',
    },
]

#: Every supported host registers this rule itself; the host's stands, and it
#: is not registered a second time. It is listed here for the generators,
#: because the host's help leaves out that cold migration obeys it too.
rules = [
    policy.DocumentedRuleDefault(
        name=CROSS_CELL_RESIZE,
        check_str='!',
        description=(
            'Resize or cold migrate a server across cells. By default nobody '
            'may. Try it with admin users first, then open it to others. '
            'The cell a server is in stays the preferred one; the option '
            '[xcell] cell_weights marks cells that should be left or filled. '
            'An admin who names a host of another cell for a cold migration '
            'needs this rule as well.'
        ),
        operations=OPERATIONS,
        scope_types=['project'],
    ),
]


def list_rules() -> list[policy.DocumentedRuleDefault]:
    """Return the rules of cross-cell moves."""
    return rules

# SPDX-License-Identifier: Apache-2.0
"""Who may see how a live migration is done (MF-12)."""

from oslo_policy import policy

SHOW_FLAGS = 'compute:servers:migrations:show:flags'

rules = [
    policy.DocumentedRuleDefault(
        name=SHOW_FLAGS,
        check_str='rule:context_is_admin',
        description=(
            'Show with a live migration which features of the hypervisor it '
            'uses, and why, under the key "flags". The rule '
            'os_compute_api:servers:migrations:show has to pass as well.'
        ),
        operations=[
            {
                'method': 'GET',
                'path': '/servers/{server_id}/migrations/{migration_id}',
            },
        ],
        scope_types=['project'],
    ),
]


def list_rules() -> list[policy.DocumentedRuleDefault]:
    """Return the rules of what is shown of a live migration."""
    return rules

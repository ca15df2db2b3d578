# SPDX-License-Identifier: Apache-2.0
"""Our policy rules, where nova-api registers the host's."""

from __future__ import annotations

from oslo_policy import policy

from nova import policies as host_policies

from nova_xcell import policies

# What the host registers; looked up before the seam replaces it.
_host_rules = host_policies.list_rules


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules of the host, and those of ours that it has not."""
    rules = list(_host_rules())
    known = {rule.name for rule in rules}
    return rules + [
        rule for rule in policies.list_rules() if rule.name not in known
    ]

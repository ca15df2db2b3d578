# SPDX-License-Identifier: Apache-2.0
"""Policy rules (namespaces ``nova_xcell.policies``, ``oslo.policy``'s own)."""

from oslo_policy import policy
import stevedore

NAMESPACE = 'nova_xcell.policies'


def list_rules() -> list[policy.DocumentedRuleDefault]:
    """Return the rules of every policy plug-in, for the policy generators."""
    plugins = stevedore.ExtensionManager(NAMESPACE)
    return [
        rule
        for plugin in sorted(plugins, key=lambda found: found.name)
        for rule in plugin.plugin()
    ]

# SPDX-License-Identifier: Apache-2.0
"""Who may lose what a move to another cell does not carry (XC-26)."""

from oslo_policy import policy

from nova_xcell.policies import cross_cell
from nova_xcell.tasks import obstacles

LOSE_EPHEMERAL = cross_cell.CROSS_CELL_RESIZE + ':lose_ephemeral_disks'
LOSE_PERSONALITY = cross_cell.CROSS_CELL_RESIZE + ':lose_personality_files'

#: What is allowed to be lost, by the rule that allows it.
KINDS = {
    LOSE_EPHEMERAL: obstacles.EPHEMERAL,
    LOSE_PERSONALITY: obstacles.PERSONALITY,
}

rules = [
    policy.DocumentedRuleDefault(
        name=LOSE_EPHEMERAL,
        check_str='!',
        description=(
            'Let a resize or cold migration to another cell lose the content '
            'of ephemeral disks. They are there afterwards, but blank. By '
            'default nobody may: a server with ephemeral disks then stays in '
            'its cell, and a request that names a host of another cell is '
            'refused. The rule %s has to pass as well.'
            % cross_cell.CROSS_CELL_RESIZE
        ),
        operations=cross_cell.OPERATIONS,
        scope_types=['project'],
    ),
    policy.DocumentedRuleDefault(
        name=LOSE_PERSONALITY,
        check_str='!',
        description=(
            'Let a resize or cold migration to another cell lose personality '
            'files. They are on the config drive only, which is made anew '
            'without them. By default nobody may: a server with such files '
            'then stays in its cell, and a request that names a host of '
            'another cell is refused. The rule %s has to pass as well.'
            % cross_cell.CROSS_CELL_RESIZE
        ),
        operations=cross_cell.OPERATIONS,
        scope_types=['project'],
    ),
]


def list_rules() -> list[policy.DocumentedRuleDefault]:
    """Return the rules of what may be lost."""
    return rules

# SPDX-License-Identifier: Apache-2.0
"""Where a move that nobody drives has to go: pure, no host imports.

Forward wherever the guest is already there, back wherever it is not. What the
user has decided, confirm or revert, is finished.
"""

import dataclasses
import enum

#: vm_state and task_state, as in nova.compute.
RESIZED, ERROR = 'resized', 'error'
RESIZE_REVERTING = 'resize_reverting'
MOVING = frozenset(('resize_prep', 'resize_migrating', 'resize_migrated'))
TASKS = MOVING | {RESIZE_REVERTING}

#: The names, in the compute API, of what begins a move.
BEGINNINGS = frozenset(('migrate', 'resize'))

#: Statuses of a migration after which nothing is to come.
ENDED = frozenset(('confirmed', 'reverted', 'error', 'cancelled', 'failed'))


class Goal(enum.Enum):
    """What a move should come to."""

    #: Nothing to do.
    REST = 'nothing to do'
    #: The guest is in the target cell; show it there, in VERIFY_RESIZE.
    VERIFY = 'finish the move, so that it can be confirmed or reverted'
    CONFIRM = 'finish the confirm'
    REVERT = 'finish the revert'
    ROLL_BACK = 'roll the move back'


@dataclasses.dataclass(frozen=True)
class Half:
    """What one cell has of a move.

    :ivar exists: whether it has a record of the server
    :ivar hidden: of that record
    :ivar vm_state: of that record
    :ivar task_state: of that record
    :ivar status: of its record of the migration, None without one
    :ivar undoing: how the migration ends when what is left of the move is
        undone, None if it does not say that anything is
    """

    exists: bool = False
    hidden: bool = False
    vm_state: str | None = None
    task_state: str | None = None
    status: str | None = None
    undoing: str | None = None


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known of a move.

    :ivar at_target: whether the instance mapping points at the target cell
    :ivar source: the cell that the server came from
    :ivar target: the cell that it goes to
    :ivar decision: the last thing a user has asked of the server, by its name
        in the compute API
    :ivar spec_is_current: whether the request spec has the flavor that the
        server has at home
    """

    at_target: bool
    source: Half
    target: Half
    decision: str | None = None
    spec_is_current: bool = True


#: By how the migration ends.
_UNDONE = {'error': Goal.ROLL_BACK, 'reverted': Goal.REVERT}


def choose(facts: Facts) -> Goal:
    """Decide where a move has to go.

    :param facts: what is known of it
    """
    return _at_target(facts) if facts.at_target else _at_source(facts)


def _at_source(facts: Facts) -> Goal:
    source, target = facts.source, facts.target
    if not target.exists and source.status in (None, *ENDED):
        if source.undoing:
            return _UNDONE[source.undoing]
        failed = source.vm_state == ERROR and _reverts(facts)
        if not failed and source.task_state not in TASKS:
            return Goal.REST
    if _reverts(facts):
        return Goal.REVERT
    # A move that has failed is undone by the same steps.
    if facts.decision not in BEGINNINGS and (
        RESIZE_REVERTING in (source.task_state, target.task_state)
        or source.status == 'reverting'
    ):
        return Goal.REVERT
    if target.vm_state == RESIZED and target.status == 'finished':
        # Unless it is over here: the user was told that it has failed, and its
        # resources there are given up by then. Or the other cell makes it up.
        return Goal.ROLL_BACK if source.status in ENDED else Goal.VERIFY
    return Goal.ROLL_BACK


def _at_target(facts: Facts) -> Goal:
    source, target = facts.source, facts.target
    if (
        not source.exists
        and target.status in (None, *ENDED)
        and target.vm_state != RESIZED
    ):
        return Goal.REST
    if (
        target.task_state == RESIZE_REVERTING
        or target.status == 'reverting'
        or _reverts(facts)
    ):
        return Goal.REVERT
    if source.status == 'confirmed' or facts.decision == 'confirmResize':
        # Deleting a server confirms first, and does not say so in the status.
        return Goal.CONFIRM
    if target.vm_state == RESIZED and target.status == 'finished':
        # The user decides. Only what the user sees may be half done.
        if (
            target.hidden
            or (source.exists and not source.hidden)
            or not facts.spec_is_current
        ):
            return Goal.VERIFY
        return Goal.REST
    # Confirmed, or an administrator has reset the state: there is no way
    # back any more.
    return Goal.CONFIRM


def _reverts(facts: Facts) -> bool:
    return facts.decision == 'revertResize'

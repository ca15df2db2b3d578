# SPDX-License-Identifier: Apache-2.0
"""What the commands that reshape have in common."""

from __future__ import annotations

import logging
import typing as ty

from oslo_utils import timeutils

from nova_xcell.cmd import exits
from nova_xcell.cmd import messages
from nova_xcell.cmd import progress

LOG = logging.getLogger(__name__)

#: The name of a node and what to do, which returns the plan.
Task = tuple[str, ty.Callable[[], ty.Any]]


class Outcome(ty.NamedTuple):
    """How it went with one node.

    :ivar node: its name
    :ivar plan: what was or would be changed; None if that could not be found
        out or done
    :ivar result: in a word
    :ivar reason: why there is no plan, or None
    """

    node: str
    plan: ty.Any
    result: str
    reason: str | None = None


def add_node(parser: ty.Any) -> None:
    """Add the option that names nodes.

    :param parser: of a command, or a group of its options
    """
    parser.add_argument(
        '--node',
        action='append',
        default=[],
        metavar='NAME',
        help='name or UUID of a compute node; may be repeated',
    )


def add_all(parser: ty.Any) -> None:
    """Add the option for all nodes.

    :param parser: of a command, or a group of its options
    """
    parser.add_argument(
        '--all', action='store_true', help='all nodes the rules are for'
    )


def add_dry_run(parser: ty.Any) -> None:
    """Add the option that keeps a command from changing anything.

    :param parser: of the command
    """
    parser.add_argument(
        '--dry-run',
        action='store_true',
        help='only show what would be done',
    )


def undo_file_at(path: str | None) -> ty.Any:
    """Return the file for what is needed to undo a run.

    :param path: of the file; a name with the time if None
    """
    from nova_xcell.reshaper import undo_file

    return undo_file.UndoFile(
        path
        or 'reshape-undo-%s.json'
        % timeutils.utcnow().strftime('%Y%m%dT%H%M%SZ')
    )


def wanted(nodes: ty.Mapping[str, str], rules: tuple) -> dict[str, str]:
    """Return the nodes that rules are for.

    :param nodes: names by UUID
    :param rules: the rules
    """
    return {
        key: name
        for key, name in nodes.items()
        if any(rule.is_for(name, key) for rule in rules)
    }


def each(
    command: ty.Any, tasks: ty.Sequence[Task], is_dry: bool
) -> ty.Iterator[Outcome]:
    """Do something for each node; one that fails does not stop the others.

    If it is interrupted, what is left is not begun.

    :param command: of cliff, the exit code of which is set
    :param tasks: what to do
    :param is_dry: whether nothing is changed
    """
    bar = progress.of(command.app, len(tasks))
    for name, task in tasks:
        bar.show(name)
        try:
            plan = task()
            outcome = Outcome(name, plan, _result(plan, is_dry))
            code = _code(plan, is_dry)
        except KeyboardInterrupt:
            outcome = Outcome(name, None, 'interrupted', 'Ctrl-C')
            code = exits.Exit.INTERRUPTED
        except Exception as exc:
            if not messages.is_expected(exc):
                LOG.exception('Node %s could not be reshaped.', name)
            outcome = Outcome(name, None, 'failed', messages.explain(exc))
            code = exits.Exit.FAILED
        command.tell(code)
        bar.step()
        bar.clear()
        yield outcome
        if code == exits.Exit.INTERRUPTED:
            return


def _code(plan: ty.Any, is_dry: bool) -> exits.Exit:
    if plan.problems:
        return exits.Exit.FAILED
    return exits.Exit.OK if plan.is_empty or not is_dry else exits.Exit.FOUND


def _result(plan: ty.Any, is_dry: bool) -> str:
    if plan.problems:
        return 'left as it is'
    if plan.is_empty:
        return 'nothing to do'
    return 'would be done' if is_dry else 'done'

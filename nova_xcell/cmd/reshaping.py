# SPDX-License-Identifier: Apache-2.0
"""What the commands that reshape have in common."""

from __future__ import annotations

import typing as ty

from oslo_utils import timeutils

from nova_xcell.cmd import findings


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


def worst(code: int, plan: ty.Any, is_dry: bool = True) -> int:
    """Return the exit code after one more node.

    :param code: that of the nodes before
    :param plan: of the node
    :param is_dry: whether nothing was to be changed
    """
    if plan.problems or code == 1:
        return 1
    return findings.FOUND if is_dry and not plan.is_empty else code

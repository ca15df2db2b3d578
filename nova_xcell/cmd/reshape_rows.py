# SPDX-License-Identifier: Apache-2.0
"""What a reshape does to nodes, as rows of a list."""

from __future__ import annotations

import typing as ty

from nova_xcell.cmd import reshaping

#: Names of the columns.
COLUMNS = ('Node', 'What', 'Provider or consumer', 'Before', 'After', 'Why')

_Row = tuple[str, str, str | None, str | None, str | None, str | None]


def of_outcome(outcome: reshaping.Outcome) -> ty.Iterator[_Row]:
    """Return what was done to a node, with the result at the end.

    :param outcome: how it went
    """
    if outcome.plan is not None:
        yield from of_plan(outcome.plan)
    yield (outcome.node, outcome.result, None, None, None, outcome.reason)


def of_plan(plan: ty.Any) -> ty.Iterator[_Row]:
    """Return what a plan does.

    :param plan: of a node
    """
    node = plan.tree.name
    for new in plan.new:
        yield node, 'create', new.name, None, None, None
    for key, traits in plan.traits.items():
        told = ', '.join(sorted(traits))
        yield node, 'traits', plan.names[key], None, told, None
    for key, after in plan.inventories.items():
        provider = plan.tree.providers.get(key)
        before = provider.inventories if provider else {}
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                yield (
                    node,
                    'inventory',
                    plan.names[key],
                    _total(name, before),
                    _total(name, after),
                    None,
                )
    for consumer, change in plan.changes.items():
        yield (
            node,
            'allocation',
            consumer,
            _spelled(change.consumer.allocations, plan.names),
            _spelled(change.after, plan.names),
            None,
        )
    for note in plan.notes:
        yield node, 'note', None, None, None, note
    for problem in plan.problems:
        yield (
            node,
            'problem: ' + problem.kind,
            problem.consumer,
            None,
            None,
            problem.reason,
        )


def _total(name: str, inventories: ty.Mapping) -> str | None:
    if name not in inventories:
        return None
    return '%s: %d' % (name, inventories[name]['total'])


def _spelled(allocations: ty.Mapping, names: ty.Mapping[str, str]) -> str:
    return '; '.join(
        '%s %s'
        % (
            names.get(key, key),
            ', '.join('%s: %d' % each for each in sorted(amounts.items())),
        )
        for key, amounts in sorted(
            allocations.items(), key=lambda item: names.get(item[0], item[0])
        )
    )

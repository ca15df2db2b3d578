# SPDX-License-Identifier: Apache-2.0
"""Apply rules to what a host reports of itself: no host imports (RP-08).

A driver reports its root anew again and again, whatever the rules have made
of it before. So the rules are applied each time. Allocations only come into
play where Placement has a class that they would move.
"""

from __future__ import annotations

import dataclasses
import typing as ty

from nova_xcell.reshaper import plan as plan_module
from nova_xcell.reshaper import rules as rules_module
from nova_xcell.reshaper import tree as tree_module

#: Classes that drivers look for on the root, to keep their ratio or to know
#: that they have reported them before.
_OF_THE_ROOT = ('VCPU', 'PCPU', 'MEMORY_MB', 'DISK_GB')


def presented(
    tree: tree_module.Tree, rules: ty.Iterable[rules_module.Rule]
) -> tree_module.Inventories:
    """Return the root's inventories as a driver knows them.

    :param tree: as Placement knows it
    :param rules: the rules
    :returns: with the classes that rules have moved to other providers
    """
    root = tree.providers[tree.root]
    inventories = dict(root.inventories)
    for rule in rules:
        if not (
            isinstance(rule, rules_module.Spread)
            and rule.is_for(root.name, root.uuid)
            and rules_module.matches(rule.providers, root.name, node=root.name)
        ):
            continue
        for name in set(rule.classes) & set(_OF_THE_ROOT):
            there = [
                provider.inventories[name]
                for provider in tree.providers.values()
                if name in provider.inventories
            ]
            if there and name not in inventories:
                inventories[name] = {
                    **there[0],
                    'total': sum(each['total'] for each in there),
                }
    return inventories


def add_allocations(
    tree: tree_module.Tree, allocations: ty.Mapping[str, ty.Mapping]
) -> None:
    """Complete a tree with what consumers have.

    :param tree: without allocations
    :param allocations: by UUID of the consumer, as the host hands it over
    """
    for provider in tree.providers.values():
        provider.allocations = {}
    for uuid, record in allocations.items():
        amounts = {
            key: dict(each['resources'])
            for key, each in record['allocations'].items()
        }
        # One that is gone in the meantime has nothing, nor a project.
        if not amounts:
            continue
        tree.consumers[uuid] = tree_module.Consumer(
            uuid,
            record['consumer_generation'],
            record['project_id'],
            record['user_id'],
            amounts,
        )
        for key in amounts.keys() & tree.providers.keys():
            tree.providers[key].allocations[uuid] = dict(amounts[key])


def take_over(plan: plan_module.Plan, allocations: ty.Mapping) -> None:
    """Change allocations as a plan says.

    :param plan: without problems
    :param allocations: as the host handed it over; changed
    """
    for uuid, change in plan.changes.items():
        there = allocations[uuid]['allocations']
        allocations[uuid]['allocations'] = {
            key: {**there.get(key, {}), 'resources': dict(amounts)}
            for key, amounts in change.after.items()
        }


@dataclasses.dataclass(frozen=True)
class Reported:
    """What has to be done with a tree that a host has reported.

    :ivar plan: the plan
    :ivar inventories: by UUID, of providers whose inventories are not as
        they were reported
    :ivar needs_reshape: whether Placement has a class that is to be moved
    """

    plan: plan_module.Plan
    inventories: dict[str, tree_module.Inventories]
    needs_reshape: bool


def apply(
    tree: tree_module.Tree, rules: ty.Iterable[rules_module.Rule]
) -> Reported:
    """Apply rules to what a host reports.

    :param tree: with what each provider reports
    :param rules: the rules
    """
    plan = plan_module.make(tree, rules)
    reported = {
        key: provider.reported for key, provider in tree.providers.items()
    }
    return Reported(
        plan,
        {
            key: inventories
            for key, inventories in plan.after.items()
            if inventories != reported.get(key, {})
        },
        bool(plan.touched),
    )


def explained(plan: plan_module.Plan, most: int = 20) -> str:
    """Return what is wrong with a plan, in one line.

    :param plan: with problems
    :param most: how many problems to name
    """
    told = [
        '%s (%s)'
        % (
            'consumer %s: %s' % (problem.consumer, problem.reason)
            if problem.consumer
            else problem.reason,
            problem.kind,
        )
        for problem in plan.problems
    ]
    more = len(told) - most
    return '; '.join(told[:most]) + (
        '; and %d more' % more if more > 0 else ''
    )

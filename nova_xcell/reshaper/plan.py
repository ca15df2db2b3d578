# SPDX-License-Identifier: Apache-2.0
"""From a tree and rules to what is sent to Placement: no host imports.

Nothing is sent that does not change (RP-05), and whatever Placement would
refuse is named before (RP-09).
"""

from __future__ import annotations

import copy
import dataclasses
import typing as ty

from nova_xcell.reshaper import rules as rules_module
from nova_xcell.reshaper import shape as shape_module
from nova_xcell.reshaper import steps
from nova_xcell.reshaper import tree as tree_module
from nova_xcell.reshaper.new_provider import NewProvider
from nova_xcell.reshaper.tree import Problem


@dataclasses.dataclass
class Change:
    """What a consumer has before and after, inside and outside the tree.

    :ivar consumer: as it was read
    :ivar after: by UUID of the provider, amounts
    """

    consumer: tree_module.Consumer
    after: dict[str, tree_module.Amounts]


@dataclasses.dataclass
class Plan:
    """A reshape of one tree.

    :ivar tree: as it was read
    :ivar names: by UUID, names of providers, new ones included
    :ivar new: children that have to be created first
    :ivar left: children that a run before has created for the same end
    :ivar after: by UUID of every provider, its inventories afterwards
    :ivar touched: UUIDs of providers and classes that the rules change
    :ivar carried: those of them that the host, if asked, does not report
    :ivar traits: by UUID, traits that have to be added first
    :ivar inventories: by UUID of a provider that changes, its inventories
        afterwards
    :ivar changes: by UUID of a consumer that changes
    :ivar origins: by UUID of the provider and resource class afterwards,
        where it was before
    :ivar missing: UUIDs of consumers that would change, but are not in the
        tree; a problem as well
    :ivar problems: if there is one, nothing can be sent
    :ivar notes: what an operator should know
    """

    tree: tree_module.Tree
    names: dict[str, str]
    new: list[NewProvider] = dataclasses.field(default_factory=list)
    left: list[NewProvider] = dataclasses.field(default_factory=list)
    after: dict[str, tree_module.Inventories] = dataclasses.field(
        default_factory=dict
    )
    touched: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    carried: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    traits: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    inventories: dict[str, tree_module.Inventories] = dataclasses.field(
        default_factory=dict
    )
    changes: dict[str, Change] = dataclasses.field(default_factory=dict)
    origins: dict[tuple[str, str], tuple[str, str]] = dataclasses.field(
        default_factory=dict
    )
    missing: list[str] = dataclasses.field(default_factory=list)
    problems: list[Problem] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do, and nothing wrong."""
        return not (self.inventories or self.changes or self.problems)

    def payload(self, generations: ty.Mapping[str, int]) -> dict:
        """Return the body of POST /reshaper.

        :param generations: by UUID, of providers that have changed since the
            tree was read: those created or given a trait
        """
        return {
            'inventories': {
                key: {
                    'resource_provider_generation': generations[key]
                    if key in generations
                    else self.tree.providers[key].generation,
                    'inventories': {
                        name: dict(inventory)
                        for name, inventory in inventories.items()
                    },
                }
                for key, inventories in self.inventories.items()
            },
            'allocations': {
                key: {
                    'project_id': change.consumer.project_id,
                    'user_id': change.consumer.user_id,
                    'consumer_generation': change.consumer.generation,
                    'allocations': {
                        provider: {'resources': dict(amounts)}
                        for provider, amounts in change.after.items()
                    },
                }
                for key, change in self.changes.items()
            },
        }


def concerned(
    tree: tree_module.Tree, rules: ty.Iterable[rules_module.Rule]
) -> set[str]:
    """Return whose allocations have to be known for a plan (RP-01).

    :param tree: without allocations
    :param rules: the rules
    :returns: UUIDs of providers; empty if the rules ask for nothing
    """
    found = shape_module.shape(tree, rules)
    return {
        key
        for step in found.steps
        for key in (step.source, *step.targets)
        if key in tree.providers
    }


def make(
    tree: tree_module.Tree, rules: ty.Iterable[rules_module.Rule]
) -> Plan:
    """Plan a reshape; the same input gives the same plan.

    :param tree: with the allocations of the providers that are concerned;
        it is not changed
    :param rules: the rules
    """
    found = shape_module.shape(tree, rules)
    held = {
        key: copy.deepcopy(provider.allocations or {})
        for key, provider in tree.providers.items()
    }
    plan = Plan(
        tree,
        found.names,
        problems=list(found.problems),
        notes=list(found.notes),
    )
    for step in found.steps:
        plan.problems += steps.move(step, found.names, held)
        _remember_origins(plan, step)
    plan.inventories = {
        key: inventories
        for key, inventories in found.inventories.items()
        if inventories
        != (tree.providers[key].inventories if key in tree.providers else {})
    }
    plan.new = [new for new in found.new.values() if _has(found, new)]
    plan.left = [new for new in found.left.values() if _has(found, new)]
    plan.after = found.inventories
    plan.carried = found.carried
    for step in found.steps:
        plan.touched |= {(step.source, name) for name in step.classes}
        plan.touched |= {
            (key, name)
            for key in step.targets
            for name in step.classes.values()
        }
    plan.traits = found.traits
    finish(plan, held, found.inventories)
    return plan


def _has(found: shape_module.Shape, new: NewProvider) -> bool:
    return bool(found.inventories[new.uuid])


def finish(
    plan: Plan,
    held: dict[str, dict[str, tree_module.Amounts]],
    inventories: ty.Mapping[str, tree_module.Inventories],
) -> None:
    """Work out who changes, and check what Placement will check.

    :param plan: completed with changes, problems and notes
    :param held: by UUID of the provider and of the consumer, what it has
        afterwards
    :param inventories: by UUID of the provider, afterwards
    """
    tree = plan.tree
    touched = {
        consumer
        for key in held
        for consumer in held[key].keys() | _before(tree, key).keys()
        if (held[key].get(consumer) or {})
        != _before(tree, key).get(consumer, {})
    }
    for consumer in sorted(touched):
        known = tree.consumers.get(consumer)
        if known is None:
            plan.missing.append(consumer)
        if known is None or not _agrees(tree, known):
            plan.problems.append(
                Problem(
                    tree_module.GENERATION,
                    'its allocations change at this moment',
                    consumer,
                )
            )
            continue
        plan.changes[consumer] = Change(known, _after(tree, known, held))
        outside = [key for key in known.allocations if key not in held]
        if outside:
            plan.notes.append(
                'consumer %s also has something of %s, which is outside this '
                'tree and stays as it is' % (consumer, ', '.join(outside))
            )
    plan.problems += _raced(tree)
    plan.problems += _refused(plan, held, inventories)
    if plan.touched and tree.sharing:
        plan.notes.append(
            'consumers that have something of a sharing provider only are '
            'not touched: %s'
            % ', '.join(sorted(p.name for p in tree.sharing.values()))
        )


def _before(tree, key: str) -> dict[str, tree_module.Amounts]:
    provider = tree.providers.get(key)
    return (provider.allocations if provider else None) or {}


def _agrees(tree, consumer: tree_module.Consumer) -> bool:
    """Whether a consumer and the providers were read in the same state."""
    return all(
        _before(tree, key).get(consumer.uuid, {})
        == consumer.allocations.get(key, {})
        for key, provider in tree.providers.items()
        if provider.allocations is not None
    )


def _after(tree, consumer, held) -> dict[str, tree_module.Amounts]:
    after = {}
    for key in [*consumer.allocations, *held]:
        provider = tree.providers.get(key)
        if key in held and not (provider and provider.allocations is None):
            amounts = held[key].get(consumer.uuid)
        else:
            amounts = consumer.allocations.get(key)
        # Placement takes no provider without resources.
        if amounts:
            after[key] = dict(amounts)
    return after


def _raced(tree: tree_module.Tree) -> list[Problem]:
    return [
        Problem(
            tree_module.GENERATION,
            'provider %s changes at this moment' % provider.name,
        )
        for provider in tree.providers.values()
        if provider.allocations_generation not in (None, provider.generation)
    ]


def _refused(plan, held, inventories) -> list[Problem]:
    """Name what Placement would refuse; it looks at all that is sent."""
    problems = []
    told = {problem.consumer for problem in plan.problems}
    for consumer, change in plan.changes.items():
        if consumer in told:
            continue
        for key, amounts in change.after.items():
            for name, amount in amounts.items():
                inventory = inventories.get(key, {}).get(name)
                if inventory is None:
                    continue
                why = tree_module.violated(amount, inventory)
                kind = tree_module.UNIT
                if why is None:
                    kind = tree_module.CAPACITY
                    why = _too_much(plan.tree, held, key, name, inventory)
                if why is not None:
                    problems.append(
                        Problem(
                            kind,
                            '%s of provider %s: %s'
                            % (name, plan.names[key], why),
                            consumer,
                        )
                    )
    return problems


def _too_much(tree, held, key, name, inventory) -> str | None:
    provider = tree.providers.get(key)
    if provider is not None and provider.allocations is None:
        # Nobody gets more of it than before.
        return None
    used = _sum(held.get(key, {}), name)
    limit = tree_module.capacity(inventory)
    if used <= limit or 0 < used <= _sum(_before(tree, key), name):
        return None
    return 'allocated are %d of %d' % (used, limit)


def _sum(consumers: ty.Mapping[str, tree_module.Amounts], name: str) -> int:
    return sum(amounts.get(name, 0) for amounts in consumers.values())


def _remember_origins(plan: Plan, step: shape_module.Step) -> None:
    for old, new in step.classes.items():
        origin = plan.origins.get((step.source, old), (step.source, old))
        for key in step.targets:
            known = plan.tree.providers.get(key)
            if known is None or new not in known.inventories:
                plan.origins[key, new] = origin

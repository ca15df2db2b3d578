# SPDX-License-Identifier: Apache-2.0
"""What the rules make of a tree's inventories: no host imports."""

from __future__ import annotations

import dataclasses
import typing as ty

from nova_xcell.reshaper import new_provider
from nova_xcell.reshaper import rules as rules_module
from nova_xcell.reshaper import shares as shares_module
from nova_xcell.reshaper import tree as tree_module
from nova_xcell.reshaper.new_provider import NewProvider
from nova_xcell.reshaper.tree import Problem


@dataclasses.dataclass(frozen=True)
class Step:
    """Allocations of a provider that have to go elsewhere.

    :ivar rule: the rule
    :ivar source: UUID of the provider
    :ivar classes: by name of the resource class today, its name afterwards
    :ivar targets: UUIDs of where they can go
    :ivar inventories: by UUID of the target, inventories of these classes
        after this step
    :ivar hints: by UUID of a consumer, the UUID of its target
    """

    rule: rules_module.Rule
    source: str
    classes: ty.Mapping[str, str]
    targets: tuple[str, ...]
    inventories: ty.Mapping[str, tree_module.Inventories]
    hints: ty.Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Shape:
    """A tree as the rules want it, without its allocations.

    :ivar inventories: by UUID of the provider, children to create included
    :ivar known: the same, but only classes that somebody can have something
        of; all of them unless a host was asked
    :ivar names: by UUID, the same
    :ivar new: children to create
    :ivar left: children that a run before has created and not filled
    :ivar traits: by UUID, traits a provider has to get besides its own
    :ivar steps: what is to be done with allocations, in order
    :ivar problems: what is wrong
    :ivar notes: what is not as the rules want it, and stays
    :ivar carried: UUID of the provider and class of inventories that the host
        reports nowhere
    """

    inventories: dict[str, tree_module.Inventories]
    known: dict[str, tree_module.Inventories]
    names: dict[str, str]
    parents: dict[str, str | None]
    new: dict[str, NewProvider] = dataclasses.field(default_factory=dict)
    left: dict[str, NewProvider] = dataclasses.field(default_factory=dict)
    traits: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    steps: list[Step] = dataclasses.field(default_factory=list)
    problems: list[Problem] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    carried: set[tuple[str, str]] = dataclasses.field(default_factory=set)


def shape(
    tree: tree_module.Tree, rules: ty.Iterable[rules_module.Rule]
) -> Shape:
    """Apply rules to the inventories of a tree, one after the other.

    :param tree: its allocations do not count
    :param rules: those for other nodes are passed over
    """
    result = Shape(
        {
            key: dict(p.inventories if p.reported is None else p.reported)
            for key, p in tree.providers.items()
        },
        {key: dict(p.inventories) for key, p in tree.providers.items()},
        {key: p.name for key, p in tree.providers.items()},
        {key: p.parent for key, p in tree.providers.items()},
    )
    for rule in rules:
        if rule.is_for(tree.name, tree.root):
            _Applied(tree, result, rule).apply()
    return result


class _Applied:
    """A rule while it is applied."""

    def __init__(
        self, tree: tree_module.Tree, result: Shape, rule: rules_module.Rule
    ) -> None:
        self._tree = tree
        self._result = result
        self._rule = rule

    def _problem(self, kind: str, reason: str, *args: ty.Any) -> None:
        self._result.problems.append(
            Problem(kind, '%s: %s' % (self._rule.label, reason % args))
        )

    def apply(self) -> None:
        rule = self._rule
        renames = isinstance(rule, rules_module.Rename)
        wanted = (rule.old,) if renames else rule.classes
        done = False
        for key in sorted(
            self._result.names, key=lambda key: self._result.names[key]
        ):
            if not rules_module.matches(
                rule.providers, self._result.names[key], node=self._tree.name
            ):
                continue
            classes = [
                name
                for name in wanted
                if name in self._result.inventories[key]
                or name in self._result.known[key]
            ]
            if not classes:
                continue
            done = True
            if renames:
                self._rename(key)
            else:
                self._spread(key, classes)
        if not done:
            self._look_outside(wanted)

    def _look_outside(self, wanted: ty.Iterable[str]) -> None:
        """Name what a rule would have to change outside the tree (RP-11)."""
        here = {
            name
            for inventories in self._result.inventories.values()
            for name in inventories
        }
        for provider in self._tree.sharing.values():
            for name in wanted:
                if name in provider.inventories and name not in here:
                    self._problem(
                        tree_module.SHARING,
                        '%s is on the sharing provider %s, whose consumers '
                        'are of other nodes as well; it cannot be reshaped '
                        'with one node',
                        name,
                        provider.name,
                    )

    def _rename(self, key: str) -> None:
        rule = self._rule
        known = self._result.known[key]
        inventories = self._result.inventories[key]
        if rule.old in known and rule.new in known:
            self._problem(
                tree_module.ALREADY,
                'provider %s has both %s and %s',
                self._result.names[key],
                rule.old,
                rule.new,
            )
            return
        reported = inventories.pop(rule.old, None)
        if rule.old not in known:
            # Moved before; the host has only reported the old name again.
            inventories[rule.new] = reported
            return
        # The host may report the new name already, the old one still, or
        # leave both to whoever made the inventory.
        there = inventories.get(rule.new) or reported
        if there is None or (key, rule.old) in self._result.carried:
            there = known[rule.old]
            self._result.carried.add((key, rule.new))
        del known[rule.old]
        inventories[rule.new] = known[rule.new] = there
        self._result.steps.append(
            Step(
                rule,
                key,
                {rule.old: rule.new},
                (key,),
                {key: {rule.new: there}},
            )
        )

    def _spread(self, source: str, classes: list[str]) -> None:
        children = self._children(source)
        if not children:
            return
        known = self._result.known[source]
        moving = [name for name in classes if name in known]
        shares = {}
        for name in classes:
            parts = self._parts(source, name, children)
            if parts is None:
                return
            shares[name] = parts
            if self._is_carried(source, name):
                self._result.carried |= {(key, name) for key, _ in children}
        self._put(children, shares, moving)
        for name in classes:
            self._result.inventories[source].pop(name, None)
            known.pop(name, None)
        if moving:
            self._result.steps.append(
                Step(
                    self._rule,
                    source,
                    {name: name for name in moving},
                    tuple(key for key, _ in children),
                    {
                        key: {
                            name: self._result.inventories[key][name]
                            for name in moving
                        }
                        for key, _ in children
                    },
                    self._hints(source, children),
                )
            )

    def _is_carried(self, key: str, name: str) -> bool:
        return (
            name not in self._result.inventories[key]
            or (key, name) in self._result.carried
        )

    def _parts(
        self, source: str, name: str, children
    ) -> list[tree_module.Inventory] | None:
        """Return what each child gets of a class; None after a problem."""
        reported = self._result.inventories[source].get(name)
        known = self._result.known[source].get(name)
        there = [
            self._result.inventories[key].get(name) for key, _ in children
        ]
        before = [self._result.known[key].get(name) for key, _ in children]
        if known is not None and all(there) and not any(before):
            # The host reports them where they belong by itself.
            return there
        parts = shares_module.divide(
            reported or known,
            [child.inventories.get(name) for _, child in children],
        )
        if known is None and all(before):
            # Moved before; the host has only reported the class again.
            if not isinstance(parts, str):
                return parts
            self._result.notes.append(
                '%s: the children of provider %s keep what they have of %s: %s'
                % (self._rule.label, self._result.names[source], name, parts)
            )
            return there
        if isinstance(parts, str):
            self._problem(
                tree_module.TOTAL,
                '%s of provider %s: %s',
                name,
                self._result.names[source],
                parts,
            )
            return None
        for index, (key, _) in enumerate(children):
            # The same total: left from a reshape, and the host has reported
            # the class on the old provider again.
            if there[index] is None:
                continue
            if there[index]['total'] != parts[index]['total']:
                self._problem(
                    tree_module.ALREADY,
                    'child %s has another inventory of %s',
                    self._result.names[key],
                    name,
                )
                return None
            parts[index] = there[index]
        return parts

    def _put(self, children, shares, moving) -> None:
        """Give the children their shares, and traits."""
        for index, (key, child) in enumerate(children):
            for name, parts in shares.items():
                self._result.inventories[key][name] = parts[index]
                if name in moving:
                    self._result.known[key][name] = parts[index]
            provider = self._tree.providers.get(key)
            missing = set(child.traits) - (
                provider.traits if provider else set()
            )
            if missing:
                self._result.traits[key] = (
                    self._result.traits.get(key, frozenset()) | missing
                )

    def _hints(self, source: str, children) -> dict[str, str]:
        """Return where consumers have to go, by UUID."""
        names = {self._result.names[key]: key for key, _ in children}
        hints = {}
        for consumer, pattern in self._rule.consumers.items():
            name = self._filled(pattern, source)
            if name in names:
                hints[consumer] = names[name]
            else:
                self._result.problems.append(
                    Problem(
                        tree_module.NO_CHILD,
                        '%s: there is no child %s' % (self._rule.label, name),
                        consumer,
                    )
                )
        return hints

    def _filled(self, text: str, source: str) -> str:
        return rules_module.filled(
            text, node=self._tree.name, provider=self._result.names[source]
        )

    def _children(self, source: str) -> list[tuple[str, rules_module.Child]]:
        targets = self._rule.targets
        names = self._result.names
        if isinstance(targets, rules_module.Existing):
            found = [
                (key, rules_module.Child(names[key], {}, targets.traits))
                for key in sorted(names, key=lambda key: names[key])
                if self._is_below(key, source)
                and rules_module.matches(
                    targets.pattern,
                    names[key],
                    node=self._tree.name,
                    provider=names[source],
                )
            ]
            if not found:
                self._problem(
                    tree_module.NO_CHILD,
                    'provider %s has no child %s',
                    names[source],
                    self._filled(targets.pattern, source),
                )
            return found
        by_name = {name: key for key, name in names.items()}
        children = []
        for child in targets:
            name = self._filled(child.name, source)
            key = by_name.get(name) or self._create(source, name)
            if new_provider.was_left(self._tree, key, source, name):
                self._result.left[key] = NewProvider(key, name, source)
            if not self._is_below(key, source):
                self._problem(
                    tree_module.NOT_A_CHILD,
                    '%s is not below %s',
                    name,
                    names[source],
                )
                return []
            children.append((key, child))
        return children

    def _create(self, parent: str, name: str) -> str:
        key = new_provider.make_uuid(parent, name)
        self._result.new[key] = NewProvider(key, name, parent)
        self._result.names[key] = name
        self._result.parents[key] = parent
        self._result.inventories[key] = {}
        self._result.known[key] = {}
        return key

    def _is_below(self, key: str, source: str) -> bool:
        parent = self._result.parents[key]
        while parent is not None and parent != source:
            parent = self._result.parents.get(parent)
        return parent == source

# SPDX-License-Identifier: Apache-2.0
"""What the rules make of a tree's inventories: no host imports."""

from __future__ import annotations

import dataclasses
import typing as ty
import uuid

from nova_xcell.reshaper import rules as rules_module
from nova_xcell.reshaper import tree as tree_module
from nova_xcell.reshaper.tree import Problem


@dataclasses.dataclass(frozen=True)
class NewProvider:
    """A child that has to be created.

    :ivar uuid: follows from the parent and the name, so that whoever tries
        again creates the same
    :ivar name: its name
    :ivar parent: UUID of its parent
    """

    uuid: str
    name: str
    parent: str


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
    :ivar names: by UUID, the same
    :ivar new: children to create
    :ivar traits: by UUID, traits a provider has to get besides its own
    :ivar steps: what is to be done with allocations, in order
    :ivar problems: what is wrong
    """

    inventories: dict[str, tree_module.Inventories]
    names: dict[str, str]
    parents: dict[str, str | None]
    new: dict[str, NewProvider] = dataclasses.field(default_factory=dict)
    traits: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    steps: list[Step] = dataclasses.field(default_factory=list)
    problems: list[Problem] = dataclasses.field(default_factory=list)


def shape(
    tree: tree_module.Tree, rules: ty.Iterable[rules_module.Rule]
) -> Shape:
    """Apply rules to the inventories of a tree, one after the other.

    :param tree: its allocations do not count
    :param rules: those for other nodes are passed over
    """
    result = Shape(
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
        inventories = self._result.inventories[key]
        if rule.new in inventories:
            self._problem(
                tree_module.ALREADY,
                'provider %s has both %s and %s',
                self._result.names[key],
                rule.old,
                rule.new,
            )
            return
        inventories[rule.new] = inventories.pop(rule.old)
        self._result.steps.append(
            Step(
                rule,
                key,
                {rule.old: rule.new},
                (key,),
                {key: {rule.new: inventories[rule.new]}},
            )
        )

    def _spread(self, source: str, classes: list[str]) -> None:
        children = self._children(source)
        if not children:
            return
        shares = {}
        for name in classes:
            inventory = self._result.inventories[source][name]
            told = [child.inventories.get(name) for _, child in children]
            parts = _shares(inventory, told)
            if isinstance(parts, str):
                self._problem(
                    tree_module.TOTAL,
                    '%s of provider %s: %s',
                    name,
                    self._result.names[source],
                    parts,
                )
                return
            shares[name] = parts
        if self._put(children, shares):
            for name in classes:
                del self._result.inventories[source][name]
            self._result.steps.append(
                Step(
                    self._rule,
                    source,
                    {name: name for name in classes},
                    tuple(key for key, _ in children),
                    {
                        key: {
                            name: self._result.inventories[key][name]
                            for name in classes
                        }
                        for key, _ in children
                    },
                    self._hints(source, children),
                )
            )

    def _put(self, children, shares) -> bool:
        """Give the children their shares; False if that cannot be done."""
        for index, (key, _) in enumerate(children):
            there = self._result.inventories.get(key, {})
            for name, parts in shares.items():
                # The same total: left from a reshape, and the host has
                # reported the class on the old provider again.
                if (
                    there.get(name, parts[index])['total']
                    != (parts[index]['total'])
                ):
                    self._problem(
                        tree_module.ALREADY,
                        'child %s has another inventory of %s',
                        self._result.names[key],
                        name,
                    )
                    return False
        for index, (key, child) in enumerate(children):
            there = self._result.inventories.setdefault(key, {})
            for name, parts in shares.items():
                there.setdefault(name, parts[index])
            known = self._tree.providers.get(key)
            missing = set(child.traits) - (known.traits if known else set())
            if missing:
                self._result.traits[key] = (
                    self._result.traits.get(key, frozenset()) | missing
                )
        return True

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
        key = str(uuid.uuid5(uuid.UUID(parent), name))
        self._result.new[key] = NewProvider(key, name, parent)
        self._result.names[key] = name
        self._result.parents[key] = parent
        self._result.inventories[key] = {}
        return key

    def _is_below(self, key: str, source: str) -> bool:
        parent = self._result.parents[key]
        while parent is not None and parent != source:
            parent = self._result.parents.get(parent)
        return parent == source


def _shares(
    inventory: tree_module.Inventory,
    told: list[tree_module.Inventory | None],
) -> list[tree_module.Inventory] | str:
    """Divide an inventory; a string says why that cannot be done."""
    total = inventory['total']
    if told[0] is None:
        least, more = divmod(total, len(told))
        totals = [least + (index < more) for index in range(len(told))]
        if not least:
            return '%d cannot be divided by %d children' % (total, len(told))
    else:
        totals = [each['total'] for each in told]
        if sum(totals) != total:
            return 'it has %d, the children in the rule have %d' % (
                total,
                sum(totals),
            )
    reserved = _reserved(inventory.get('reserved', 0), totals)
    parts = []
    for index, each in enumerate(totals):
        part = {**inventory, 'total': each, 'reserved': reserved[index]}
        if 'max_unit' in inventory:
            part['max_unit'] = min(inventory['max_unit'], each)
        part.update(told[index] or {})
        if part['reserved'] > each:
            return '%d of %d are reserved' % (part['reserved'], each)
        parts.append(part)
    return parts


def _reserved(reserved: int, totals: list[int]) -> list[int]:
    """Divide what is reserved in proportion to the totals."""
    whole = sum(totals)
    parts = [reserved * total // whole for total in totals]
    left = reserved - sum(parts)
    for index, total in enumerate(totals):
        more = min(left, total - parts[index], 1)
        parts[index] += max(more, 0)
        left -= max(more, 0)
    return parts

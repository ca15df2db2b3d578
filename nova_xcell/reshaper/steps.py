# SPDX-License-Identifier: Apache-2.0
"""Move the allocations of one step of a reshape: no host imports."""

from __future__ import annotations

import collections
import typing as ty

from nova_xcell.reshaper import fit
from nova_xcell.reshaper import rules as rules_module
from nova_xcell.reshaper import shape as shape_module
from nova_xcell.reshaper import tree as tree_module
from nova_xcell.reshaper.tree import Problem

#: By UUID of the provider and of the consumer.
Held = dict[str, dict[str, tree_module.Amounts]]


def move(
    step: shape_module.Step, names: ty.Mapping[str, str], held: Held
) -> list[Problem]:
    """Do a step.

    :param step: the step
    :param names: of providers, by UUID
    :param held: what the consumers have; changed
    :returns: what cannot be moved, and why
    """
    there = held.setdefault(step.source, {})
    leaving = {}
    for consumer in sorted(there):
        amounts = there[consumer]
        taken = {
            new: amounts.pop(old)
            for old, new in step.classes.items()
            if old in amounts
        }
        if taken:
            leaving[consumer] = taken
        if not amounts:
            del there[consumer]
    if isinstance(step.rule, rules_module.Rename):
        for consumer, taken in leaving.items():
            _give(held, step.source, consumer, taken)
        return []
    return _Spreading(step, names, held).spread(leaving)


def _give(
    held: Held, key: str, consumer: str, amounts: tree_module.Amounts
) -> None:
    there = held.setdefault(key, {}).setdefault(consumer, {})
    for name, amount in amounts.items():
        there[name] = there.get(name, 0) + amount


class _Spreading:
    """Consumers, and children to choose from."""

    def __init__(
        self,
        step: shape_module.Step,
        names: ty.Mapping[str, str],
        held: Held,
    ) -> None:
        self._step = step
        self._names = names
        self._held = held
        used: dict[str, ty.Counter[str]] = {}
        for key in step.targets:
            used[key] = collections.Counter()
            for amounts in held.get(key, {}).values():
                used[key].update(amounts)
        self._rooms = fit.Rooms(step.inventories, used)

    def spread(self, leaving: dict[str, tree_module.Amounts]) -> list[Problem]:
        demands = []
        for consumer, taken in leaving.items():
            if self._step.rule.together:
                demands.append(self._demand(consumer, taken))
            else:
                demands += [
                    self._demand(consumer, {name: amount})
                    for name, amount in taken.items()
                ]
        if self._step.rule.divisible:
            return self._divide(demands)
        chosen = fit.place(demands, self._rooms)
        problems = []
        for demand, key in zip(demands, chosen, strict=True):
            if key is None:
                problems.append(self._problem(demand))
            else:
                _give(self._held, key, demand.consumer, demand.amounts)
        return problems

    def _divide(self, demands: list[fit.Demand]) -> list[Problem]:
        problems = []
        # Those that cannot choose go first, then the largest.
        for demand in sorted(
            demands,
            key=lambda each: (each.only is None, -self._rooms.size(each)),
        ):
            parts = fit.divide(demand, self._rooms)
            if parts is None:
                problems.append(self._problem(demand))
                continue
            (name,) = demand.amounts
            for key, amount in parts.items():
                _give(self._held, key, demand.consumer, {name: amount})
        return problems

    def _demand(
        self, consumer: str, amounts: tree_module.Amounts
    ) -> fit.Demand:
        there = {
            key: self._held[key][consumer]
            for key in self._step.targets
            if consumer in self._held.get(key, {})
        }
        only = self._step.hints.get(consumer)
        if only is None and self._step.rule.together:
            # What it has of these classes already binds the rest.
            bound = [
                key
                for key, held in there.items()
                if set(held) & set(self._step.rule.classes)
            ]
            only = bound[0] if len(bound) == 1 else None
        return fit.Demand(consumer, amounts, only, there)

    def _problem(self, demand: fit.Demand) -> Problem:
        what = ', '.join(
            '%d of %s' % (amount, name)
            for name, amount in demand.amounts.items()
        )
        label = self._step.rule.label
        reasons = {
            self._names[key]: self._rooms.why_not(demand, key)
            for key in self._step.targets
            if demand.only in (None, key)
        }
        if not self._step.rule.divisible and all(reasons.values()):
            return Problem(
                tree_module.FIT,
                '%s: %s does not fit any child (%s)'
                % (
                    label,
                    what,
                    '; '.join(
                        '%s: %s' % item for item in sorted(reasons.items())
                    ),
                ),
                demand.consumer,
            )
        return Problem(
            tree_module.CAPACITY,
            '%s: no room is left for %s on %s'
            % (label, what, ', '.join(sorted(reasons))),
            demand.consumer,
        )

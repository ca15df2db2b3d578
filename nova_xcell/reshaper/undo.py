# SPDX-License-Identifier: Apache-2.0
"""What a reshape has changed, and the way back: no host imports."""

from __future__ import annotations

import copy
import math
import typing as ty

import jsonschema

from nova_xcell import exception
from nova_xcell.reshaper import document
from nova_xcell.reshaper import new_provider
from nova_xcell.reshaper import plan as plan_module
from nova_xcell.reshaper import tree as tree_module
from nova_xcell.reshaper import undo_schema
from nova_xcell.reshaper.tree import Problem

VERSION = 1

_VALIDATOR = jsonschema.Draft7Validator(undo_schema.RECORD)


class BadRecord(exception.XcellError):
    """A file does not hold what a reshape leaves for its undoing."""

    msg_fmt = '%(file)s, line %(line)d: %(reason)s'


def record(plan: plan_module.Plan) -> dict:
    """Return what is needed to undo a plan, fit for JSON.

    :param plan: without problems
    """
    inventories: dict = {}
    for key, name in sorted(plan.touched):
        provider = plan.tree.providers.get(key)
        before = provider.inventories.get(name) if provider else None
        after = plan.after[key].get(name)
        if before != after:
            there = inventories.setdefault(
                key, {'name': plan.names[key], 'classes': {}}
            )
            there['classes'][name] = [before, after]
    return {
        'version': VERSION,
        'attempt': 1,
        'node': plan.tree.name,
        'root': plan.tree.root,
        'new': [
            {'uuid': new.uuid, 'name': new.name, 'parent': new.parent}
            for new in (*plan.left, *plan.new)
        ],
        'traits': {key: sorted(each) for key, each in plan.traits.items()},
        'inventories': inventories,
        'consumers': {
            key: [change.consumer.allocations, change.after]
            for key, change in plan.changes.items()
        },
        'origins': [
            [*there, *origin] for there, origin in plan.origins.items()
        ],
    }


def check(content: ty.Any) -> str | None:
    """Return why something cannot be a record; None if it can.

    :param content: what was read from JSON
    """
    if not isinstance(content, dict) or (
        set(content) != undo_schema.RECORD['properties'].keys()
    ):
        return 'this is no record of a reshape'
    if content['version'] != VERSION:
        return document.shortened(
            'version %r of the record is not known' % content['version']
        )
    error = next(_VALIDATOR.iter_errors(content), None)
    if error is not None:
        return document.shortened(
            '%s: %s' % ('.'.join(map(str, error.absolute_path)), error.message)
        )
    for new in content['new']:
        if not _is_ours(new):
            # Undoing deletes it.
            return 'provider %s was not created by a reshape' % new['uuid']
    return None


def _is_ours(new: ty.Mapping) -> bool:
    try:
        made = new_provider.make_uuid(new['parent'], new['name'])
    except ValueError:
        return False
    return new['uuid'] == made


def was_not_done(earlier: ty.Mapping, later: ty.Mapping) -> bool:
    """Say whether a record tells of a reshape that was not carried out.

    It is kept before anything is sent, and the run may have met a conflict or
    may have been killed.

    :param earlier: the record in question
    :param later: the next one of the same node
    """
    if later['attempt'] > 1:
        # A run tries again only if nothing has changed.
        return True
    shared = [
        (sides[0], later['inventories'][key]['classes'][name][0])
        for key, change in earlier['inventories'].items()
        for name, sides in change['classes'].items()
        if name in later['inventories'].get(key, {}).get('classes', {})
    ]
    return bool(shared) and all(_same(*sides) for sides in shared)


def concerned(content: ty.Mapping, tree: tree_module.Tree) -> set[str]:
    """Return whose allocations have to be known for an undo.

    :param content: the record
    :param tree: without allocations
    :returns: UUIDs of providers; empty if nothing is to be undone
    """
    if not _differs(content, tree, 0):
        return set()
    keys = set(content['inventories'])
    for there in content['origins']:
        keys |= {there[0], there[2]}
    return keys & set(tree.providers)


def make(content: ty.Mapping, tree: tree_module.Tree) -> plan_module.Plan:
    """Plan the way back.

    What a consumer has that came after the reshape goes where it would have
    been before.

    :param content: the record
    :param tree: as for :func:`nova_xcell.reshaper.plan.make`
    """
    plan = plan_module.Plan(
        tree, {key: p.name for key, p in tree.providers.items()}
    )
    if not _differs(content, tree, 0):
        return plan
    plan.problems += _differs(content, tree, 1)
    if plan.problems:
        return plan
    inventories = {
        key: dict(provider.inventories)
        for key, provider in tree.providers.items()
    }
    for key, change in content['inventories'].items():
        for name, (before, _) in change['classes'].items():
            if before is None:
                del inventories[key][name]
            else:
                inventories[key][name] = before
            plan.touched.add((key, name))
        plan.inventories[key] = inventories[key]
    plan_module.finish(plan, _held(content, tree), inventories)
    return plan


def _held(content, tree) -> dict[str, dict[str, tree_module.Amounts]]:
    known = {
        key: provider.allocations
        for key, provider in tree.providers.items()
        if provider.allocations is not None
    }
    held: dict = {key: {} for key in tree.providers}
    origins = {
        (there[0], there[1]): (there[2], there[3])
        for there in content['origins']
        if there[2] in tree.providers
    }
    for consumer in sorted({each for held in known.values() for each in held}):
        now = {
            key: each[consumer]
            for key, each in known.items()
            if consumer in each
        }
        before, after = content['consumers'].get(consumer, (None, None))
        if after is not None and now == _inside(after, known):
            now = copy.deepcopy(_inside(before, known))
        else:
            now = _back(now, origins)
        for key, amounts in now.items():
            held[key][consumer] = amounts
    return held


def _inside(allocations, known) -> dict[str, tree_module.Amounts]:
    return {key: each for key, each in allocations.items() if key in known}


def _back(now, origins) -> dict[str, tree_module.Amounts]:
    result: dict[str, tree_module.Amounts] = {}
    for key, amounts in now.items():
        for name, amount in amounts.items():
            where, old = origins.get((key, name), (key, name))
            there = result.setdefault(where, {})
            there[old] = there.get(old, 0) + amount
    return result


def _differs(content, tree, side: int) -> list[Problem]:
    """Compare a tree with a record: 0 is before the reshape, 1 after it."""
    problems = []
    for key, change in content['inventories'].items():
        provider = tree.providers.get(key)
        if provider is None and side:
            problems.append(
                Problem(
                    tree_module.CHANGED,
                    'provider %s is gone' % change['name'],
                )
            )
            continue
        inventories = provider.inventories if provider else {}
        for name, sides in change['classes'].items():
            if not _same(inventories.get(name), sides[side]):
                problems.append(
                    Problem(
                        tree_module.CHANGED,
                        '%s of provider %s is not as the reshape left it'
                        % (name, change['name']),
                    )
                )
    return problems


def _same(one, other) -> bool:
    if one is None or other is None:
        return one is other
    return one.keys() == other.keys() and all(
        # A database may store a ratio with few digits.
        math.isclose(one[key], other[key], rel_tol=1e-5)
        for key in one
    )

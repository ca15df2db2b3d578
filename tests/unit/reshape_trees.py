# SPDX-License-Identifier: Apache-2.0
"""Trees for tests of reshapes, and what Placement makes of a payload."""

import collections
import copy
import uuid

from nova_xcell.reshaper import tree as trees


def key(name):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


NODE = key('node')


def inventory(total, **values):
    return {
        'total': total,
        'reserved': 0,
        'min_unit': 1,
        'max_unit': total,
        'step_size': 1,
        'allocation_ratio': 1.0,
        **values,
    }


def tree(inventories, consumers=(), children=()):
    """Return a tree.

    :param inventories: of the root
    :param consumers: by name, what it has of the root, or by UUID
    :param children: by name, inventories
    """
    providers = {NODE: trees.Provider(NODE, 'node', 7, None, inventories)}
    for name, each in dict(children).items():
        providers[key(name)] = trees.Provider(key(name), name, 3, NODE, each)
    found = trees.Tree(NODE, providers)
    for name, allocations in dict(consumers).items():
        if any(isinstance(each, int) for each in allocations.values()):
            allocations = {NODE: allocations}
        found.consumers[key(name)] = trees.Consumer(
            key(name), 1, 'project', 'user', allocations
        )
    read(found)
    return found


def read(found):
    """Fill in what each provider says of its consumers."""
    for provider in found.providers.values():
        provider.allocations = {
            consumer.uuid: dict(consumer.allocations[provider.uuid])
            for consumer in found.consumers.values()
            if provider.uuid in consumer.allocations
        }
        provider.allocations_generation = provider.generation


def applied(plan):
    """Return the tree that a plan leads to, with Placement's checks."""
    assert not plan.problems, plan.problems
    found = copy.deepcopy(plan.tree)
    before = totals_used(found)
    for new in plan.new:
        found.providers[new.uuid] = trees.Provider(
            new.uuid, new.name, 0, new.parent
        )
    for uuid_, traits in plan.traits.items():
        found.providers[uuid_].traits |= traits
    payload = plan.payload({new.uuid: 0 for new in plan.new})
    for uuid_, change in payload['inventories'].items():
        provider = found.providers[uuid_]
        assert change['resource_provider_generation'] == provider.generation
        provider.inventories = change['inventories']
        provider.generation += 1
    for uuid_, change in payload['allocations'].items():
        consumer = found.consumers[uuid_]
        assert change['consumer_generation'] == consumer.generation
        consumer.generation += 1
        consumer.allocations = {}
        for provider, each in change['allocations'].items():
            assert each['resources']
            consumer.allocations[provider] = each['resources']
    read(found)
    check(found, payload, before)
    return found


def totals_used(found):
    used = collections.Counter()
    for consumer in found.consumers.values():
        for provider, amounts in consumer.allocations.items():
            for name, amount in amounts.items():
                used[provider, name] += amount
    return used


def check(found, payload, before):
    used = totals_used(found)
    for provider, name in used:
        if provider in found.providers:
            assert name in found.providers[provider].inventories
    for change in payload['allocations'].values():
        for provider, each in change['allocations'].items():
            if provider not in found.providers:
                continue
            for name, amount in each['resources'].items():
                there = found.providers[provider].inventories[name]
                assert trees.violated(amount, there) is None
                assert (
                    used[provider, name] <= trees.capacity(there)
                    or 0 < used[provider, name] <= before[provider, name]
                )


def contents(found):
    """Return what has to be the same after an undo."""
    return (
        {
            provider.uuid: provider.inventories
            for provider in found.providers.values()
            if provider.inventories
        },
        {
            consumer.uuid: consumer.allocations
            for consumer in found.consumers.values()
        },
    )

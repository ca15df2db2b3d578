# SPDX-License-Identifier: Apache-2.0
"""Changes of a request to POST /reshaper, good and bad.

Each is given a generator of random numbers, the document, which it changes,
and the rows that are stored.
"""

from __future__ import annotations

from collections.abc import Callable
import random

from tests.embedded import reshape_worlds as worlds

#: Rows of what is stored now, as ``placement_api.Database.rows`` returns them.
Rows = dict[str, list[dict]]


def consumer(project: str, user: str, generation: int | None) -> dict:
    """Return what a request says of a consumer without allocations.

    :param project: it belongs to
    :param user: it belongs to
    :param generation: that is expected; None if it is new
    """
    return {
        'allocations': {},
        'project_id': project,
        'user_id': user,
        'consumer_generation': generation,
    }


def _any(rng: random.Random, of: dict) -> str | None:
    return rng.choice(list(of)) if of else None


def _resources(body: dict) -> list[dict]:
    return [
        part['resources']
        for each in body['allocations'].values()
        for part in each['allocations'].values()
    ]


def move_class(rng: random.Random, body: dict, rows: Rows) -> None:
    """Move a class, and all that is allocated of it, to another provider."""
    source, target = (_any(rng, body['inventories']) for _ in range(2))
    if source is None or source == target:
        return
    classes = body['inventories'][source]['inventories']
    name = _any(rng, classes)
    if name is None:
        return
    body['inventories'][target]['inventories'][name] = classes.pop(name)
    for each in body['allocations'].values():
        held = each['allocations'].get(source, {}).get('resources', {})
        if name in held:
            each['allocations'].setdefault(target, {'resources': {}})[
                'resources'
            ][name] = held.pop(name)
            if not held:
                del each['allocations'][source]


def rename_class(rng: random.Random, body: dict, rows: Rows) -> None:
    """Let a class have another name everywhere."""
    old, new = rng.sample(worlds.CLASSES, 2)
    for owner in [
        each['inventories'] for each in body['inventories'].values()
    ] + _resources(body):
        if old in owner:
            owner[new] = owner.pop(old)


def change_inventory(rng: random.Random, body: dict, rows: Rows) -> None:
    """Add or change an inventory."""
    provider = _any(rng, body['inventories'])
    if provider is not None:
        new = body['inventories'][provider]['inventories']
        new[rng.choice(worlds.CLASSES)] = {
            **worlds.inventory(rng),
            'total': 200,
            'max_unit': 200,
        }


def change_amount(rng: random.Random, body: dict, rows: Rows) -> None:
    """Let a consumer hold more or less."""
    resources = _resources(body)
    if resources:
        held = rng.choice(resources)
        held[rng.choice(list(held))] = rng.choice((1, 2, 3, 5))


def change_owner(rng: random.Random, body: dict, rows: Rows) -> None:
    """Let consumers belong to others, known or not."""
    for each in body['allocations'].values():
        if rng.random() < 0.5:
            each['project_id'] = rng.choice(worlds.PROJECTS)
            each['user_id'] = rng.choice((*worlds.USERS, 'carol'))


def add_consumer(rng: random.Random, body: dict, rows: Rows) -> None:
    """Add a consumer, sometimes without allocations."""
    new = consumer(rng.choice(worlds.PROJECTS), rng.choice(worlds.USERS), None)
    body['allocations'][worlds.make_uuid(rng)] = new
    provider = _any(rng, body['inventories'])
    if provider and rng.random() < 0.8:
        name = _any(rng, body['inventories'][provider]['inventories'])
        if name:
            new['allocations'][provider] = {'resources': {name: 1}}


def empty_consumer(rng: random.Random, body: dict, rows: Rows) -> None:
    """Take everything from a consumer."""
    consumer = _any(rng, body['allocations'])
    if consumer is not None:
        body['allocations'][consumer]['allocations'] = {}


def shuffle(rng: random.Random, body: dict, rows: Rows) -> None:
    """Change the order of everything."""
    for key in body:
        items = list(body[key].items())
        rng.shuffle(items)
        body[key] = dict(items)


def add_generations(rng: random.Random, body: dict, rows: Rows) -> None:
    """Say generations of providers with allocations, which are ignored."""
    for each in body['allocations'].values():
        for part in each['allocations'].values():
            part['generation'] = rng.randint(0, 9)


def empty_inventories(rng: random.Random, body: dict, rows: Rows) -> None:
    """Take all inventories of a provider that has no allocations left."""
    for provider, each in body['inventories'].items():
        if rng.random() < 0.3 and not any(
            provider in consumer['allocations']
            for consumer in body['allocations'].values()
        ):
            each['inventories'] = {}


def drop_inventory(rng: random.Random, body: dict, rows: Rows) -> None:
    """Take an inventory that may be in use."""
    provider = _any(rng, body['inventories'])
    if provider is not None:
        held = body['inventories'][provider]['inventories']
        if held:
            del held[rng.choice(list(held))]


def shrink_inventory(rng: random.Random, body: dict, rows: Rows) -> None:
    """Make an inventory small, or its limits."""
    provider = _any(rng, body['inventories'])
    if provider is not None:
        for each in body['inventories'][provider]['inventories'].values():
            key = rng.choice(('total', 'max_unit', 'step_size', 'min_unit'))
            each[key] = rng.choice((1, 3, 7))
            if rng.random() < 0.2:
                each['reserved'] = 1000


def unknown_provider(rng: random.Random, body: dict, rows: Rows) -> None:
    """Name a provider that does not exist."""
    new = worlds.make_uuid(rng)
    consumer = _any(rng, body['allocations'])
    if consumer is None or rng.random() < 0.5:
        body['inventories'][new] = {
            'resource_provider_generation': 0,
            'inventories': {'VCPU': {'total': 1}},
        }
    else:
        body['allocations'][consumer]['allocations'][new] = {
            'resources': {'VCPU': 1}
        }


def unknown_class(rng: random.Random, body: dict, rows: Rows) -> None:
    """Name classes that do not exist."""
    for each in rng.sample(
        [each['inventories'] for each in body['inventories'].values()]
        + _resources(body),
        min(1, len(body['inventories'])),
    ):
        each['CUSTOM_NONE_%d' % rng.randint(1, 3)] = (
            rng.choice((1, 1, {'total': 3}))
            if isinstance(next(iter(each.values()), {}), int)
            else {'total': 3}
        )


def wrong_provider_generation(
    rng: random.Random, body: dict, rows: Rows
) -> None:
    """Be late for a provider."""
    provider = _any(rng, body['inventories'])
    if provider is not None:
        body['inventories'][provider]['resource_provider_generation'] += 1


def wrong_consumer_generation(
    rng: random.Random, body: dict, rows: Rows
) -> None:
    """Be late for consumers, new or not."""
    for each in body['allocations'].values():
        if rng.random() < 0.3:
            each['consumer_generation'] = rng.choice((None, 0, 5))


def over_capacity(rng: random.Random, body: dict, rows: Rows) -> None:
    """Hold more than there is."""
    resources = _resources(body)
    if resources:
        held = rng.choice(resources)
        held[rng.choice(list(held))] = rng.choice((50, 1000, 2**40))


def without_inventory(rng: random.Random, body: dict, rows: Rows) -> None:
    """Hold what a provider does not have."""
    consumer = _any(rng, body['allocations'])
    providers = rows['resource_providers']
    if consumer is not None:
        body['allocations'][consumer]['allocations'][
            rng.choice(providers)['uuid']
        ] = {'resources': {rng.choice(worlds.CLASSES): 1}}


def upper_case(rng: random.Random, body: dict, rows: Rows) -> None:
    """Spell a provider's UUID in another way."""
    provider = _any(rng, body['inventories'])
    if provider is not None:
        body['inventories'][provider.upper()] = body['inventories'].pop(
            provider
        )


def invalid(rng: random.Random, body: dict, rows: Rows) -> None:
    """Break the schema."""
    consumer = _any(rng, body['allocations'])
    broken: list[Callable] = [
        lambda: body.update(cows='moo'),
        lambda: body.pop('allocations'),
        lambda: body.update(inventories={}),
        lambda: body['allocations'].update({'no-uuid': {}}),
    ]
    if consumer is not None:
        each = body['allocations'][consumer]
        broken += [
            lambda: each.pop('project_id'),
            lambda: each.update(consumer_generation='1'),
            lambda: each.update(user_id=''),
            lambda: each['allocations'].update({worlds.make_uuid(rng): {}}),
            lambda: each['allocations'].update(
                {
                    worlds.make_uuid(rng): {
                        'resources': {'VCPU': rng.choice((0, -1, 1.5))}
                    }
                }
            ),
        ]
    rng.choice(broken)()


def odd(rng: random.Random, body: dict, rows: Rows) -> None:
    """Say numbers in an odd way that the schema takes."""
    for each in body['inventories'].values():
        each['resource_provider_generation'] = float(
            each['resource_provider_generation']
        )
        for inventory in each['inventories'].values():
            inventory['total'] = float(inventory['total'])
    for held in _resources(body):
        for name in held:
            held[name] = float(held[name])


GOOD: tuple[Callable, ...] = (
    move_class,
    move_class,
    rename_class,
    change_inventory,
    change_amount,
    change_owner,
    add_consumer,
    empty_consumer,
    shuffle,
    add_generations,
    empty_inventories,
)

BAD: tuple[Callable, ...] = (
    drop_inventory,
    shrink_inventory,
    unknown_provider,
    unknown_class,
    wrong_provider_generation,
    wrong_consumer_generation,
    over_capacity,
    without_inventory,
    upper_case,
    invalid,
    odd,
)

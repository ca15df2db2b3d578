# SPDX-License-Identifier: Apache-2.0
"""Made-up contents of Placement, and requests to reshape them, good and bad.

Everything follows from the generator of random numbers that is given, so that
a case can be repeated by its seed.
"""

from __future__ import annotations

from collections.abc import Callable
import copy
import dataclasses
import random
import uuid

CLASSES = ('VCPU', 'MEMORY_MB', 'DISK_GB', 'VGPU', 'CUSTOM_A', 'CUSTOM_B')
CUSTOM_IDS = {'CUSTOM_A': 10001, 'CUSTOM_B': 10002}
VERSIONS = ('1.30', '1.33', '1.34', '1.37', '1.38', '1.39')
PROJECTS = ('demo', 'admin', 'Ünïcode')
USERS = ('alice', 'bob')
TYPES = ('INSTANCE', 'MIGRATION')


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


@dataclasses.dataclass
class World:
    """Contents of Placement.

    :ivar tables: rows by name of a table
    :ivar class_ids: ids of resource classes
    """

    tables: dict[str, list[dict]]
    class_ids: dict[str, int]


def world(rng: random.Random, class_ids: dict[str, int]) -> World:
    """Make contents of Placement.

    :param rng: decides
    :param class_ids: ids of the standard resource classes
    """
    class_ids = {**class_ids, **CUSTOM_IDS}
    providers = _providers(rng)
    inventories = _inventories(rng, providers, class_ids)
    consumers = [
        {
            'id': number,
            'uuid': _uuid(rng),
            'project_id': rng.randint(1, len(PROJECTS) - 1),
            'user_id': rng.randint(1, len(USERS)),
            'generation': rng.choice((0, 1, 1, 2, 7)),
            'consumer_type_id': rng.choice((None, 1)),
        }
        for number in range(1, rng.randint(1, 8))
    ]
    return World(
        {
            'resource_classes': [
                {'id': number, 'name': name}
                for name, number in CUSTOM_IDS.items()
            ],
            'resource_providers': providers,
            'inventories': inventories,
            'projects': [
                {'id': number, 'external_id': name}
                for number, name in enumerate(PROJECTS[:-1], 1)
            ],
            'users': [
                {'id': number, 'external_id': name}
                for number, name in enumerate(USERS, 1)
            ],
            'consumer_types': [{'id': 1, 'name': TYPES[0]}],
            'consumers': consumers,
            'allocations': _allocations(rng, inventories, consumers),
            'placement_aggregates': [{'id': 1, 'uuid': _uuid(rng)}],
            'resource_provider_aggregates': [
                {'resource_provider_id': row['id'], 'aggregate_id': 1}
                for row in providers
                if rng.random() < 0.3
            ],
        },
        class_ids,
    )


def _providers(rng: random.Random) -> list[dict]:
    rows: list[dict] = []
    for root in range(rng.randint(1, 2)):
        root_id = len(rows) + 1
        for child in range(rng.randint(1, 4)):
            number = len(rows) + 1
            rows.append(
                {
                    'id': number,
                    'uuid': _uuid(rng),
                    'name': 'p%d-%d' % (root, child),
                    'generation': rng.randint(0, 4),
                    'root_provider_id': root_id,
                    'parent_provider_id': root_id if child else None,
                }
            )
    return rows


def _inventories(
    rng: random.Random, providers: list[dict], class_ids: dict[str, int]
) -> list[dict]:
    rows = []
    for provider in providers:
        for name in rng.sample(CLASSES, rng.randint(0, 4)):
            rows.append(
                {
                    'resource_provider_id': provider['id'],
                    'resource_class_id': class_ids[name],
                    **_inventory(rng),
                }
            )
    return rows


def _inventory(rng: random.Random) -> dict:
    total = rng.choice((1, 4, 8, 16, 64))
    return {
        'total': total,
        'reserved': rng.choice((0, 0, 0, 1)),
        'min_unit': 1,
        'max_unit': rng.choice((total, 100)),
        'step_size': rng.choice((1, 1, 1, 2)),
        'allocation_ratio': rng.choice((1.0, 1.0, 2.0, 0.5, 1.23456789)),
    }


def _allocations(
    rng: random.Random, inventories: list[dict], consumers: list[dict]
) -> list[dict]:
    rows = []
    for consumer in consumers:
        count = min(len(inventories), rng.choice((0, 1, 2, 2, 3)))
        for inventory in rng.sample(inventories, count):
            rows.append(
                {
                    'resource_provider_id': inventory['resource_provider_id'],
                    'resource_class_id': inventory['resource_class_id'],
                    'consumer_id': consumer['uuid'],
                    # Sometimes more than there is.
                    'used': rng.choice((1, 1, 2, 2, 4, 20)),
                }
            )
    return rows


@dataclasses.dataclass
class Request:
    """A request to POST /reshaper.

    :ivar version: microversion
    :ivar body: what becomes JSON, or bytes
    :ivar roles: of who sends it
    """

    version: str
    body: dict | bytes
    roles: str = 'admin,service'


#: Rows of what is stored now, as ``placement_api.Database.rows`` returns them.
Rows = dict[str, list[dict]]


def request(rng: random.Random, rows: Rows) -> Request:
    """Make a request: what is stored now, with some changes.

    :param rng: decides
    :param rows: what is stored now
    """
    made = Request(rng.choice(VERSIONS), _as_stored(rng, rows))
    for change in rng.sample(GOOD, rng.randint(0, 4)):
        change(rng, made.body, rows)
    if rng.random() < 0.4:
        rng.choice(BAD)(rng, made.body, rows)
    _fit_version(rng, made)
    if rng.random() < 0.05:
        _spoil(rng, made)
    return made


def _as_stored(rng: random.Random, rows: Rows) -> dict:
    inventories = {
        row['uuid']: {
            'resource_provider_generation': row['generation'],
            'inventories': {},
        }
        for row in rows['resource_providers']
        # A provider that is not in the request can have allocations in it.
        if rng.random() < 0.8
    }
    for row in rows['inventories']:
        if row['resource_provider_id'] in inventories:
            inventories[row['resource_provider_id']]['inventories'][
                row['resource_class_id']
            ] = {
                key: row[key]
                for key in (
                    'total',
                    'reserved',
                    'min_unit',
                    'max_unit',
                    'step_size',
                    'allocation_ratio',
                )
                if key == 'total' or rng.random() < 0.9
            }
    allocations = {
        row['uuid']: _consumer(
            row['project_id'], row['user_id'], row['generation']
        )
        for row in rows['consumers']
        if rng.random() < 0.9
    }
    for row in rows['allocations']:
        if row['consumer_id'] in allocations:
            allocations[row['consumer_id']]['allocations'].setdefault(
                row['resource_provider_id'], {'resources': {}}
            )['resources'][row['resource_class_id']] = row['used']
    return {'inventories': inventories, 'allocations': allocations}


def _consumer(project: str, user: str, generation: int | None) -> dict:
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
    old, new = rng.sample(CLASSES, 2)
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
        new[rng.choice(CLASSES)] = {
            **_inventory(rng),
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
            each['project_id'] = rng.choice(PROJECTS)
            each['user_id'] = rng.choice((*USERS, 'carol'))


def add_consumer(rng: random.Random, body: dict, rows: Rows) -> None:
    """Add a consumer, sometimes without allocations."""
    new = _consumer(rng.choice(PROJECTS), rng.choice(USERS), None)
    body['allocations'][_uuid(rng)] = new
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
    new = _uuid(rng)
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
        ] = {'resources': {rng.choice(CLASSES): 1}}


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
            lambda: each['allocations'].update({_uuid(rng): {}}),
            lambda: each['allocations'].update(
                {_uuid(rng): {'resources': {'VCPU': rng.choice((0, -1, 1.5))}}}
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


def _fit_version(rng: random.Random, made: Request) -> None:
    """Add what newer microversions ask for or allow."""
    version = tuple(int(part) for part in made.version.split('.'))
    allocations = made.body.get('allocations')
    if not isinstance(allocations, dict):
        return
    for each in allocations.values():
        if not each:
            continue
        if version >= (1, 38):
            each['consumer_type'] = rng.choice((*TYPES, 'NEW_TYPE'))
        if version >= (1, 34) and rng.random() < 0.3:
            each['mappings'] = {'_a': [_uuid(rng)]}


def _spoil(rng: random.Random, made: Request) -> None:
    """Let something outside the document be wrong."""
    kind = rng.randrange(4)
    if kind == 0:
        made.body = b'{not json'
    elif kind == 1:
        made.version = '1.29'
    elif kind == 2:
        made.roles = 'member'
    else:
        made.version = rng.choice([each for each in VERSIONS])
    made.body = copy.deepcopy(made.body)

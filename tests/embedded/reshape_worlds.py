# SPDX-License-Identifier: Apache-2.0
"""Made-up contents of Placement.

Everything follows from the generator of random numbers that is given.
"""

from __future__ import annotations

import dataclasses
import random
import uuid

CLASSES = ('VCPU', 'MEMORY_MB', 'DISK_GB', 'VGPU', 'CUSTOM_A', 'CUSTOM_B')
CUSTOM_IDS = {'CUSTOM_A': 10001, 'CUSTOM_B': 10002}
PROJECTS = ('demo', 'admin', 'Ünïcode')
USERS = ('alice', 'bob')
TYPES = ('INSTANCE', 'MIGRATION')


def make_uuid(rng: random.Random) -> str:
    """Return a UUID.

    :param rng: decides
    """
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
            'uuid': make_uuid(rng),
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
            'placement_aggregates': [{'id': 1, 'uuid': make_uuid(rng)}],
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
                    'uuid': make_uuid(rng),
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
                    **inventory(rng),
                }
            )
    return rows


def inventory(rng: random.Random) -> dict:
    """Return an inventory.

    :param rng: decides
    """
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
        for held in rng.sample(inventories, count):
            rows.append(
                {
                    'resource_provider_id': held['resource_provider_id'],
                    'resource_class_id': held['resource_class_id'],
                    'consumer_id': consumer['uuid'],
                    # Sometimes more than there is.
                    'used': rng.choice((1, 1, 2, 2, 4, 20)),
                }
            )
    return rows

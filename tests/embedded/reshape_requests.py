# SPDX-License-Identifier: Apache-2.0
"""Made-up requests to reshape what Placement has, good and bad.

Everything follows from the generator of random numbers that is given, so that
a case can be repeated by its seed.
"""

from __future__ import annotations

import copy
import dataclasses
import random

from tests.embedded import reshape_changes as changes
from tests.embedded import reshape_worlds as worlds

VERSIONS = ('1.30', '1.33', '1.34', '1.37', '1.38', '1.39')


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


def request(rng: random.Random, rows: changes.Rows) -> Request:
    """Make a request: what is stored now, with some changes.

    :param rng: decides
    :param rows: what is stored now
    """
    made = Request(rng.choice(VERSIONS), _as_stored(rng, rows))
    for change in rng.sample(changes.GOOD, rng.randint(0, 4)):
        change(rng, made.body, rows)
    if rng.random() < 0.4:
        rng.choice(changes.BAD)(rng, made.body, rows)
    _fit_version(rng, made)
    if rng.random() < 0.05:
        _spoil(rng, made)
    return made


def _as_stored(rng: random.Random, rows: changes.Rows) -> dict:
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
        row['uuid']: changes.consumer(
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
            each['consumer_type'] = rng.choice((*worlds.TYPES, 'NEW_TYPE'))
        if version >= (1, 34) and rng.random() < 0.3:
            each['mappings'] = {'_a': [worlds.make_uuid(rng)]}


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

# SPDX-License-Identifier: Apache-2.0
"""A host with many servers, and the request that reshapes it."""

from __future__ import annotations

from collections.abc import Iterable
import json
import uuid

GPUS = 4
OTHER_HOSTS = 20
OTHER_CONSUMERS = 20

#: Classes that move away from the root, by case.
MOVED = {'vgpu': ('VGPU',), 'numa': ('VCPU', 'MEMORY_MB')}

#: More than all servers have, so that nobody warns of each of them.
_MUCH = 10**9

#: What a request says of every server besides its allocations.
_OWNER = {
    'project_id': 'project',
    'user_id': 'user',
    'consumer_generation': 1,
    'consumer_type': 'INSTANCE',
}


class Case:
    """Contents of Placement, and the request that reshapes them.

    :param name: a key of :data:`MOVED`
    :param consumers: how many servers the host has
    :param class_ids: ids of resource classes
    """

    def __init__(
        self, name: str, consumers: int, class_ids: dict[str, int]
    ) -> None:
        self.name, self.class_ids = name, class_ids
        self.tables: dict[str, list[dict]] = {
            'projects': [{'id': 1, 'external_id': 'project'}],
            'users': [{'id': 1, 'external_id': 'user'}],
            'consumer_types': [{'id': 1, 'name': 'INSTANCE'}],
            'resource_providers': [],
            'inventories': [],
            'consumers': [],
            'allocations': [],
        }
        classes = ['VCPU', 'MEMORY_MB', 'DISK_GB']
        root = self._provider('root')
        self._inventories(root, classes + (['VGPU'] if name == 'vgpu' else []))
        self.children = [
            self._provider('child%d' % number, root)
            for number in range(GPUS if name == 'vgpu' else 2)
        ]
        self.root = root
        for number in range(consumers):
            held = {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 10}
            if name == 'vgpu' and number % 4 == 0:
                held['VGPU'] = 1
            self._consumer(root, held)
        for number in range(OTHER_HOSTS):
            other = self._provider('other%d' % number)
            if not number:
                self.first_other = other
            self._inventories(other, classes)
            for _consumer in range(OTHER_CONSUMERS):
                self._consumer(other, {'VCPU': 1, 'MEMORY_MB': 512})
        #: The host that is written to meanwhile.
        self.other = other

    def _provider(self, name: str, parent: dict | None = None) -> dict:
        number = len(self.tables['resource_providers']) + 1
        row = {
            'id': number,
            'uuid': str(uuid.uuid4()),
            'name': name,
            'generation': 5,
            'root_provider_id': parent['id'] if parent else number,
            'parent_provider_id': parent['id'] if parent else None,
        }
        self.tables['resource_providers'].append(row)
        return row

    def _inventories(self, provider: dict, classes: list[str]) -> None:
        self.tables['inventories'] += [
            {
                'resource_provider_id': provider['id'],
                'resource_class_id': self.class_ids[name],
                'reserved': 0,
                'min_unit': 1,
                'step_size': 1,
                'allocation_ratio': 1.0,
                **_inventory(),
            }
            for name in classes
        ]

    def _consumer(self, provider: dict, held: dict[str, int]) -> None:
        row = {
            'uuid': str(uuid.uuid4()),
            'project_id': 1,
            'user_id': 1,
            'generation': 1,
            'consumer_type_id': 1,
        }
        self.tables['consumers'].append(row)
        self.tables['allocations'] += [
            {
                'resource_provider_id': provider['id'],
                'resource_class_id': self.class_ids[name],
                'consumer_id': row['uuid'],
                'used': used,
            }
            for name, used in held.items()
        ]

    def warm_up(self) -> bytes:
        """Return a request that leaves another host as it is."""
        provider = self.first_other
        (consumer, *_others) = (
            row['consumer_id']
            for row in self.tables['allocations']
            if row['resource_provider_id'] == provider['id']
        )
        return json.dumps(
            {
                'inventories': {
                    provider['uuid']: _all_of(
                        provider, ('VCPU', 'MEMORY_MB', 'DISK_GB')
                    )
                },
                'allocations': {
                    consumer: {
                        **_OWNER,
                        'allocations': {
                            provider['uuid']: {
                                'resources': {'VCPU': 1, 'MEMORY_MB': 512}
                            }
                        },
                    }
                },
            }
        ).encode()

    def body(self) -> bytes:
        """Return the request: everything the host has, in its new shape."""
        names = {number: name for name, number in self.class_ids.items()}
        moved = MOVED[self.name]
        inventories = {
            child['uuid']: _all_of(child, moved) for child in self.children
        }
        inventories[self.root['uuid']] = _all_of(
            self.root,
            [
                names[row['resource_class_id']]
                for row in self.tables['inventories']
                if row['resource_provider_id'] == self.root['id']
                and names[row['resource_class_id']] not in moved
            ],
        )
        allocations: dict[str, dict] = {}
        for row in self.tables['allocations']:
            if row['resource_provider_id'] != self.root['id']:
                continue
            number = len(allocations)
            each = allocations.setdefault(
                row['consumer_id'],
                {**_OWNER, 'allocations': {}, 'number': number},
            )
            name = names[row['resource_class_id']]
            target = (
                self.children[each['number'] % len(self.children)]
                if name in moved
                else self.root
            )
            each['allocations'].setdefault(target['uuid'], {'resources': {}})[
                'resources'
            ][name] = row['used']
        for each in allocations.values():
            del each['number']
        return json.dumps(
            {'inventories': inventories, 'allocations': allocations}
        ).encode()


def _inventory() -> dict:
    return {'total': _MUCH, 'max_unit': _MUCH}


def _all_of(provider: dict, classes: Iterable[str]) -> dict:
    return {
        'resource_provider_generation': provider['generation'],
        'inventories': {name: _inventory() for name in classes},
    }

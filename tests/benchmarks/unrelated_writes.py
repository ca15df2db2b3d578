# SPDX-License-Identifier: Apache-2.0
"""Writes allocations of one host, as Placement does, until stdin ends.

A part of ``tests.benchmarks.reshaper``; prints how long one took at most.
"""

from __future__ import annotations

import json
import select
import sys
import time
import uuid

import sqlalchemy as sa


def write(engine: sa.Engine, provider: int, class_id: int) -> float:
    """Give a new server its allocation.

    :param engine: of SQLAlchemy
    :param provider: id of the host
    :param class_id: id of the resource class
    :returns: milliseconds that it took
    """
    consumer = str(uuid.uuid4())
    values = {'uuid': consumer, 'provider': provider, 'class_id': class_id}
    begin = time.perf_counter()
    for transaction in _TRANSACTIONS:
        with engine.begin() as connection:
            for statement in transaction:
                connection.execute(sa.text(statement), values)
    return (time.perf_counter() - begin) * 1000


#: What PUT /allocations comes down to.
_TRANSACTIONS = (
    (
        'INSERT INTO consumers (uuid, project_id, user_id, generation) '
        'VALUES (:uuid, 1, 1, 0)',
    ),
    (
        'DELETE FROM allocations WHERE consumer_id = :uuid',
        'INSERT INTO allocations (resource_provider_id, consumer_id, '
        'resource_class_id, used) VALUES (:provider, :uuid, :class_id, 1)',
        'UPDATE resource_providers SET generation = generation + 1 '
        'WHERE id = :provider',
        'UPDATE consumers SET generation = 1 WHERE uuid = :uuid',
    ),
)


def main() -> None:
    url, provider, class_id = sys.argv[1:]
    # SQLite waits that many seconds for others.
    arguments = {'timeout': 600} if url.startswith('sqlite') else {}
    engine = sa.create_engine(url, connect_args=arguments)
    longest, count = 0.0, 0
    write(engine, int(provider), int(class_id))
    print('begun', flush=True)
    while not select.select([sys.stdin], [], [], 0.001)[0]:
        longest = max(longest, write(engine, int(provider), int(class_id)))
        count += 1
    print(json.dumps({'longest': longest, 'count': count}))


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0
"""Writes allocations of one host, as Placement does, until stdin ends.

A part of ``tests.benchmarks.reshaper``; prints how long one took at most,
and how many were victims of a deadlock.
"""

from __future__ import annotations

import json
import select
import sys
import time
import uuid

import sqlalchemy as sa


def write(
    engine: sa.Engine, provider: int, class_id: int
) -> tuple[float, int]:
    """Give a new server its allocation.

    :param engine: of SQLAlchemy
    :param provider: id of the host
    :param class_id: id of the resource class
    :returns: milliseconds that it took, and how often it was begun again
        after a deadlock
    """
    consumer = str(uuid.uuid4())
    values = {'uuid': consumer, 'provider': provider, 'class_id': class_id}
    begin = time.perf_counter()
    deadlocks = 0
    for transaction in _TRANSACTIONS:
        while True:
            try:
                with engine.begin() as connection:
                    for statement in transaction:
                        connection.execute(sa.text(statement), values)
                break
            except sa.exc.OperationalError as exc:
                if exc.orig.args[0] not in _DEADLOCKS:
                    raise
                deadlocks += 1
    return (time.perf_counter() - begin) * 1000, deadlocks


#: A deadlock, or a lock that was waited for too long.
_DEADLOCKS = (1213, 1205)

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
    engine = sa.create_engine(url)
    longest, deadlocks = 0.0, 0
    write(engine, int(provider), int(class_id))
    print('begun', flush=True)
    while not select.select([sys.stdin], [], [], 0.001)[0]:
        took, again = write(engine, int(provider), int(class_id))
        longest = max(longest, took)
        deadlocks += again
    print(json.dumps({'stall': longest, 'deadlocks': deadlocks}))


if __name__ == '__main__':
    main()

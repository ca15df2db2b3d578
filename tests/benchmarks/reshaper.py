# SPDX-License-Identifier: Apache-2.0
"""What POST /reshaper takes, with Placement's handler and with ours.

``python -m tests.benchmarks.reshaper`` reshapes a host with many servers,
through all of Placement's application. On MariaDB another process writes
allocations of an unrelated host meanwhile. ``--help`` tells how to do a part
of it.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import typing as ty

from tests import switch

switch.start()

import sqlalchemy as sa  # noqa: E402

from tests.benchmarks import mariadb  # noqa: E402
from tests.benchmarks import reshape_case  # noqa: E402
from tests.embedded import placement_api  # noqa: E402

CONSUMERS = (100, 1000, 3000)
VERSION = '1.38'

#: How often a reshape is sent that meets a deadlock.
ATTEMPTS = 5


@dataclasses.dataclass
class Measured:
    """What a reshape took.

    :ivar statements: how many were sent
    :ivar wall: seconds until the answer
    :ivar cpu: seconds of the processor, without the database server's
    :ivar transaction: seconds from the first write to the commit, at most
    :ivar memory: megabytes it needed at its peak
    :ivar stall: milliseconds that a write of another host took, at most
    :ivar waits: milliseconds that all waited for locks of rows
    :ivar deadlocks: how often such a write was the victim of a deadlock
    :ivar failed: how often the reshape was, and had to be sent again
    """

    statements: int
    wall: float
    cpu: float
    transaction: float
    memory: float
    stall: float | None = None
    waits: float | None = None
    deadlocks: int | None = None
    failed: int = 0


class Transactions:
    """Measures how long write transactions are.

    :param engine: of SQLAlchemy
    """

    def __init__(self, engine: sa.Engine) -> None:
        self.longest = 0.0
        self._begin: float | None = None
        sa.event.listen(engine, 'before_cursor_execute', self._executes)
        for name in ('commit', 'rollback'):
            sa.event.listen(engine, name, self._ends)

    def _executes(self, conn, cursor, text, *rest) -> None:
        verb = text.split(None, 1)[0].upper()
        if self._begin is None and verb in ('INSERT', 'UPDATE', 'DELETE'):
            self._begin = time.perf_counter()

    def _ends(self, conn) -> None:
        # Before the database is told, which the caller adds.
        if self._begin is not None:
            self.longest = max(self.longest, time.perf_counter() - self._begin)
            self._begin = None


def measure(
    application: placement_api.Application,
    database: placement_api.Database,
    case: reshape_case.Case,
) -> Measured | None:
    """Send the request, in a process of its own.

    :param application: Placement's, plain or with ours
    :param database: what it works with
    :param case: its contents, and the request
    :returns: what it took; None if it was not done
    """
    reader, writer = os.pipe()
    database.engine.dispose()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            result = _measure(application, database, case)
            os.write(writer, json.dumps(dataclasses.asdict(result)).encode())
            os._exit(0)
        except BaseException as exc:
            print(repr(exc), file=sys.stderr)
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, 'rb') as pipe:
        output = pipe.read()
    if os.waitpid(child, 0)[1]:
        return None
    return Measured(**json.loads(output))


def _measure(application, database, case) -> Measured:
    with (
        application.armed(),
        database.used(),
        placement_api.statements(database.engine) as statements,
    ):
        # Connections and caches are there in a service that runs.
        application.request('POST', '/reshaper', VERSION, case.warm_up())
        body = case.body()
        transactions = Transactions(database.engine)
        statements.clear()
        _forget_peak()
        memory = _memory('VmRSS')
        wall, cpu = time.perf_counter(), time.process_time()
        answer = application.request('POST', '/reshaper', VERSION, body)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if answer.status_int != 204:
        raise RuntimeError(answer.text)
    return Measured(
        len(statements),
        wall,
        cpu,
        transactions.longest,
        _memory('VmHWM') - memory,
    )


def _memory(name: str) -> float:
    """Return megabytes of this process: VmRSS now, or VmHWM at the peak."""
    with open('/proc/self/status') as status:
        (line,) = [line for line in status if line.startswith(name)]
    return int(line.split()[1]) / 1024


def _forget_peak() -> None:
    with open('/proc/self/clear_refs', 'w') as clear:
        clear.write('5')


@contextlib.contextmanager
def written_to(
    url: str, case: reshape_case.Case
) -> ty.Iterator[dict[str, float]]:
    """Let another process write allocations of an unrelated host.

    :param url: of the database
    :param case: its contents
    :returns: context manager, yielding what is known at its end: the names
        and values of what :class:`Measured` says of these writes
    """
    result: dict[str, float] = {}
    process = subprocess.Popen(
        [
            sys.executable,
            '-m',
            'tests.benchmarks.unrelated_writes',
            url,
            str(case.other['id']),
            str(case.class_ids['VCPU']),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        # It says when it has begun.
        process.stdout.readline()
        yield result
        output, _nothing = process.communicate('')
        result.update(json.loads(output))
    finally:
        process.kill()
        process.wait()


def run(
    databases: dict[str, tuple[placement_api.Database, str, ty.Callable]],
    options: argparse.Namespace,
) -> None:
    """Print a line for each database, case and number of servers.

    :param databases: by name, each with its URL and a function that tells
        how many milliseconds locks were waited for
    :param options: what to do
    """
    everything = [database for database, _url, _waits in databases.values()]
    applications = {
        name: placement_api.Application(everything, name == 'host')
        for name in ('host', 'ours')
    }
    _print_head()
    for name, (database, url, waits) in databases.items():
        class_ids = database.ids('resource_classes')
        for case_name in options.cases:
            for count in options.consumers:
                case = reshape_case.Case(case_name, count, class_ids)
                results, rows = {}, {}
                for who, application in applications.items():
                    results[who] = _until_done(
                        application, database, url, waits, case
                    )
                    rows[who] = _comparable(database.rows(), case)
                if rows['host'] != rows['ours']:
                    raise RuntimeError('the rows are not the same')
                _print(name, case_name, count, results)


def _until_done(
    application: placement_api.Application,
    database: placement_api.Database,
    url: str,
    waits: ty.Callable[[], int | None],
    case: reshape_case.Case,
) -> Measured:
    for failed in range(ATTEMPTS):
        database.fill(case.tables)
        before = waits()
        # SQLite has one writer at a time, and the host's handler fails if
        # there is another.
        with (
            contextlib.nullcontext({})
            if before is None
            else written_to(url, case)
        ) as writes:
            measured = measure(application, database, case)
        if measured is not None:
            if before is not None:
                measured.waits = waits() - before
            return dataclasses.replace(measured, failed=failed, **writes)
    raise RuntimeError('the request failed')


def _comparable(rows: dict[str, list[dict]], case: reshape_case.Case) -> dict:
    """Leave out what the other process has written."""
    consumers = {row['uuid'] for row in case.tables['consumers']}
    return {
        'consumers': [
            row for row in rows['consumers'] if row['uuid'] in consumers
        ],
        'allocations': [
            row
            for row in rows['allocations']
            if row['consumer_id'] in consumers
        ],
        'inventories': rows['inventories'],
        'resource_providers': [
            row
            for row in rows['resource_providers']
            if row['uuid'] != case.other['uuid']
        ],
    }


_FORMAT = '%-8s %-5s %6s %6s %11s %8s %8s %11s %10s %9s %9s %9s %6s %7s %7s'


def _print_head() -> None:
    print(
        _FORMAT
        % (
            *('database', 'case', 'N', '', 'statements', 'wall, s', 'CPU, s'),
            *('transact, s', 'memory, MB', 'stall, ms', 'locks, ms'),
            *('deadlocks', 'failed', 'wall x', 'CPU x'),
        ),
        flush=True,
    )


def _print(
    name: str, case: str, count: int, results: dict[str, Measured]
) -> None:
    host = results['host']
    for who, each in results.items():
        print(
            _FORMAT
            % (
                name,
                case,
                count,
                who,
                each.statements,
                '%.3f' % each.wall,
                '%.3f' % each.cpu,
                '%.3f' % each.transaction,
                '%.1f' % each.memory,
                *(
                    '-' if value is None else '%.0f' % value
                    for value in (each.stall, each.waits, each.deadlocks)
                ),
                each.failed,
                '' if who == 'host' else '%.1f' % (host.wall / each.wall),
                '' if who == 'host' else '%.1f' % (host.cpu / each.cpu),
            ),
            flush=True,
        )


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog='python -m tests.benchmarks.reshaper'
    )
    parser.add_argument(
        '--databases',
        nargs='+',
        choices=('sqlite', 'mariadb'),
        default=('sqlite', 'mariadb'),
    )
    parser.add_argument(
        '--cases',
        nargs='+',
        choices=tuple(reshape_case.MOVED),
        default=tuple(reshape_case.MOVED),
    )
    parser.add_argument(
        '--consumers',
        nargs='+',
        type=int,
        default=CONSUMERS,
        help='numbers of servers; 10000 takes the host minutes',
    )
    return parser.parse_args()


def main() -> None:
    options = parse()
    with contextlib.ExitStack() as stack:
        databases = {}
        if 'sqlite' in options.databases:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            url = 'sqlite:///%s' % (pathlib.Path(folder) / 'placement')
            databases['SQLite'] = (
                placement_api.Database(url),
                url,
                lambda: None,
            )
        if 'mariadb' in options.databases:
            missing = mariadb.why_not()
            if missing:
                print('MariaDB is left out: %s.' % missing)
            else:
                socket = stack.enter_context(mariadb.server())
                url = mariadb.url(socket, 'placement')
                databases['MariaDB'] = (
                    placement_api.Database(url),
                    url,
                    lambda: mariadb.status(socket, 'Innodb_row_lock_time'),
                )
        run(databases, options)


if __name__ == '__main__':
    main()

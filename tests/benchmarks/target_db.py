# SPDX-License-Identifier: Apache-2.0
"""What it takes to write a server's records to another cell.

``python -m tests.benchmarks.target_db`` gives servers with a history and
volumes to the host's code and to ours in turn, with SQLite and, where it is
installed, with a private MariaDB. ``--help`` tells how to do a part of it.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Callable
import pathlib
import tempfile
import time
from typing import Any

from tests import switch

switch.start()

from oslo_utils import uuidutils  # noqa: E402

from nova import config as nova_config  # noqa: E402
from nova import context as nova_context  # noqa: E402
from nova import objects  # noqa: E402
from nova.conductor.tasks import cross_cell_migrate  # noqa: E402
import nova.conf  # noqa: E402
from nova.db import migration as db_migration  # noqa: E402
from nova.db.main import api as db  # noqa: E402
from nova.db.main import models  # noqa: E402
from nova.network import model as network_model  # noqa: E402

from nova_xcell.tasks import instance_copy  # noqa: E402
from tests.benchmarks import mariadb  # noqa: E402
from tests.embedded import rows  # noqa: E402

ACTIONS = (10, 100, 1000)
EVENTS = 5
VOLUMES = (1, 10, 25)

TASKS = {
    'host': cross_cell_migrate.TargetDBSetupTask,
    'ours': instance_copy.TargetDBSetupTask,
}

#: What nova-api loads for a cold migration, and the conductor goes on with.
LOADED = [
    'flavor',
    'info_cache',
    'metadata',
    'security_groups',
    'services',
    'system_metadata',
]

HEAD = '%-8s %8s %8s %11s %11s %11s %11s %9s %9s %7s' % (
    'database',
    'actions',
    'volumes',
    'statements',
    'statements',
    'received',
    'received',
    'seconds',
    'seconds',
    'ratio',
)
SECOND_HEAD = '%-8s %8s %8s %11s %11s %11s %11s %9s %9s %7s' % (
    *('', '', ''),
    *('host', 'ours', 'host', 'ours', 'host', 'ours', ''),
)


class Cells:
    """Two databases with the schema of a cell."""

    def __init__(self, name: str, url_of: Callable[[str], str]) -> None:
        """Make them.

        :param name: for the table
        :param url_of: returns the URL of an empty database of some name
        """
        self.name = name
        self.source, self.target = (
            self._make(url_of(cell)) for cell in ('cell1', 'cell2')
        )

    @staticmethod
    def _make(url: str) -> nova_context.RequestContext:
        context = nova_context.RequestContext('user', 'project', is_admin=True)
        context.db_connection = db.create_context_manager(url)
        context.cell_uuid = uuidutils.generate_uuid()
        db_migration.db_sync(database='main', context=context)
        return context

    def empty_target(self) -> None:
        """Delete every row of the target cell."""
        with db.get_context_manager(self.target).writer.using(
            self.target
        ) as session:
            for table in reversed(models.BASE.metadata.sorted_tables):
                session.execute(table.delete())


def boot(
    context: nova_context.RequestContext, actions: int, volumes: int
) -> objects.Migration:
    """Write a server that is about to move.

    :param context: context aimed at its cell
    :param actions: how many actions it has
    :param volumes: how many volumes it has
    :returns: the migration of the move
    """
    instance = objects.Instance(
        context,
        uuid=uuidutils.generate_uuid(),
        user_id='user',
        project_id='project',
        display_name='server',
        hostname='server',
        host='host1',
        node='host1',
        compute_id=1,
        image_ref=uuidutils.generate_uuid(),
        vm_state='active',
        task_state='resize_prep',
        memory_mb=512,
        vcpus=1,
        root_gb=1,
        ephemeral_gb=0,
        flavor=_flavor(),
        keypairs=objects.KeyPairList(objects=[]),
        metadata={'key': 'value'},
        system_metadata={'image_min_ram': '0', 'boot_roles': 'member'},
        info_cache=objects.InstanceInfoCache(
            network_info=network_model.NetworkInfo()
        ),
    )
    instance.create()
    objects.TagList.create(context, instance.uuid, ['red', 'blue'])
    objects.VirtualInterface(
        context,
        address='fa:16:3e:00:00:01/%s' % uuidutils.generate_uuid(),
        instance_uuid=instance.uuid,
        uuid=uuidutils.generate_uuid(),
    ).create()
    rows.add_history(context, instance.uuid, actions, EVENTS)
    rows.add_volumes(context, instance.uuid, volumes)
    migration = objects.Migration(
        context,
        instance_uuid=instance.uuid,
        source_compute='host1',
        source_node='host1',
        migration_type='migration',
        status='pre-migrating',
        cross_cell_move=True,
    )
    migration.create()
    return migration


def _flavor() -> objects.Flavor:
    return objects.Flavor(
        id=1,
        name='small',
        flavorid='1',
        memory_mb=512,
        vcpus=1,
        root_gb=1,
        ephemeral_gb=0,
        swap=0,
        rxtx_factor=1.0,
        vcpu_weight=0,
        disabled=False,
        is_public=True,
        extra_specs={},
        projects=[],
        description=None,
    )


def run(
    cells: Cells,
    migration: objects.Migration,
    task_class: type,
    received: Callable[[], int],
    events: int,
) -> dict[str, float]:
    """Copy a server once.

    :param cells: the databases
    :param migration: its migration
    :param task_class: what copies it
    :param received: returns how many statements the database was sent
    :param events: how many events the copy has to have
    :returns: what it took
    """
    instance = objects.Instance.get_by_uuid(
        cells.source, migration.instance_uuid, expected_attrs=LOADED
    )
    task = task_class(cells.source, instance, migration, cells.target)
    before = received()
    with rows.counted() as count:
        begin = time.perf_counter()
        task.execute()
        seconds = time.perf_counter() - begin
    # Asking for the number is a statement itself.
    sent = max(received() - before - 1, 0)
    copied = rows.of_server(cells.target, instance.uuid)
    if len(copied['instance_actions_events']) != events:
        raise RuntimeError('not everything was copied')
    cells.empty_target()
    return {'seconds': seconds, 'statements': int(count), 'received': sent}


def compare(
    cells: Cells, options: argparse.Namespace, received: Callable[[], int]
) -> None:
    """Print a line for each size of history and number of volumes.

    :param cells: the databases
    :param options: what to compare, and how often
    :param received: returns how many statements the database was sent
    """
    for actions in options.actions:
        for volumes in options.volumes:
            migration = boot(cells.source, actions, volumes)
            results: dict[str, list] = collections.defaultdict(list)
            for _round in range(options.rounds):
                for name, task_class in TASKS.items():
                    results[name].append(
                        run(
                            cells,
                            migration,
                            task_class,
                            received,
                            actions * EVENTS,
                        )
                    )
            least: dict[str, Any] = {
                (key, name): min(result[key] for result in results[name])
                for key in ('statements', 'received', 'seconds')
                for name in TASKS
            }
            print(
                '%-8s %8d %8d %11d %11d %11s %11s %9.3f %9.3f %7.1f'
                % (
                    cells.name,
                    actions,
                    volumes,
                    least['statements', 'host'],
                    least['statements', 'ours'],
                    least['received', 'host'] or '-',
                    least['received', 'ours'] or '-',
                    least['seconds', 'host'],
                    least['seconds', 'ours'],
                    least['seconds', 'host'] / least['seconds', 'ours'],
                ),
                flush=True,
            )


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog='python -m tests.benchmarks.target_db'
    )
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument(
        '--databases',
        nargs='+',
        choices=('sqlite', 'mariadb'),
        default=('sqlite', 'mariadb'),
    )
    parser.add_argument('--actions', nargs='+', type=int, default=ACTIONS)
    parser.add_argument('--volumes', nargs='+', type=int, default=VOLUMES)
    return parser.parse_args()


def main() -> None:
    options = parse()
    nova_config.parse_args(['nova'], configure_db=False, init_rpc=False)
    objects.register_all()
    # Waiting for the disk at each commit would be to the host's disadvantage.
    nova.conf.CONF.set_override('sqlite_synchronous', False, 'database')
    print(HEAD)
    print(SECOND_HEAD, flush=True)
    if 'sqlite' in options.databases:
        with tempfile.TemporaryDirectory() as folder:
            compare(
                Cells(
                    'SQLite',
                    lambda name: (
                        'sqlite:///%s' % (pathlib.Path(folder) / name)
                    ),
                ),
                options,
                lambda: 0,
            )
    if 'mariadb' in options.databases:
        missing = mariadb.why_not()
        if missing:
            print('MariaDB is left out: %s.' % missing)
            return
        with mariadb.server() as socket:
            compare(
                Cells('MariaDB', lambda name: mariadb.url(socket, name)),
                options,
                lambda: mariadb.questions(socket),
            )


if __name__ == '__main__':
    main()

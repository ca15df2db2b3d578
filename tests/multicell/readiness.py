# SPDX-License-Identifier: Apache-2.0
"""Is the cloud usable: what its services say about themselves."""

from __future__ import annotations

import subprocess

from tests.multicell import database
from tests.multicell import layout as lay
from tests.multicell import netns
from tests.multicell.errors import MulticellError
from tests.multicell.layout import Layout
from tests.multicell.waiting import wait_until


def now(layout: Layout) -> str:
    """Return the database's time.

    :param layout: where the cloud is
    """
    return database.query(layout, 'select utc_timestamp()')[0][0]


def wait_for_api(layout: Layout, api: str, timeout: float = 180) -> None:
    """Wait until an API answers.

    :param layout: where the cloud is
    :param api: a name of API_PORTS
    :param timeout: seconds
    :raises: MulticellError
    """
    command = netns.exec_in(
        layout.control, 'curl', '-s', '-o', '/dev/null', '-m', '60',
        '-w', '%{http_code}', lay.url(api, '/'),
    )  # fmt: skip

    def answers() -> bool:
        found = subprocess.run(command, capture_output=True, text=True)
        return found.stdout[:1] in ('2', '3', '4')

    wait_until(answers, f'{api} answers', timeout)


def wait_for_nodes(layout: Layout, timeout: float = 180) -> None:
    """Wait until every host is in its cell's database.

    :param layout: where the cloud is
    :param timeout: seconds
    :raises: MulticellError
    """
    wait_until(
        lambda: all(
            _count(layout, f'nova_{cell}.compute_nodes where deleted = 0')
            == len(hosts)
            for cell, hosts in lay.CELLS.items()
        ),
        'every nova-compute registers its node',
        timeout,
        1,
    )


def unmapped(layout: Layout) -> bool:
    """Tell whether a host is not mapped to its cell.

    :param layout: where the cloud is
    """
    return _count(layout, 'nova_api.host_mappings') < len(lay.HOSTS)


def wait_for_reports(layout: Layout, since: str, timeout: float = 180) -> None:
    """Wait until every service has reported since a moment.

    :param layout: where the cloud is
    :param since: what `now` returned
    :param timeout: seconds
    :raises: MulticellError
    """
    try:
        wait_until(lambda: not silent(layout, since), '', timeout, 1)
    except MulticellError:
        missing = ', '.join(silent(layout, since))
        raise MulticellError(f'no report within {timeout:.0f} s: {missing}')


def silent(layout: Layout, since: str) -> list[str]:
    """Return what has not reported since a moment.

    :param layout: where the cloud is
    :param since: what `now` returned
    """
    wanted = {
        # Without it the scheduler finds no host.
        'inventories in Placement': (
            '(select distinct resource_provider_id from '
            'placement.inventories) as providers',
            len(lay.HOSTS),
        ),
        'neutron agents': (
            f"neutron.agents where heartbeat_timestamp > '{since}'",
            len(lay.HOSTS),
        ),
        'cinder services': (
            f"cinder.services where updated_at > '{since}' and deleted = 0",
            2,
        ),
    }
    for cell, hosts in lay.CELLS.items():
        # Each compute and the cell's conductor.
        wanted[f'nova services of {cell}'] = (
            f"nova_{cell}.services where last_seen_up > '{since}'",
            len(hosts) + 1,
        )
    # The scheduler and the super-conductor.
    wanted['nova services of cell0'] = (
        f"nova_cell0.services where last_seen_up > '{since}'",
        2,
    )
    return [
        what
        for what, (table, number) in wanted.items()
        if _count(layout, table) < number
    ]


def _count(layout: Layout, table: str) -> int:
    return int(database.query(layout, f'select count(*) from {table}')[0][0])

# SPDX-License-Identifier: Apache-2.0
"""Live migrations with flags of their own, seen in QEMU and in the API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
import json

import openstack

from tests.multicell.kit.servers import LIMIT
from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario
from tests.multicell.waiting import wait_until

HOSTS = ('host1a', 'host1b')
#: Slow enough to look on, and all at once.
SLOW = {
    'OS_LIBVIRT__LIVE_MIGRATION_BANDWIDTH': '1',
    'OS_DEFAULT__MAX_CONCURRENT_LIVE_MIGRATIONS': '8',
}
#: MiB/s, to get to the end.
FAST = '1000'

CONVERGE, POST_COPY = 'auto-converge', 'postcopy-ram'
#: What a server says -> extra specs of its flavor, properties of its image.
WISHES = {
    'nothing': ({}, {}),
    'converge': ({'compute:live_migration_auto_converge': 'true'}, {}),
    'no converge': ({}, {'compute_live_migration_auto_converge': 'false'}),
    'post-copy': ({}, {'compute_live_migration_post_copy': 'true'}),
    'no post-copy': ({'compute:live_migration_post_copy': 'false'}, {}),
}
#: What the hosts permit -> what QEMU uses, by what the server says.
USED = {
    (): {'converge': CONVERGE, 'post-copy': POST_COPY},
    (CONVERGE,): {
        'nothing': CONVERGE,
        'converge': CONVERGE,
        'post-copy': POST_COPY,
        'no post-copy': CONVERGE,
    },
    (POST_COPY,): {
        'nothing': POST_COPY,
        'converge': CONVERGE,
        'no converge': POST_COPY,
        'post-copy': POST_COPY,
    },
    (CONVERGE, POST_COPY): {
        'nothing': POST_COPY,
        'converge': CONVERGE,
        'no converge': POST_COPY,
        'post-copy': POST_COPY,
        'no post-copy': CONVERGE,
    },
}
OPTIONS = {
    CONVERGE: 'OS_LIBVIRT__LIVE_MIGRATION_PERMIT_AUTO_CONVERGE',
    POST_COPY: 'OS_LIBVIRT__LIVE_MIGRATION_PERMIT_POST_COPY',
}


@scenario(needs_plugins=True)
def live_migration_flags(context: Context) -> None:
    """Servers with different wishes migrate at once, each with its flags."""
    servers = {name: _server(context, name) for name in WISHES}
    boots = {name: server.ticks()[-1].boot for name, server in servers.items()}
    source, dest = HOSTS
    for permitted, used in USED.items():
        with _computes(context, *permitted):
            for server in servers.values():
                server.live_migrate(host=dest)
            found = {
                name: _capabilities(server, source)
                for name, server in servers.items()
            }
            expect(
                found,
                {
                    name: {used[name]} if name in used else set()
                    for name in found
                },
                f'used by QEMU where {permitted or "nothing"} is permitted',
            )
            for server in servers.values():
                _hurry(server, source)
            for server in servers.values():
                _wait_for_end(server)
                expect(server.host, dest, 'host')
        source, dest = dest, source
    for name, server in servers.items():
        expect(server.ticks()[-1].boot, boots[name], 'boots of the guest')
        server.settle()


@scenario(needs_plugins=True)
def live_migration_followed(context: Context) -> None:
    """The address in the answer tells everything, to the end and after it."""
    server = context.resources.server('host1a')
    seen: list[dict] = []

    def is_over() -> bool:
        seen.append(_look(server, path))
        return seen[-1]['status'] not in (
            'accepted', 'queued', 'preparing', 'running', 'post-migrating',
        )  # fmt: skip

    with _computes(context):
        path = server.live_migrate()
        wait_until(
            lambda: is_over() or seen[-1]['status'] == 'running',
            'the migration runs',
        )
        _capabilities(server, 'host1a')
        _hurry(server, 'host1a')
        wait_until(is_over, 'the migration ends', LIMIT)
    server.wait_for('ACTIVE')
    statuses = list(dict.fromkeys(one['status'] for one in seen))
    context.note(' > '.join(statuses))
    expect(statuses[-1], 'completed', 'status')
    expect('running' in statuses, True, 'seen while it ran')
    expect({one['id'] for one in seen}, {seen[0]['id']}, 'one migration')
    last = seen[-1]
    # Each host has its own disk of an image-backed server.
    expect(last['block_migration'], True, 'block_migration')
    expect(last['reason'], None, 'reason')
    expect(
        {key: last['flags'][key] for key in ('auto_converge', 'post_copy')},
        {'auto_converge': False, 'post_copy': False},
        'flags',
    )
    expect(server.host, 'host1b', 'host')
    server.settle()


@scenario(needs_plugins=True)
def live_migration_force_complete(context: Context) -> None:
    """Forced to its end, each goes its own way: post-copy, or a pause."""
    servers = {
        'post-copy': _server(context, 'post-copy'),
        'paused': _server(context, 'no post-copy'),
    }
    boots = {way: server.ticks()[-1].boot for way, server in servers.items()}
    with _computes(context, POST_COPY):
        paths = {
            way: server.live_migrate(host='host1b')
            for way, server in servers.items()
        }
        for way, server in servers.items():
            _capabilities(server, 'host1a')
            server.clients.compute(
                'POST', f'{paths[way]}/action', {'force_complete': None}
            )
        for way, server in servers.items():
            _wait_for(server, paths[way], _is_forced, 'it is forced')
            if way == 'paused':
                _hurry(server, 'host1a')
            _wait_for_end(server)
            flags = _look(server, paths[way])['flags']
            expect(flags['forced'], way, 'how it was forced')
            expect(server.ticks()[-1].boot, boots[way], 'boots of the guest')
            server.settle()


@scenario(needs_plugins=True)
def live_migration_abort(context: Context) -> None:
    """An abort is carried out, or refused where it could not be."""
    ordinary = _server(context, 'nothing')
    post_copy = _server(context, 'post-copy')
    boot = ordinary.ticks()[-1].boot
    with _computes(context):
        path = ordinary.live_migrate(host='host1b')
        kept = post_copy.live_migrate(host='host1b')
        for server in (ordinary, post_copy):
            _capabilities(server, 'host1a')
        expect(_status_of_abort(context, kept), 400, 'abort of post-copy')
        expect(_status_of_abort(context, path), 202, 'abort')
        _wait_for(
            ordinary,
            path,
            lambda migration: migration['status'] == 'cancelled',
            'the migration is cancelled',
        )
        ordinary.wait_for('ACTIVE')
        expect(_status_of_abort(context, path), 409, 'a second abort')
        _hurry(post_copy, 'host1a')
        _wait_for_end(post_copy)
    expect(ordinary.host, 'host1a', 'host')
    expect(ordinary.ticks()[-1].boot, boot, 'boots of the guest')
    ordinary.settle()
    post_copy.settle()


def _server(context: Context, name: str) -> Server:
    """Create a server that says one of the wishes."""
    extra_specs, properties = WISHES[name]
    kinds = {}
    if extra_specs:
        kinds['flavor'] = context.resources.flavor(extra_specs)
    if properties:
        kinds['image'] = context.resources.image(properties)
    return context.resources.server('host1a', **kinds)


def _computes(
    context: Context, *permitted: str
) -> AbstractContextManager[None]:
    """Let the hosts migrate slowly, and permit what is named."""
    return context.faults.configured(
        *(f'nova-compute-{host}' for host in HOSTS),
        **SLOW,
        **{OPTIONS[name]: 'true' for name in permitted},
    )


def _monitor(server: Server, host: str, command: str):
    """Ask QEMU."""
    answer = server.clients.on_host(
        host, 'virsh', 'qemu-monitor-command', server.uuid,
        json.dumps({'execute': command}),
    )  # fmt: skip
    return json.loads(answer)['return']


def _capabilities(server: Server, host: str) -> set[str]:
    """Return what QEMU uses for a migration, as soon as that runs."""
    wait_until(
        lambda: (
            _monitor(server, host, 'query-migrate').get('status') == 'active'
        ),
        'memory is copied',
    )
    return {
        found['capability']
        for found in _monitor(server, host, 'query-migrate-capabilities')
        if found['state'] and found['capability'] in OPTIONS
    }


def _hurry(server: Server, host: str) -> None:
    """Let a migration go on as fast as it can."""
    server.clients.on_host(
        host, 'virsh', 'migrate-setspeed', server.uuid, FAST
    )


def _look(server: Server, path: str) -> dict:
    """Return all that the API tells of a migration."""
    answer = server.clients.ask_compute('GET', path, microversion='latest')
    return answer.json()['migration']


def _wait_for(
    server: Server, path: str, arrived: Callable[[dict], bool], what: str
) -> None:
    """Wait for what the API tells of a migration."""
    wait_until(lambda: arrived(_look(server, path)), what)


def _wait_for_end(server: Server) -> None:
    """Wait until a server has migrated."""
    server.wait_for_migration('completed')
    server.wait_for('ACTIVE')


def _is_forced(migration: dict) -> bool:
    return 'forced' in (migration['flags'] or {})


def _status_of_abort(context: Context, path: str) -> int:
    """Ask for an abort; return the status of the answer."""
    try:
        return context.clients.ask_compute('DELETE', path).status_code
    except openstack.exceptions.HttpException as error:
        return error.status_code

# SPDX-License-Identifier: Apache-2.0
"""The command."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

from tests.multicell import figures
from tests.multicell import layout as lay
from tests.multicell import machine
from tests.multicell import netns
from tests.multicell.cloud import Cloud
from tests.multicell.errors import MulticellError
from tests.multicell.layout import Layout

#: Lines of each log that `logs` prints.
TAIL = 20


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line.

    :param arguments: words; those of the process if None
    """
    parser = argparse.ArgumentParser(
        prog='python -m tests.multicell',
        description='A real OpenStack with two cells on this machine, as '
        'root on Debian 12 or 13.',
        epilog=f'{lay.FOLDER_VARIABLE} names the state folder; its default '
        'is .multicell in the checkout. Each folder is a cloud of its own.',
    )
    verbs = parser.add_subparsers(dest='verb', required=True)
    verbs.add_parser('check', help='tell whether this machine can carry it')
    up = verbs.add_parser('up', help='bring it up, or complete it')
    up.add_argument(
        '--plain', action='store_true', help='without the plug-ins'
    )
    up.add_argument(
        '--neutron',
        choices=['29', '28'],
        default='29',
        help='major version; with 28 the plain host can move servers to the '
        'other cell, default %(default)s',
    )
    up.add_argument(
        '--nova',
        choices=['34', '33'],
        default='34',
        help='major version; a cloud with 33 is there to be upgraded, and '
        'has Neutron 28, default %(default)s',
    )
    verbs.add_parser('status', help='show its processes')
    test = verbs.add_parser('test', help='run scenarios on it')
    test.add_argument('scenario', nargs='*', help='by name; default: all')
    test.add_argument('--list', action='store_true', help='only name them')
    test.add_argument(
        '--core', action='store_true', help='the few that stand for all'
    )
    measure = verbs.add_parser(
        'figures',
        help='measure moves of the plain host and with the plug-ins in turn; '
        'the cloud must be down, and is down afterwards',
    )
    measure.add_argument('--rounds', type=int, default=2, help='of each mode')
    measure.add_argument(
        '--json',
        type=pathlib.Path,
        help='file to write, default: figures.json in the state folder',
    )
    logs = verbs.add_parser('logs', help='print the ends of its logs')
    logs.add_argument('name', nargs='*', help='processes; default: all')
    logs.add_argument('-n', type=int, default=TAIL, help='lines of each')
    shell = verbs.add_parser(
        'run', help='run a command in the control plane or on a host'
    )
    shell.add_argument('where', choices=['control', *lay.HOSTS])
    shell.add_argument('command', nargs=argparse.REMAINDER)
    down = verbs.add_parser('down', help='end it and remove it')
    down.add_argument(
        '--all',
        action='store_true',
        help='also remove environment, images and logs',
    )
    return parser.parse_args(arguments)


def main() -> int:
    """Do what the command line says.

    :returns: the exit code
    """
    options = parse()
    try:
        machine.check()
        return VERBS[options.verb](Cloud(Layout.from_environment()), options)
    except MulticellError as exc:
        print(f'multicell: {exc}', file=sys.stderr)
        return 1


def _check(cloud: Cloud, options: argparse.Namespace) -> int:
    return 0


def _up(cloud: Cloud, options: argparse.Namespace) -> int:
    older = []
    if options.neutron == '28' or options.nova == '33':
        older.append('neutron28')
    if options.nova == '33':
        older.append('nova33')
    cloud.up(options.plain, older)
    return 0


def _status(cloud: Cloud, options: argparse.Namespace) -> int:
    return 0 if cloud.status() else 1


def _test(cloud: Cloud, options: argparse.Namespace) -> int:
    if not netns.exists(cloud.layout.control):
        raise MulticellError('the cloud is not up')
    words = [
        *(['--list'] if options.list else []),
        *(['--core'] if options.core else []),
        *options.scenario,
    ]
    return _replace(
        cloud,
        netns.exec_in(
            cloud.layout.control, cloud.layout.python,
            '-m', 'tests.multicell.scenarios', *words,
        ),
    )  # fmt: skip


def _run(cloud: Cloud, options: argparse.Namespace) -> int:
    command = options.command or ['bash']
    if options.where == 'control':
        if not netns.exists(cloud.layout.control):
            raise MulticellError('the cloud is not up')
        return _replace(cloud, netns.exec_in(cloud.layout.control, *command))
    return _replace(cloud, cloud.hosts[options.where].command(*command))


def _replace(cloud: Cloud, command: list[str]) -> int:
    env = {
        **cloud.env,
        'OS_AUTH_URL': lay.url('keystone', '/v3'),
        'OS_USERNAME': 'admin',
        'OS_PASSWORD': lay.PASSWORD,
        'OS_PROJECT_NAME': 'admin',
        'OS_USER_DOMAIN_NAME': 'Default',
        'OS_PROJECT_DOMAIN_NAME': 'Default',
        'OS_REGION_NAME': 'RegionOne',
        lay.FOLDER_VARIABLE: str(cloud.layout.folder),
    }
    if 'TERM' in os.environ:
        env['TERM'] = os.environ['TERM']
    sys.stdout.flush()
    os.chdir(lay.ROOT)
    os.execvpe(command[0], command, env)


def _figures(cloud: Cloud, options: argparse.Namespace) -> int:
    if netns.exists(cloud.layout.control):
        raise MulticellError('the cloud is up; take it down first')
    file = options.json or cloud.layout.folder / 'figures.json'
    try:
        figures.measure(cloud, options.rounds, file)
    finally:
        cloud.down()
    return 0


def _logs(cloud: Cloud, options: argparse.Namespace) -> int:
    for file in cloud.log_files(options.name):
        if not file.exists():
            raise MulticellError(f'there is no log {file}')
        print(f'==> {file} <==')
        lines = file.read_text(errors='replace').splitlines()
        print('\n'.join(lines[-options.n :]))
    return 0


def _down(cloud: Cloud, options: argparse.Namespace) -> int:
    cloud.down(options.all)
    return 0


VERBS = {
    'check': _check,
    'up': _up,
    'status': _status,
    'test': _test,
    'figures': _figures,
    'logs': _logs,
    'run': _run,
    'down': _down,
}

if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The command."""

from __future__ import annotations

import argparse
import pathlib
import platform
import shutil
import sys
import tempfile
import time

from tests.packaging import tree
from tests.packaging.debian import places
from tests.packaging.debian.build import Build
from tests.packaging.debian.checks import Checks
from tests.packaging.debian.errors import PackageError
from tests.packaging.debian.errors import Unavailable

#: Exit code if this machine cannot do it.
LEFT_OUT = 77
RELEASES = ('12', '13')
#: Where a layer builds.
FOLDER = pathlib.Path('/build')


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog='python -m tests.packaging.debian',
        description='The Debian package, made with debhelper and dh-python. '
        'Root does it in a layer over this machine, in memory, where what is '
        'missing is installed; others on the machine, with what it has.',
        epilog='PBR_VERSION is the version. The exit code is 0, 1 if the '
        'package is not as it should be, or %d, after one line, if this '
        'machine cannot do it.' % LEFT_OUT,
    )
    verbs = parser.add_subparsers(dest='verb', required=True)
    build = verbs.add_parser('build', help='make it')
    build.add_argument(
        '--output',
        type=pathlib.Path,
        default=tree.ROOT / 'dist' / 'debian',
        help='folder for what is made, default: dist/debian',
    )
    verbs.add_parser(
        'check',
        help='make it, install it, look at it and remove it; needs root',
    )
    return parser.parse_args()


def machine_is_debian() -> None:
    """Refuse another system.

    :raises: Unavailable
    """
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    if (
        system.get('ID') != 'debian'
        or system.get('VERSION_ID') not in RELEASES
    ):
        raise Unavailable(
            'this runs on Debian %s, not on %s'
            % (' or '.join(RELEASES), system.get('PRETTY_NAME', 'this'))
        )


def build(place: places.Machine, output: pathlib.Path) -> int:
    """Make the package and keep what is made.

    :param place: where
    :param output: folder to keep it in
    :returns: the exit code
    """
    work = Build(place)
    work.prepare()
    work.make()
    output.mkdir(parents=True, exist_ok=True)
    for path in sorted(place.outside(place.folder).glob('*')):
        if path.is_file():
            shutil.copy(path, output)
            print(output / path.name)
    return 0


def check(place: places.Layer) -> int:
    """Make the package, and say of each step how it went.

    :param place: where
    :returns: the exit code
    """
    work = Build(place)
    results = [
        step('prepare', work.prepare),
    ]
    package = None
    if results[0]:
        made: list[pathlib.Path] = []
        results.append(step('build', lambda: made.append(work.make())))
        package = made[0] if made else None
    if package is not None:
        checks = Checks(work, package)
        for name in checks.steps():
            results.append(step(name, lambda name=name: checks.run(name)))
    print('%d passed, %d failed' % (sum(results), results.count(False)))
    return 0 if all(results) else 1


def step(name: str, action) -> bool:
    """Do something and print one line, and why if it failed.

    :param name: of the step
    :param action: does it
    :returns: whether it succeeded
    """
    start = time.monotonic()
    problem = ''
    try:
        action()
    except Unavailable:
        raise
    except PackageError as exc:
        problem = str(exc)
    print(
        '%-12s %-6s %5.1f s'
        % (name, 'FAILED' if problem else 'ok', time.monotonic() - start),
        flush=True,
    )
    if problem:
        print(problem, flush=True)
    return not problem


def main() -> int:
    """Do what the command line says.

    :returns: the exit code
    """
    options = parse()
    try:
        machine_is_debian()
        return run(options)
    except PackageError as exc:
        print('debian: %s' % exc, file=sys.stderr)
        return LEFT_OUT if isinstance(exc, Unavailable) else 1


def run(options: argparse.Namespace) -> int:
    """Do it here, or in a layer.

    :param options: of the command line
    :returns: the exit code
    :raises: PackageError
    """
    if places.inside():
        layer = places.Layer(FOLDER)
        if options.verb == 'check':
            return check(layer)
        return build(layer, options.output)
    if options.verb == 'build' and places.is_plain_user():
        with tempfile.TemporaryDirectory() as folder:
            machine = places.Machine(pathlib.Path(folder))
            return build(machine, options.output)
    return places.enter()


if __name__ == '__main__':
    sys.exit(main())

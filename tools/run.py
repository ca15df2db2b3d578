# SPDX-License-Identifier: Apache-2.0
"""Set up a pinned host in a virtual environment and run a thing in it.

Called by ``tools/run``. Standard library only.
"""

import argparse
import collections
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENVS = ROOT / '.venvs'
NEWEST = 34
#: Where the seams are checked besides the newest release.
OLDEST = 31

#: Nova's two concurrency modes, by what disables eventlet.
THREADS = {'OS_NOVA_DISABLE_EVENTLET_PATCHING': 'true'}
EVENTLET = {'OS_NOVA_DISABLE_EVENTLET_PATCHING': 'false'}

#: Seconds after which a functional test is given up.
TEST_TIMEOUT = '400'

#: A line of stestr's totals.
COUNT = re.compile(r' - (Passed|Failed|Unexpected Success): (\d+)$')
#: The last line of a run of scenarios.
SCENARIOS = re.compile(r'(\d+) passed, (\d+) failed$')
#: What services of the host log past the fixtures that catch it, when their
#: process ends.
NOISE = re.compile(r'\d{4}-\d\d-\d\d [\d:.]+ \d+ INFO ')


class Failed(Exception):
    """Ends the command with one line."""


class Environment:
    """A virtual environment with one host release and this package.

    :param release: major version of Nova
    """

    def __init__(self, release: int) -> None:
        self.release = release
        self.path = VENVS / (
            'nova%d-py%d.%d' % (release, *sys.version_info[:2])
        )
        self.python = self.path / 'bin' / 'python'
        #: Before Nova 34 native threads are absent or an experiment.
        self.mode = THREADS if release >= 34 else EVENTLET
        self.constraints = ROOT / 'constraints' / ('nova%d.txt' % release)

    def ensure(self) -> None:
        """Create it, or bring it up to date if what it is made of changed."""
        stamp = self.path / 'nova-xcell.stamp'
        wanted = self._fingerprint()
        if stamp.exists() and stamp.read_text() == wanted:
            return
        print(
            'Setting up Nova %d in %s'
            % (self.release, self.path.relative_to(ROOT)),
            flush=True,
        )
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.parent.mkdir(exist_ok=True)
        log = VENVS / ('%s.log' % self.path.name)
        with log.open('w') as out:
            self._step(
                out,
                log,
                'the venv module of %s does not work (on '
                'Debian: install python3-venv)' % sys.executable,
                sys.executable,
                '-m',
                'venv',
                str(self.path),
            )
            self._pip(out, log, 'pip', 'setuptools', 'wheel', 'pbr')
            self._pip(
                out,
                log,
                '--no-build-isolation',
                '-r',
                'requirements.txt',
                '-r',
                'test-requirements.txt',
                '-e',
                '.[nova]',
            )
        stamp.write_text(wanted)

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(sys.version.encode())
        for path in (
            self.constraints,
            ROOT / 'requirements.txt',
            ROOT / 'test-requirements.txt',
            ROOT / 'setup.cfg',
        ):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _pip(self, out, log: pathlib.Path, *arguments: str) -> None:
        self._step(
            out,
            log,
            'pip could not install the pinned packages of %s; '
            'is there a network and a package registry?'
            % self.constraints.relative_to(ROOT),
            str(self.python),
            '-m',
            'pip',
            'install',
            '--disable-pip-version-check',
            '-c',
            str(self.constraints),
            *arguments,
        )

    @staticmethod
    def _step(out, log: pathlib.Path, problem: str, *command: str) -> None:
        environ = dict(os.environ)
        if not (ROOT / '.git').exists():
            # An unpacked tarball has no history to take a version from.
            environ.setdefault('PBR_VERSION', '0.1.0')
        result = subprocess.run(
            command,
            cwd=ROOT,
            env=environ,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
        )
        if result.returncode:
            raise Failed('%s (log: %s)' % (problem, log.relative_to(ROOT)))

    def run(self, *arguments: str, **extra: str) -> int:
        """Run Python in it, output passed through.

        :param arguments: arguments of the interpreter
        :param extra: additional environment variables
        :returns: exit code
        """
        environ = {**os.environ, 'PYTHONWARNINGS': 'ignore', **extra}
        return subprocess.run(
            [str(self.python), *arguments], cwd=ROOT, env=environ
        ).returncode


class Suites:
    """Runs suites and adds up their results."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def lint(self, environment: Environment) -> None:
        """Run the one linter and formatter; it counts as one test."""
        print('\n== lint', flush=True)
        ok = all(
            environment.run('-m', 'ruff', *command, '.') == 0
            for command in (('check',), ('format', '--check'))
        )
        self.passed += ok
        self.failed += not ok

    def stestr(
        self,
        environment: Environment,
        suite: str,
        *arguments: str,
        **extra: str,
    ) -> None:
        """Run a folder below tests/ with stestr.

        :param environment: where
        :param suite: name of the folder
        :param arguments: further arguments of ``stestr run``
        :param extra: additional environment variables
        """
        mode = extra.get('OS_NOVA_DISABLE_EVENTLET_PATCHING')
        print(
            '\n== %s, Nova %d%s'
            % (
                suite,
                environment.release,
                {'true': ', native threads', 'false': ', eventlet'}.get(
                    mode, ''
                ),
            ),
            flush=True,
        )
        process = subprocess.Popen(
            [
                str(environment.python),
                '-m',
                'stestr',
                '--test-path',
                'tests/%s' % suite,
                'run',
                *arguments,
            ],
            cwd=ROOT,
            env={
                **os.environ,
                'PYTHONWARNINGS': 'ignore',
                'OS_TEST_TIMEOUT': TEST_TIMEOUT,
                **extra,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        counts = collections.Counter()
        for line in process.stdout:
            count = COUNT.match(line)
            if count:
                counts[count[1]] = int(count[2])
            if not NOISE.match(line):
                print(line, end='', flush=True)
        returncode = process.wait()
        passed = counts['Passed']
        failed = counts['Failed'] + counts['Unexpected Success']
        if not failed and (returncode or not passed):
            # It broke before it could count, or found nothing to run.
            failed = 1
        self.passed += passed
        self.failed += failed

    def multicell(self) -> None:
        """Bring up the real cloud and run its core scenarios.

        Left out, and said so, on a machine that cannot carry it.
        """
        print('\n== multicell, core scenarios', flush=True)
        if self._multicell('check'):
            print('left out', flush=True)
            return
        failed = self.failed
        try:
            broke = self._multicell('up') or self._multicell('test', '--core')
        finally:
            self._multicell('down')
        if broke and failed == self.failed:
            # It broke before it could count.
            self.failed += 1

    def _multicell(self, *arguments: str) -> int:
        process = subprocess.Popen(
            [sys.executable, '-m', 'tests.multicell', *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in process.stdout:
            print(line, end='', flush=True)
            count = SCENARIOS.match(line)
            if count:
                self.passed += int(count[1])
                self.failed += int(count[2])
        return process.wait()


def demo(options: argparse.Namespace) -> int:
    """Show a cross-cell resize on the embedded cloud."""
    environment = Environment(options.nova)
    environment.ensure()
    return environment.run('-m', 'tests.demo', **environment.mode)


def tests(options: argparse.Namespace) -> int:
    """Run lint and all suites; the last line counts the results."""
    newest = Environment(NEWEST)
    oldest = Environment(OLDEST)
    newest.ensure()
    oldest.ensure()
    suites = Suites()
    suites.lint(newest)
    for suite in ('unit', 'packaging'):
        suites.stestr(newest, suite)
    for environment in (newest, oldest):
        suites.stestr(environment, 'contract')
    # The matrix of faults takes as long as all the rest; tox has it. Wishes,
    # traits and flags of live migrations are run in one mode only.
    for mode, left_out in (
        (THREADS, 'test_fault_matrix.TestFault'),
        (EVENTLET, 'test_fault_matrix.TestFault|test_migration_'),
    ):
        suites.stestr(
            newest, 'functional', '--exclude-regex', left_out, **mode
        )
    suites.stestr(
        newest,
        'host',
        '--exclude-list',
        'tests/host/excluded.txt',
        **THREADS,
    )
    suites.multicell()
    print('\n%d passed, %d failed' % (suites.passed, suites.failed))
    return 1 if suites.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog='tools/run', description=__doc__)
    commands = parser.add_subparsers(required=True)
    parser_demo = commands.add_parser('demo', help=demo.__doc__)
    parser_demo.add_argument(
        '--nova',
        type=int,
        default=NEWEST,
        choices=range(OLDEST, NEWEST + 1),
        help='major version of the host, default %(default)s',
    )
    parser_demo.set_defaults(run=demo)
    parser_tests = commands.add_parser('tests', help=tests.__doc__)
    parser_tests.set_defaults(run=tests)
    options = parser.parse_args()
    try:
        return options.run(options)
    except Failed as exc:
        print('nova-xcell: %s' % exc, file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())

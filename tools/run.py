# SPDX-License-Identifier: Apache-2.0
"""Set up a pinned host in a virtual environment and run a thing in it.

Called by ``tools/run``. Standard library only.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

import conformance
import suites

ROOT = suites.ROOT
VENVS = ROOT / '.venvs'
NEWEST = 34
#: Where the seams are checked besides the newest release.
OLDEST = 31

#: Nova's two concurrency modes, by what disables eventlet.
THREADS = {'OS_NOVA_DISABLE_EVENTLET_PATCHING': 'true'}
EVENTLET = {'OS_NOVA_DISABLE_EVENTLET_PATCHING': 'false'}
#: What `tests` runs of Nova's own functional tests.
BRIEF = {'NOVA_XCELL_TEST_BRIEF': '1'}
#: Functional tests in which services wait for each other; they are run in both
#: modes, and tox runs all of them in either.
WAITING = (
    r'test_(confirm|dest_hosts|fault_matrix\.TestNoFault|live_migration_api|'
    r'mixed|rebuild\.Test(Order|Waiting)|reconcile|reshape_live\.TestSplit|'
    r'waiting_move)'
)
#: Contract tests that start many processes, and rely on little of the host.
PROCESSES = r'test_(generators|reshape_offline)'
#: The matrix of faults takes as long as all the rest; tox has it.
MATRIX = r'test_fault_matrix\.TestFault'


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

    def installed(self, package: str) -> str:
        """Return the version of a package.

        :param package: its name
        """
        return subprocess.run(
            [
                str(self.python),
                '-c',
                'import importlib.metadata, sys; '
                'print(importlib.metadata.version(sys.argv[1]))',
                package,
            ],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()

    def fetch_samples(self) -> None:
        """Fetch Nova's samples of notifications, which are not installed."""
        (library,) = (self.path / 'lib').glob('python*/site-packages')
        if (library / 'doc' / 'notification_samples').exists():
            return
        log = VENVS / ('%s.log' % self.path.name)
        with tempfile.TemporaryDirectory() as folder, log.open('a') as out:
            self._step(
                out,
                log,
                'pip could not download the source of Nova',
                str(self.python),
                '-m',
                'pip',
                'download',
                '--disable-pip-version-check',
                '--no-build-isolation',
                '--no-deps',
                '--no-binary=nova',
                '--dest',
                folder,
                'nova==%s' % self.installed('nova'),
            )
            (archive,) = pathlib.Path(folder).glob('*.tar.gz')
            with tarfile.open(archive) as source:
                source.extractall(folder, filter='data')
            (samples,) = pathlib.Path(folder).glob(
                '*/doc/notification_samples'
            )
            shutil.copytree(samples, library / 'doc' / samples.name)

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
    results = suites.Suites()
    results.lint(newest)
    for suite in ('unit', 'packaging'):
        results.stestr(newest, suite)
    results.stestr(oldest, 'packaging', 'test_wheel')
    results.stestr(newest, 'contract')
    results.stestr(oldest, 'contract', '--exclude-regex', PROCESSES)
    results.stestr(newest, 'functional', '--exclude-regex', MATRIX, **THREADS)
    results.stestr(newest, 'functional', WAITING, **EVENTLET)
    results.stestr(
        newest,
        'host',
        '--exclude-list',
        'tests/host/excluded.txt',
        **THREADS,
        **BRIEF,
    )
    results.debian()
    results.multicell()
    return results.summarize()


def conform(options: argparse.Namespace) -> int:
    """Run suites on one release and note the results in the documentation."""
    environment = Environment(options.nova)
    environment.ensure()
    results = suites.Suites()
    for suite in options.suite or conformance.SUITES:
        extra = dict(environment.mode)
        arguments = []
        if suite == 'functional':
            arguments = ['--exclude-regex', MATRIX]
        elif suite == 'host':
            environment.fetch_samples()
            arguments = ['--exclude-list', 'tests/host/excluded.txt']
        found = results.stestr(environment, suite, *arguments, **extra)
        conformance.note(environment, suite, found)
    return results.summarize()


def _add_release(parser: argparse.ArgumentParser, **extra) -> None:
    parser.add_argument(
        '--nova',
        type=int,
        choices=range(OLDEST, NEWEST + 1),
        help='major version of the host',
        **extra,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog='tools/run', description=__doc__)
    commands = parser.add_subparsers(required=True)
    parser_demo = commands.add_parser('demo', help=demo.__doc__)
    _add_release(parser_demo, default=NEWEST)
    parser_demo.set_defaults(run=demo)
    parser_tests = commands.add_parser('tests', help=tests.__doc__)
    parser_tests.set_defaults(run=tests)
    parser_conform = commands.add_parser('conform', help=conform.__doc__)
    _add_release(parser_conform, required=True)
    parser_conform.add_argument(
        '--suite',
        action='append',
        choices=conformance.SUITES,
        help='can be repeated, default: all',
    )
    parser_conform.set_defaults(run=conform)
    options = parser.parse_args()
    try:
        return options.run(options)
    except Failed as exc:
        print('nova-xcell: %s' % exc, file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())

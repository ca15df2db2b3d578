# SPDX-License-Identifier: Apache-2.0
"""Run suites of tests and add up their results. Standard library only."""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Iterator
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

#: Seconds after which a functional test is given up.
TEST_TIMEOUT = '400'
#: As many are run again; if more fail, it is not the machine.
AGAIN = 5
#: Exit code of the check of the Debian package on a machine that cannot do it.
LEFT_OUT = 77
#: Lines of a failure that are shown once more at the end.
SHOWN = 60

#: A line of stestr's totals.
COUNT = re.compile(r' - (Passed|Failed|Unexpected Success): (\d+)$')
#: A line of stestr about one test.
TEST = re.compile(r'\{\d+\} (\S+) .*\.\.\. (\w+)')
#: A line about one scenario or step, and the last one of a run.
SCENARIO = re.compile(r'([\w-]+) +(ok|FAILED) ')
SCENARIOS = re.compile(r'(\d+) passed, (\d+) failed$')
#: What services of the host log past the fixtures that catch it, when their
#: process ends, and what their fixtures print.
NOISE = re.compile(r'\d{4}-\d\d-\d\d [\d:.]+ \d+ INFO |The thread pool ')


class Output:
    """Prints what a run prints, and keeps what it says of its failures.

    :param about: matches a line about one test; its name and its result
    """

    def __init__(self, about: re.Pattern) -> None:
        self.about = about
        #: How many have passed, and how many have not.
        self.counts = (0, 0)
        #: The exit code.
        self.code = 0
        #: Name -> the word that stestr has for its result.
        self.results: dict[str, str] = {}
        #: Lines by the name of what has failed.
        self.failures: dict[str, list[str]] = {}
        self._current: list[str] | None = None

    def read(self, process: subprocess.Popen) -> Iterator[str]:
        """Print the lines of a process.

        :param process: whose output is read
        :returns: the lines, while they come
        """
        for line in process.stdout:
            if NOISE.match(line):
                continue
            print(line, end='', flush=True)
            self._keep(line)
            yield line

    def _keep(self, line: str) -> None:
        found = self.about.match(line)
        if found:
            name, result = found.groups()
            self._current = None
            self.results[name] = result
            if result in ('FAILED', 'ERROR'):
                self._current = self.failures.setdefault(name, [])
        elif line.startswith('====='):
            self._current = None
        if self._current is not None:
            self._current.append(line)


class Suites:
    """Runs suites and adds up their results.

    What fails is run once more by itself: a test that waits for a condition
    may wait in vain on a machine that is too busy. Both results are told.
    """

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        #: Names of what passed when it was run again.
        self.again: list[str] = []
        #: What was said of what failed.
        self.failures: dict[str, list[str]] = {}

    def lint(self, environment) -> None:
        """Run the one linter and formatter; it counts as one test.

        :param environment: where
        """
        print('\n== lint', flush=True)
        ok = all(
            environment.run('-m', 'ruff', *command, '.') == 0
            for command in (('check',), ('format', '--check'))
        )
        self._add(ok, not ok)

    def stestr(
        self, environment, suite: str, *arguments: str, **extra: str
    ) -> dict[str, str]:
        """Run a folder below tests/ with stestr.

        :param environment: where
        :param suite: name of the folder
        :param arguments: further arguments of ``stestr run``
        :param extra: additional environment variables
        :returns: name of a test -> its result, ``ok`` or another word
        """
        mode = extra.get('OS_NOVA_DISABLE_EVENTLET_PATCHING')
        title = '%s, Nova %d%s' % (
            suite,
            environment.release,
            {'true': ', native threads', 'false': ', eventlet'}.get(mode, ''),
        )
        print('\n== %s' % title, flush=True)

        def run(*words: str) -> Output:
            return self._stestr(environment, suite, *words, **extra)

        def run_again(names: list[str]) -> Output:
            with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
                # Scenarios of a test are behind its name, and not listed.
                for name in {name.partition('(')[0] for name in names}:
                    print(name, file=file)
                file.flush()
                return run('--serial', '--load-list', file.name)

        output = run(*arguments)
        self._judge(title, output, run_again)
        return output.results

    def _stestr(
        self, environment, suite: str, *arguments: str, **extra: str
    ) -> Output:
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
        output = Output(TEST)
        counts = collections.Counter()
        for line in output.read(process):
            count = COUNT.match(line)
            if count:
                counts[count[1]] = int(count[2])
        returncode = process.wait()
        passed = counts['Passed']
        failed = counts['Failed'] + counts['Unexpected Success']
        if not failed and (returncode or not passed):
            # It broke before it could count, or found nothing to run.
            failed = 1
        output.counts = (passed, failed)
        return output

    def debian(self) -> None:
        """Make the Debian package, install it, look at it and remove it.

        Left out, and said so, on a machine that cannot do it. Nothing is run
        again: a step needs those before it.
        """
        title = 'Debian package'
        print('\n== %s' % title, flush=True)
        output = self._steps('tests.packaging.debian', 'check')
        if output.code == LEFT_OUT:
            print('left out', flush=True)
            return
        self._note_failures(title, output)
        self._add(*output.counts)

    def multicell(self) -> None:
        """Bring up the real cloud and run its core scenarios.

        Left out, and said so, on a machine that cannot carry it.
        """
        title = 'multicell, core scenarios'
        print('\n== %s' % title, flush=True)
        if self._multicell('check').counts[1]:
            print('left out', flush=True)
            return
        try:
            if self._multicell('up').counts[1]:
                self._add(0, 1)
                return
            self._judge(
                title,
                self._multicell('test', '--core'),
                lambda names: self._multicell('test', *names),
            )
        finally:
            self._multicell('down')

    def _multicell(self, *arguments: str) -> Output:
        return self._steps('tests.multicell', *arguments)

    def _steps(self, module: str, *arguments: str) -> Output:
        process = subprocess.Popen(
            [sys.executable, '-m', module, *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output = Output(SCENARIO)
        passed = failed = 0
        for line in output.read(process):
            count = SCENARIOS.match(line)
            if count:
                passed, failed = int(count[1]), int(count[2])
        output.code = process.wait()
        if output.code and not failed:
            # It broke before it could count.
            failed = 1
        output.counts = (passed, failed)
        return output

    def _judge(
        self,
        title: str,
        output: Output,
        run_again: Callable[[list[str]], Output],
    ) -> None:
        """Add the result of a run, and run again what has failed.

        :param title: of the run
        :param output: what it said
        :param run_again: runs what is named
        """
        passed, failed = output.counts
        names = list(output.failures)
        if 0 < failed == len(names) <= AGAIN:
            print('\n== %s, again what has failed' % title, flush=True)
            second = run_again(names)
            good = [name for name in names if second.results.get(name) == 'ok']
            self.again.extend(good)
            output.results.update(dict.fromkeys(good, 'ok'))
            passed, failed = passed + len(good), failed - len(good)
        self._note_failures(title, output)
        self._add(passed, failed)

    def _note_failures(self, title: str, output: Output) -> None:
        for name, lines in output.failures.items():
            self.failures['%s: %s' % (title, name)] = lines

    def _add(self, passed: int, failed: int) -> None:
        self.passed += passed
        self.failed += failed

    def summarize(self) -> int:
        """Print what failed, once more, and the line that counts.

        :returns: exit code
        """
        for name, lines in self.failures.items():
            print('\n== %s' % name)
            print(''.join(lines[-SHOWN:]), end='')
        for name in self.again:
            print('passed when run again: %s' % name)
        print(
            '\n%d passed, %d failed' % (self.passed, self.failed), flush=True
        )
        return 1 if self.failed else 0

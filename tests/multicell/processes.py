# SPDX-License-Identifier: Apache-2.0
"""Processes of the cloud: each a group, a pid file and a log of its own."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import os
import pathlib
import signal
import subprocess

from tests.multicell.errors import MulticellError
from tests.multicell.layout import Layout
from tests.multicell.waiting import wait_until

#: Seconds a process gets to end by itself.
GRACE = 20


def start_time(pid: int) -> str | None:
    """Return when a process was started, which tells it from a later one.

    :param pid: process id
    :returns: in the kernel's ticks; None if it is not running
    """
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return None
    fields = stat[stat.rindex(')') + 2 :].split()
    return None if fields[0] in 'ZX' else fields[19]


class Processes:
    """Starts and ends what the cloud consists of.

    :param layout: where it is
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def _pid_file(self, name: str) -> pathlib.Path:
        return self.layout.run / f'{name}.pid'

    def log_file(self, name: str) -> pathlib.Path:
        """Return where a process writes.

        :param name: its name
        """
        return self.layout.log / f'{name}.log'

    def names(self) -> list[str]:
        """Return what was started and not ended on purpose."""
        return sorted(path.stem for path in self.layout.run.glob('*.pid'))

    def pid(self, name: str) -> int | None:
        """Return the id of a process, None if it does not run.

        :param name: its name
        """
        try:
            pid, started = self._pid_file(name).read_text().split()
        except (OSError, ValueError):
            return None
        return int(pid) if start_time(int(pid)) == started else None

    def start(
        self,
        name: str,
        command: Sequence[str | os.PathLike],
        env: Mapping[str, str],
    ) -> None:
        """Start a process in a group of its own, unless it runs.

        :param name: its name
        :param command: program and arguments
        :param env: its whole environment
        """
        if self.pid(name):
            return
        with self.log_file(name).open('ab') as log:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.layout.var,
                env=dict(env),
                start_new_session=True,
            )
        self._pid_file(name).write_text(
            f'{process.pid} {start_time(process.pid)}\n'
        )

    def stop(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        """End a process and its group, and forget it.

        :param name: its name
        :param how: what it is told; killed when it takes too long
        """
        pid = self.pid(name)
        if pid:
            signal_group(pid, how)
            try:
                wait_until(
                    lambda: not self._group_lives(name, pid), name, GRACE
                )
            except MulticellError:
                signal_group(pid, signal.SIGKILL)
                wait_until(lambda: not self.pid(name), name, GRACE)
        self._pid_file(name).unlink(missing_ok=True)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to the group of a process.

        :param name: its name
        :param number: the signal
        :raises: MulticellError if it does not run
        """
        pid = self.pid(name)
        if not pid:
            raise MulticellError(f'{name} does not run')
        signal_group(pid, number)

    def _group_lives(self, name: str, pid: int) -> bool:
        reap(pid)
        return self.pid(name) is not None


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process group; one that is gone is fine.

    :param pid: its leader
    :param number: the signal
    """
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        pass


def signal_process(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process; one that is gone is fine.

    :param pid: process id
    :param number: the signal
    """
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def reap(pid: int) -> None:
    """Collect a child that has ended; others do that by themselves.

    :param pid: process id
    """
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


def in_name_space(netns: str) -> Iterator[int]:
    """Find the processes in a network name space, whoever started them.

    :param netns: its name
    :returns: process ids
    """
    try:
        wanted = os.stat(f'/run/netns/{netns}').st_ino
    except FileNotFoundError:
        return
    for entry in os.listdir('/proc'):
        if entry.isdigit():
            try:
                found = os.stat(f'/proc/{entry}/ns/net').st_ino
            except OSError:
                continue
            if found == wanted and int(entry) != os.getpid():
                yield int(entry)


def run(
    command: Sequence[str | os.PathLike],
    env: Mapping[str, str] | None = None,
    log: pathlib.Path | None = None,
) -> str:
    """Run a command to its end.

    :param command: program and arguments
    :param env: its whole environment; None for ours
    :param log: where its output goes as well
    :returns: its standard output
    :raises: MulticellError with its last line if it fails
    """
    command = [str(part) for part in command]
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=None if env is None else dict(env),
    )
    if log:
        with log.open('a') as file:
            file.write(result.stdout + result.stderr)
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines() or ['']
        where = f' (see {log})' if log else ''
        raise MulticellError(f'{" ".join(command)}: {lines[-1]}{where}')
    return result.stdout

# SPDX-License-Identifier: Apache-2.0
"""One fault at one step of a cross-cell resize, exactly once.

Calls are broken where messages are sent and received, whoever sends them; all
else at the attribute that the step names. There are no pauses here: work that
is to end late waits until what it is late for has happened.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import importlib
import threading
import time
from typing import Any

import fixtures
from keystoneauth1 import session
from oslo_db.sqlalchemy import enginefacade
import oslo_messaging
from oslo_messaging.rpc import client
from oslo_messaging.rpc import dispatcher

from nova_xcell import loader
from tests.embedded.steps import Fault
from tests.embedded.steps import Step

#: What a conductor is asked to do.
OPERATIONS = frozenset(
    (
        'migrate_server',
        'confirm_snapshot_based_resize',
        'revert_snapshot_based_resize',
    )
)

#: Seconds after which held work goes on, whatever the conductor does, so that
#: one that waits in its own way cannot wait for ever.
LATE, NEVER = 6.0, 30.0

#: How often a conductor that waits for a host has to look before the host is
#: done.
LOOKS = 2


class InjectedError(Exception):
    """Something went wrong, of the kind that nobody expects."""


class ProcessDeath(BaseException):
    """Ends a thread of a process that is no more.

    No Exception: a dead process does not roll back. What is in `finally` runs
    all the same, but can send no message and use no database and no Placement.
    """


class Gate:
    """A place where the work of a host is held until it may go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def open(self) -> None:
        """Let the work go on."""
        self._open.set()

    def pass_through(self) -> None:
        """Arrive with the work, and wait. Who comes later need not."""
        if not self.reached.is_set():
            self.reached.set()
            self._open.wait(NEVER)


class Injection(fixtures.Fixture):
    """Makes a step fail when it is next met.

    :param step: the step
    :param fault: what happens there
    """

    def __init__(self, step: Step, fault: Fault) -> None:
        self.step = step
        self.fault = fault
        #: The step was met, and failed.
        self.happened = threading.Event()
        #: The conductor is through with what it was asked for, or dead.
        self.settled = threading.Event()
        #: The work that is to be interrupted was under way.
        self.interrupted = threading.Event()
        #: There is no conductor any more.
        self.conductor_died = threading.Event()
        #: The compute host that died.
        self.dead_host: str | None = None
        self._skip = step.skip
        self._lock = threading.Lock()
        self._midway_armed = False
        self._gate: Gate | None = None
        self._late: threading.Thread | None = None
        self._looks = 0
        self._local = threading.local()
        #: What threads of a process that died have in their locals.
        self._death = object()

    def _setUp(self) -> None:
        self.addCleanup(self.finish_late_work)
        self._wrap(dispatcher.RPCDispatcher, '_do_dispatch', self._dispatch)
        self._wrap(client._BaseCallContext, 'call', self._call)
        self._wrap(client._BaseCallContext, 'cast', self._unless_dead)
        self._wrap(
            enginefacade._TransactionContextManager,
            '_transaction_scope',
            self._unless_dead,
        )
        self._wrap(session.Session, 'request', self._unless_dead)
        self._wrap(time, 'sleep', self._sleep)
        if self.step.is_call:
            owner, name = _resolve(self.step.midway)
            self._wrap(owner, name, self._midway)
        else:
            armed = self.step.ours and loader.armed()
            owner, name = _resolve(
                self.step.ours if armed else self.step.where
            )
            self._wrap(owner, name, self._local_step)

    # For the test.

    def forget_the_dead(self) -> None:
        """Know that a dead process has left: its threads are free again."""
        self._death = object()

    def finish_late_work(self) -> None:
        """Let work that was held go on, and wait until it has ended."""
        if self._gate:
            self._gate.open()
        # Nobody answers who asked a dead host.
        if self._late and not self.dead_host:
            self._late.join()

    # Where the host is wrapped.

    def _wrap(self, owner: Any, name: str, replacement: Callable) -> None:
        original = getattr(owner, name)

        # wraps() keeps the signature visible to whoever checks it.
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return replacement(original, *args, **kwargs)

        self.useFixture(fixtures.MockPatchObject(owner, name, wrapper))

    def _dispatch(
        self, original: Callable, rpc: Any, endpoint: Any, method: str, *args
    ) -> Any:
        """Receive a message."""
        if method in OPERATIONS:
            with self._as_conductor():
                return original(rpc, endpoint, method, *args)
        gate = self._gate
        if (
            gate
            and self.fault is Fault.TIMEOUT_QUEUED
            and method == self.step.where
        ):
            gate.pass_through()
        return original(rpc, endpoint, method, *args)

    def _call(
        self,
        original: Callable,
        context: Any,
        ctxt: Any,
        method: str,
        **kwargs,
    ) -> Any:
        """Send a message and wait for the answer."""
        self._stay_dead()
        send = functools.partial(original, context, ctxt, method, **kwargs)
        if not (
            self.step.is_call and method == self.step.where and self._happens()
        ):
            return send()
        return self._break_call(send, context.target.server)

    def _local_step(
        self, original: Callable, *args: Any, **kwargs: Any
    ) -> Any:
        """Do a step that is no call."""
        work = functools.partial(original, *args, **kwargs)
        if not (self.step.on_host or self._is_conductor()):
            return work()
        if not self._happens():
            return work()
        return self._break_around(work, InjectedError)

    def _midway(self, original: Callable, *args: Any, **kwargs: Any) -> Any:
        """Be in the middle of the work of a call."""
        if self._take_midway():
            self.interrupted.set()
            if self._gate is None:
                raise InjectedError(f'{self.step.name} fails')
            if self.fault is Fault.HOST_DEATH:
                self._gate.reached.set()
                self._die()
            self._gate.pass_through()
        return original(*args, **kwargs)

    def _sleep(self, original: Callable, *args: Any) -> None:
        if getattr(self._local, 'waiting', False):
            self._looks += 1
            if self._looks >= LOOKS and self.fault is Fault.TIMEOUT_LATE:
                self.finish_late_work()
        original(*args)

    def _unless_dead(
        self, original: Callable, *args: Any, **kwargs: Any
    ) -> Any:
        self._stay_dead()
        return original(*args, **kwargs)

    # What happens.

    def _break_call(self, send: Callable, host: str) -> Any:
        fault = self.fault
        if fault is Fault.ERROR_MIDWAY:
            self._midway_armed = True
            return send()
        if fault is Fault.DEATH_MIDWAY:
            self._begin(send)
            self.conductor_died.set()
            self._die()
        if fault in (
            Fault.TIMEOUT_LATE,
            Fault.TIMEOUT_QUEUED,
            Fault.HOST_DEATH,
        ):
            if fault is Fault.HOST_DEATH:
                self.dead_host = host
            self._begin(send)
            self._local.waiting = True
            raise oslo_messaging.MessagingTimeout(f'{self.step.name} is late')
        if fault is Fault.TIMEOUT_BEFORE:
            raise oslo_messaging.MessagingTimeout(f'{self.step.name} is lost')
        if fault is Fault.TIMEOUT_AFTER:
            send()
            raise oslo_messaging.MessagingTimeout(
                f'the answer of {self.step.name} is lost'
            )
        return self._break_around(send, _remote_error)

    def _break_around(self, work: Callable, error: Callable) -> Any:
        """Fail before or after some work."""
        before = self.fault in (Fault.ERROR_BEFORE, Fault.DEATH_BEFORE)
        if not before:
            work()
        if self.fault in (Fault.DEATH_BEFORE, Fault.DEATH_AFTER):
            self.conductor_died.set()
            self._die()
        raise error(f'{self.step.name} fails')

    def _begin(self, send: Callable) -> None:
        """Let a host begin with its work; return when it is held there."""
        self._gate = Gate()
        self._midway_armed = self.fault is not Fault.TIMEOUT_QUEUED
        self._late = threading.Thread(
            target=_swallow, args=(send,), name='late-work', daemon=True
        )
        self._late.start()
        # Work that fails on the way does not get there.
        while not self._gate.reached.wait(0.05):
            if not self._late.is_alive():
                break
        if self.fault in (Fault.DEATH_MIDWAY, Fault.HOST_DEATH):
            # The test says when it goes on.
            return
        limit = LATE if self.fault is Fault.TIMEOUT_LATE else NEVER
        threading.Thread(
            target=self._open_when_settled,
            args=(limit,),
            name='late-work-release',
            daemon=True,
        ).start()

    def _open_when_settled(self, limit: float) -> None:
        self.settled.wait(limit)
        self._gate.open()

    def _die(self) -> None:
        self._local.death = self._death
        raise ProcessDeath()

    def _stay_dead(self) -> None:
        if getattr(self._local, 'death', None) is self._death:
            raise ProcessDeath()

    def _happens(self) -> bool:
        """Tell whether it is this time that the step fails."""
        with self._lock:
            if self.happened.is_set():
                return False
            if self._skip:
                self._skip -= 1
                return False
            self.happened.set()
            return True

    def _take_midway(self) -> bool:
        with self._lock:
            armed, self._midway_armed = self._midway_armed, False
            return armed

    @contextlib.contextmanager
    def _as_conductor(self) -> Iterator[None]:
        self._local.conductor = True
        try:
            yield
        finally:
            self._local.conductor = False
            self._local.waiting = False
            self.settled.set()

    def _is_conductor(self) -> bool:
        return getattr(self._local, 'conductor', False)


def _swallow(work: Callable) -> None:
    with contextlib.suppress(Exception):
        work()


def _remote_error(text: str) -> Exception:
    return oslo_messaging.RemoteError('InjectedError', text, [])


def _resolve(path: str) -> tuple[Any, str]:
    """Find what has an attribute.

    :param path: dotted: module, class if there is one, attribute
    :returns: the module or class, and the attribute's name
    """
    names = path.split('.')
    for length in range(len(names) - 1, 0, -1):
        try:
            owner = importlib.import_module('.'.join(names[:length]))
        except ModuleNotFoundError:
            continue
        for name in names[length:-1]:
            owner = getattr(owner, name)
        return owner, names[-1]
    raise ImportError(path)

# SPDX-License-Identifier: Apache-2.0
"""What happens in a cloud without anybody's doing: restarts and upkeep."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from nova import context as nova_context
from nova import service

from tests.embedded import invariants
from tests.embedded import observe

#: Seconds that a cloud gets to tidy up after a fault.
HEAL_LIMIT = 30.0

#: Seconds without any change after which it is taken to have done all it
#: will: with conductors that have periodic tasks, and with those that do not.
STILL, IDLE = 6.0, 1.5


class HealingMixin:
    """Services that are started anew, for `cloud.TwoCellCloud`."""

    def replace_conductors(self, killed: Callable[[], None]) -> None:
        """Start conductors in place of those that died.

        What a process manager does. No service gets the chance to end in
        good order.

        :param killed: called when nothing of the old ones runs any more
        """
        for conductor in self.conductors:
            _kill(conductor)
        killed()
        count = len(self.conductors)
        self.conductors = []
        for _ in range(count):
            self.start_service('conductor')

    def replace_compute(self, host: str, killed: Callable[[], None]) -> None:
        """Start a compute service in place of one that died.

        :param host: its host; the guests there have gone on running
        :param killed: called when nothing of the old one runs any more
        """
        _kill(self.computes[host])
        killed()
        self.computes[host] = self.restart_compute_service(self.computes[host])
        # All services share one config, see `cloud`.
        self.flags(host='controller')

    def run_periodic_tasks(self) -> None:
        """Run every periodic task of the conductors and computes once."""
        context = nova_context.get_admin_context()
        for conductor in self.conductors:
            run_all(conductor.manager, context)
        for host, compute in sorted(self.computes.items()):
            with nova_context.target_cell(
                context, self.host_mappings[host].cell_mapping
            ) as cell_context:
                run_all(compute.manager, cell_context)

    def let_it_heal(self, server: dict[str, Any]) -> list[str]:
        """Leave the cloud alone until a server holds what it should.

        :param server: the server
        :returns: what still does not belong when the time is over
        """
        still = IDLE
        if any(c.manager._periodic_tasks for c in self.conductors):
            still = STILL
        limit = time.monotonic() + HEAL_LIMIT
        before, since = None, time.monotonic()
        while True:
            self.run_periodic_tasks()
            seen = observe.snapshot(self, server['id'])
            found = invariants.leaks(seen)
            now = time.monotonic()
            if seen != before:
                before, since = seen, now
            if not found or now > limit or now - since > still:
                return found
            time.sleep(0.1)


def _kill(dead: service.Service) -> None:
    for server in (dead.rpcserver, getattr(dead, 'rpcserver_alt', None)):
        if server:
            server.stop()
            server.wait()
    # The end of its timers, and only that.
    super(service.Service, dead).stop()


def run_all(
    manager: Any, context: nova_context.RequestContext | None = None
) -> None:
    """Run every periodic task of a service once.

    :param manager: of the service
    :param context: admin context; a new one if None
    """
    context = context or nova_context.get_admin_context()
    # Each remembers when it ran last, and would wait for its next turn.
    for name in manager._periodic_last_run:
        manager._periodic_last_run[name] = None
    manager.run_periodic_tasks(context, raise_on_error=False)

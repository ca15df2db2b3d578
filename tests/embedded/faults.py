# SPDX-License-Identifier: Apache-2.0
"""Ways to make one destination host of the embedded cloud fail.

Each is switched on per host by a method of `FaultsMixin` and stays on until
`mend`. The host code is wrapped only once a fault is asked for, so a cloud
without faults runs exactly the code that is installed.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import inspect
from typing import Any

import fixtures
from neutronclient.common import exceptions as neutron_exceptions
import oslo_messaging

from nova import exception
from nova.compute import resource_tracker
from nova.compute import rpcapi


class FaultsMixin:
    """The failures of a destination, for `cloud.TwoCellCloud`."""

    def make_volume_unreachable(self, volume_id: str, host: str) -> None:
        """Cut the path from a host to a volume.

        :param volume_id: the volume
        :param host: the compute host that can no longer connect it
        """
        self.computes[host].manager.driver.unreachable.add(volume_id)

    def refuse_binding(self, host: str) -> None:
        """Let Neutron refuse to create a port binding for a host.

        :param host: the compute host
        """

        def refuse(original: Callable, port_id: str, body: dict) -> Any:
            if self._is_broken('binding', body['binding']['host']):
                raise neutron_exceptions.NeutronClientException(
                    status_code=500, message='no agent on that host'
                )
            return original(port_id, body)

        self._break(
            'binding', host, self.neutron, 'create_port_binding', refuse
        )

    def refuse_claim(self, host: str) -> None:
        """Let the resource tracker of a host refuse a resize claim.

        :param host: the compute host
        """

        def refuse(
            original: Callable, tracker: Any, *args: Any, **kwargs: Any
        ) -> Any:
            if self._is_broken('claim', tracker.host):
                raise exception.ComputeResourcesUnavailable(
                    reason='the host is full'
                )
            return original(tracker, *args, **kwargs)

        self._break(
            'claim',
            host,
            resource_tracker.ResourceTracker,
            'resize_claim',
            refuse,
        )

    def time_out_prep(self, host: str, after_work: bool) -> None:
        """Let the call that prepares a destination host time out.

        :param host: the destination compute host
        :param after_work: False when the request never arrives; True when
            the host does all its work and only the answer is lost
        """
        key = 'prep-after' if after_work else 'prep-before'

        def time_out(original: Callable, *args: Any, **kwargs: Any) -> Any:
            bound = inspect.signature(original).bind(*args, **kwargs)
            broken = self._is_broken(key, bound.arguments['destination'])
            if broken and not after_work:
                raise oslo_messaging.MessagingTimeout()
            answer = original(*args, **kwargs)
            if broken:
                raise oslo_messaging.MessagingTimeout()
            return answer

        self._break(
            key,
            host,
            rpcapi.ComputeAPI,
            'prep_snapshot_based_resize_at_dest',
            time_out,
        )

    def mend(self) -> None:
        """Take back every fault."""
        self._broken().clear()
        for compute in self.computes.values():
            compute.manager.driver.unreachable.clear()

    def _broken(self) -> dict[str, set[str]]:
        return self.__dict__.setdefault('_broken_hosts', {})

    def _is_broken(self, key: str, host: str) -> bool:
        return host in self._broken().get(key, ())

    def _break(
        self, key: str, host: str, owner: Any, name: str, replacement: Callable
    ) -> None:
        hosts = self._broken().setdefault(key, set())
        wrapped = self.__dict__.setdefault('_broken_seams', set())
        hosts.add(host)
        if key in wrapped:
            return
        wrapped.add(key)
        original = getattr(owner, name)

        # wraps() keeps the signature visible to whoever checks it.
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return replacement(original, *args, **kwargs)

        self.useFixture(fixtures.MockPatchObject(owner, name, wrapper))

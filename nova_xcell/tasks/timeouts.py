# SPDX-License-Identifier: Apache-2.0
"""How long a conductor waits for each step of a move on a host (XC-16).

The host waits ``long_rpc_timeout`` for all of them. Most are over in seconds;
those that carry a root disk take as long as it is large.
"""

from __future__ import annotations

import typing as ty

from oslo_config import cfg
import wrapt

#: The host's RPC method -> option of ``[xcell]``.
OPTIONS = {
    'prep_snapshot_based_resize_at_dest': 'prep_at_dest_timeout',
    'prep_snapshot_based_resize_at_source': 'prep_at_source_timeout',
    'finish_snapshot_based_resize_at_dest': 'finish_at_dest_timeout',
    'confirm_snapshot_based_resize_at_source': 'confirm_at_source_timeout',
    'revert_snapshot_based_resize_at_dest': 'revert_at_dest_timeout',
    'finish_revert_snapshot_based_resize_at_source': (
        'finish_revert_at_source_timeout'
    ),
}


def seconds(conf: cfg.ConfigOpts, operation: str, disk_gb: int = 0) -> int:
    """Return how long to wait for a step.

    :param conf: the configuration
    :param operation: name of the host's RPC method
    :param disk_gb: size in GiB of the disk that it carries, 0 if none
    :returns: seconds
    """
    configured = conf.xcell[OPTIONS[operation]]
    base = conf.long_rpc_timeout if configured is None else configured
    return base + conf.xcell.timeout_per_gb * disk_gb


class Router(wrapt.ObjectProxy):
    """A nova.rpc.ClientRouter whose clients wait as long as is said here.

    The host's client takes the time from its own option in each call.

    :param router: that of the host's client
    :param timeout: seconds
    """

    def __init__(self, router: ty.Any, timeout: int) -> None:
        super().__init__(router)
        self._self_timeout = timeout

    def client(self, context):
        """See nova.rpc.ClientRouter."""
        client = self.__wrapped__.client(context)
        return _Client(client, self._self_timeout)


class _Client(wrapt.ObjectProxy):
    def __init__(self, client: ty.Any, timeout: int) -> None:
        super().__init__(client)
        self._self_timeout = timeout

    def prepare(self, **kwargs):
        kwargs['timeout'] = self._self_timeout
        return self.__wrapped__.prepare(**kwargs)

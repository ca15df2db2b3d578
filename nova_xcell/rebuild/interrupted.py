# SPDX-License-Identifier: Apache-2.0
"""A rebuild that ended with the nova-compute that worked on it (VR-06)."""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
from nova.compute import task_states
from nova.compute import vm_states

LOG = logging.getLogger(__name__)


def end(instance: objects.Instance) -> None:
    """Let a server in ERROR be rebuilt again.

    The host does so when nova-compute starts, but leaves alone what was in
    ERROR before: its rebuild is the second try. It does not ask for servers
    that are being evacuated, which have the same tasks.

    :param instance: a server of this host
    """
    if (
        instance.hidden
        or instance.vm_state != vm_states.ERROR
        or instance.task_state not in task_states.rebuild_states
    ):
        return
    LOG.info(
        'A rebuild of the server was interrupted; it can be rebuilt again.',
        instance=instance,
    )
    expected = instance.task_state
    instance.task_state = None
    try:
        instance.save(expected_task_state=[expected])
    except nova_exception.UnexpectedTaskStateError:
        # Somebody was faster, for example the user who deletes it.
        LOG.debug('Something else is done to it.', instance=instance)

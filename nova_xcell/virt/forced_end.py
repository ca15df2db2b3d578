# SPDX-License-Identifier: Apache-2.0
"""How a live migration is forced to its end.

These functions take the place of the host's in nova.virt.libvirt.migration,
where the thread that watches a migration calls them.
"""

from __future__ import annotations

import collections
import typing as ty

from oslo_log import log as logging

from nova.compute import vm_states
import nova.conf
from nova.virt.libvirt import migration as host

from nova_xcell.virt import flag_record
from nova_xcell.virt import running_migration

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

_FORCE_COMPLETE = 'force-complete'
_UNPAUSE = 'unpause'
_POST_COPY = 'running (post-copy)'

# This module is imported before the host's functions are replaced.
_host_run_tasks = host.run_tasks
_host_should_trigger = host.should_trigger_timeout_action


def run_tasks(
    guest,
    instance,
    active_migrations,
    on_migration_failure,
    migration,
    is_post_copy_enabled,
):
    """Do what was asked of a migration since the last time.

    See the host's function. A guest that cannot be switched to post-copy is
    paused (MF-07).

    :param guest: nova.virt.libvirt.guest.Guest
    :param instance: nova.objects.Instance
    :param active_migrations: dict of server to queue of tasks
    :param on_migration_failure: queue of what is done if it fails
    :param migration: nova.objects.Migration
    :param is_post_copy_enabled: whether this migration may switch
    """

    def run(queue: ty.Iterable[str], may_switch: bool) -> None:
        _host_run_tasks(
            guest,
            instance,
            {instance.uuid: collections.deque(queue)},
            on_migration_failure,
            migration,
            may_switch,
        )

    running = running_migration.current()
    # Another thread may put a task into the queue at any time.
    tasks = _taken(active_migrations.get(instance.uuid))
    if running is None or _FORCE_COMPLETE not in tasks:
        run(tasks, is_post_copy_enabled)
        return
    if running.forced == flag_record.PAUSED:
        LOG.info(
            'The guest is paused already so that live migration %s ends.',
            running.migration,
            instance=instance,
        )
        return
    run(tasks, is_post_copy_enabled)
    reason = 'post-copy %s' % running.flags.post_copy.reason
    if is_post_copy_enabled and migration.status != _POST_COPY:
        reason = 'libvirt did not switch it to post-copy'
        run([_FORCE_COMPLETE], False)
    running.record_forced(_way(migration, on_migration_failure), reason)
    if instance.vm_state == vm_states.PAUSED:
        # By its user, who wants it to stay so if the migration fails.
        on_migration_failure.clear()


def should_trigger_timeout_action(
    instance, elapsed, completion_timeout, migration_status
):
    """Tell whether to act on a migration that takes too long.

    See the host's function, which says so every half a second. What has an
    effect is done once.

    :param instance: nova.objects.Instance
    :param elapsed: seconds since the migration started
    :param completion_timeout: seconds that it may take, 0 for no limit
    :param migration_status: of the migration record
    """
    running = running_migration.current()
    if running is not None and _has_acted(running):
        return False
    triggered = _host_should_trigger(
        instance, elapsed, completion_timeout, migration_status
    )
    if triggered and running is not None:
        running.timed_out = True
    return triggered


def _taken(tasks: collections.deque | None) -> list[str]:
    taken = []
    while tasks:
        taken.append(tasks.popleft())
    return taken


def _way(migration, on_migration_failure: ty.Iterable[str]) -> str:
    if migration.status == _POST_COPY:
        return flag_record.SWITCHED
    if _UNPAUSE in on_migration_failure:
        return flag_record.PAUSED
    return flag_record.NOTHING


def _has_acted(running: running_migration.RunningMigration) -> bool:
    if CONF.libvirt.live_migration_timeout_action == 'force_complete':
        # Also if somebody has asked for it before.
        return running.forced in (flag_record.PAUSED, flag_record.SWITCHED)
    return running.timed_out

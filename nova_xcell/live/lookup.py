# SPDX-License-Identifier: Apache-2.0
"""Finds a live migration of a server, and what is known of it."""

from __future__ import annotations

import typing as ty

from oslo_utils import uuidutils

from nova import exception
from nova import objects
from nova.objects import instance_action
from nova.policies import instance_actions as action_policies

from nova_xcell.live import facts
from nova_xcell.live import handing
from nova_xcell.policies import live_migration as policies


def find(
    context, instance: objects.Instance, key: str
) -> objects.Migration | None:
    """Return a live migration, at whatever stage.

    :param context: auth context targeted at the cell of the server
    :param instance: the server
    :param key: id or uuid of the migration
    :returns: None if the server has no such live migration; another one if
        that was made in its place, see :mod:`nova_xcell.live.handing`
    """
    try:
        if uuidutils.is_uuid_like(key):
            found = objects.Migration.get_by_uuid(context, key)
        elif key.isascii() and key.isdigit():
            found = objects.Migration.get_by_id_and_instance(
                context, key, instance.uuid
            )
        else:
            return None
    except (
        exception.MigrationNotFound,
        exception.MigrationNotFoundForInstance,
    ):
        return None
    if found.instance_uuid != instance.uuid or not found.is_live_migration:
        return None
    if found.hidden and found.status == 'accepted':
        rows = handing.migrations_of(context, instance.uuid)
        return facts.successor(found.id, rows) or found
    return found


def more(
    context,
    instance: objects.Instance,
    migration_id: int,
) -> dict[str, ty.Any]:
    """Return what the host does not tell of a live migration.

    :param context: auth context targeted at the cell of the server; decides
        what may be seen
    :param instance: the server
    :param migration_id: id of the migration
    :returns: ``block_migration``, ``reason``, and ``flags`` for those who may
        see them; None stands for what is not known
    """
    migration = objects.Migration.get_by_id_and_instance(
        context, migration_id, instance.uuid
    )
    events = _events(context, migration)
    answer: dict[str, ty.Any] = {
        'block_migration': facts.block_migration(migration.uuid, events),
        'reason': None,
    }
    if migration.status in facts.FAILED and _may(
        context,
        instance,
        # The same words are shown with the events.
        action_policies.BASE_POLICY_NAME % 'events:details',
    ):
        answer['reason'] = facts.reason(events)
    if _may(context, instance, policies.SHOW_FLAGS):
        answer['flags'] = facts.flags(migration.uuid, events)
    return answer


def _events(context, migration: objects.Migration) -> list:
    actions = objects.InstanceActionList.get_by_instance_uuid(
        context, migration.instance_uuid
    )
    action = facts.action_of(actions, migration.created_at)
    if action is None:
        return []
    events = instance_action.InstanceActionEventList.get_by_action(
        context, action.id
    )
    # The host lists the newest first.
    return sorted(events, key=lambda event: event.id)


def _may(context, instance: objects.Instance, rule: str) -> bool:
    return bool(
        context.can(
            rule,
            target={
                'user_id': instance.user_id,
                'project_id': instance.project_id,
            },
            fatal=False,
        )
    )

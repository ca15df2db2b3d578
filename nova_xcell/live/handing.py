# SPDX-License-Identifier: Apache-2.0
"""nova-api makes the record of a live migration and hands it over (LM-04).

The host makes it in nova-conductor, after nova-api has answered, so that the
caller never learns which one it is. Here nova-api makes it in the cell of the
server and sends its uuid along, in a dictionary that a plain nova-conductor
reads one other key of. See :mod:`nova_xcell.live.taking` for the other side.

What is wrong when only one of them has this feature, or some conductors:

* A plain nova-api sends no uuid: nova-conductor makes the record.
* With plain conductors no record is made and no Location is answered: the
  conductor is asked first.
* One conductor may answer the question and a plain one get the request. It
  makes a record of its own, and the one made here stays alone. Therefore a
  record is hidden until it is taken over: nothing lists it, and as it names no
  node and stays in ``accepted``, no host counts it. Who asks for it gets the
  one that was made instead, which is the next of the same server, since a
  server has one live migration at a time. When the next one is asked for, the
  record is settled: it gets the outcome of the one made instead, and no later
  one can be taken for that. It is never taken over afterwards.
* If the request does not reach nova-conductor the record is deleted, unless
  it was taken over. If it is only the answer that is missing, it stays.

A host from which the plug-ins were removed has hidden records at most, which
it does not show, and which go with the server.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import contextvars
import dataclasses

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import objects
from nova.conductor import rpcapi
from nova.db.main import api as db
from nova.db.main import models
from nova.objects import fields

from nova_xcell.live import endpoint
from nova_xcell.live import facts
from nova_xcell.live import handed

LOG = logging.getLogger(__name__)

#: What a migration that nobody took over gets of the one made instead.
_OUTCOME = (
    'status',
    'source_node',
    'dest_compute',
    'dest_node',
    'dest_host',
    'memory_total',
    'memory_processed',
    'memory_remaining',
    'disk_total',
    'disk_processed',
    'disk_remaining',
)

# What the host has; looked up before the seams replace it.
_host_live_migrate_instance = rpcapi.ComputeTaskAPI.live_migrate_instance
_host_migrate_server = rpcapi.ComputeTaskAPI.migrate_server


@dataclasses.dataclass
class Request:
    """A request to live-migrate, whose caller wants to know the migration.

    :ivar migration: what was made for it and handed over; None if nothing was
    """

    migration: objects.Migration | None = None


_request: contextvars.ContextVar[Request | None] = contextvars.ContextVar(
    'nova_xcell_live_migration', default=None
)


@contextlib.contextmanager
def request() -> Iterator[Request]:
    """Let the request that is made within make its migration in nova-api.

    :returns: context manager, yielding the request
    """
    made = Request()
    token = _request.set(made)
    try:
        yield made
    finally:
        _request.reset(token)


def live_migrate_instance(
    self,
    context,
    instance,
    scheduler_hint,
    block_migration,
    disk_over_commit,
    request_spec,
):
    """Ask nova-conductor for a live migration, without waiting.

    See the host's method.

    :param context: auth context targeted at the cell of the server
    :param instance: the server
    :param scheduler_hint: dictionary with the destination
    :param block_migration: see the host's method
    :param disk_over_commit: see the host's method
    :param request_spec: see the host's method
    """
    with _handed_over(context, instance, scheduler_hint) as hint:
        return _host_live_migrate_instance(
            self,
            context,
            instance,
            hint,
            block_migration,
            disk_over_commit,
            request_spec,
        )


def migrate_server(
    self,
    context,
    instance,
    scheduler_hint,
    live,
    rebuild,
    flavor,
    block_migration,
    disk_over_commit,
    reservations=None,
    clean_shutdown=True,
    request_spec=None,
    host_list=None,
    do_cast=False,
):
    """Ask nova-conductor for a migration of any kind, and wait.

    See the host's method. Before microversion 2.34 live migrations come this
    way, too.

    :param context: auth context targeted at the cell of the server
    :param instance: the server
    :param scheduler_hint: dictionary with the destination
    :param live: whether it is a live migration
    :param rebuild: see the host's method
    :param flavor: see the host's method
    :param block_migration: see the host's method
    :param disk_over_commit: see the host's method
    :param reservations: see the host's method
    :param clean_shutdown: see the host's method
    :param request_spec: see the host's method
    :param host_list: see the host's method
    :param do_cast: see the host's method
    """
    with contextlib.ExitStack() as stack:
        if live:
            scheduler_hint = stack.enter_context(
                _handed_over(context, instance, scheduler_hint)
            )
        return _host_migrate_server(
            self,
            context,
            instance,
            scheduler_hint,
            live,
            rebuild,
            flavor,
            block_migration,
            disk_over_commit,
            reservations=reservations,
            clean_shutdown=clean_shutdown,
            request_spec=request_spec,
            host_list=host_list,
            do_cast=do_cast,
        )


@contextlib.contextmanager
def _handed_over(context, instance, hint: dict) -> Iterator[dict]:
    made = _request.get()
    migration = made and _made(context, instance, hint.get('host'))
    if not migration:
        yield hint
        return
    try:
        yield dict(hint, **{handed.HINT: migration.uuid})
    except messaging.MessagingTimeout:
        # The request may be on its way.
        raise
    except Exception:
        _delete(migration)
        raise
    made.migration = migration


def _made(
    context, instance: objects.Instance, host: str | None
) -> objects.Migration | None:
    """Make the migration, if somebody takes it over."""
    if not endpoint.conductor_takes_migrations(context):
        return None
    try:
        _settle(context, instance)
        migration = objects.Migration(context=context.elevated())
        migration.dest_compute = host
        migration.status = 'accepted'
        migration.hidden = True
        migration.instance_uuid = instance.uuid
        migration.source_compute = instance.host
        migration.migration_type = fields.MigrationType.LIVE_MIGRATION
        migration.old_instance_type_id = instance.instance_type_id
        migration.new_instance_type_id = instance.instance_type_id
        migration.create()
    except Exception:
        # The migration itself does not need it.
        LOG.warning(
            'No Location can be answered: the record of the live migration '
            'could not be made.',
            instance=instance,
            exc_info=True,
        )
        return None
    return migration


def _settle(context, instance: objects.Instance) -> None:
    rows = migrations_of(context, instance.uuid)
    for row in rows:
        if row.hidden and row.status == 'accepted':
            instead = facts.successor(row.id, rows)
            if instead is None:
                row.status = 'error'
            else:
                for name in _OUTCOME:
                    setattr(row, name, getattr(instead, name))
            row.save()


def migrations_of(context, instance_uuid: str) -> list[objects.Migration]:
    """Return the live migrations of a server, hidden ones as well.

    :param context: auth context targeted at the cell of the server
    :param instance_uuid: UUID of the server
    """
    return list(
        objects.MigrationList.get_by_filters(
            context.elevated(),
            {
                'instance_uuid': instance_uuid,
                'migration_type': fields.MigrationType.LIVE_MIGRATION,
            },
        )
    )


def _delete(migration: objects.Migration) -> None:
    try:
        _delete_row(migration._context, migration.id)
    except Exception:
        LOG.warning(
            'Migration %s was not handed over and could not be deleted.',
            migration.uuid,
            exc_info=True,
        )


@db.pick_context_manager_writer
def _delete_row(context, migration_id: int) -> None:
    context.session.query(models.Migration).filter_by(
        id=migration_id, status='accepted', hidden=True
    ).delete()

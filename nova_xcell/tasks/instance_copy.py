# SPDX-License-Identifier: Apache-2.0
"""The record of a server, written to another cell at once (XC-06, XC-30).

All of it is written in one transaction, with a number of statements that does
not depend on how much there is.
"""

from __future__ import annotations

from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exc
from oslo_log import log as logging
import sqlalchemy as sa
from sqlalchemy import orm

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.conductor.tasks import cross_cell_migrate
from nova.db.main import api as db

from nova_xcell import exception
from nova_xcell.tasks import records

LOG = logging.getLogger(__name__)

#: What the host has loaded on the copy when it has made one. Not the migration
#: context: there is none yet, and the destination, which gets this object,
#: would believe that when it drops its claim, and when it applies it.
LOADED = (
    'device_metadata',
    'ec2_ids',
    'flavor',
    'info_cache',
    'keypairs',
    'metadata',
    'numa_topology',
    'pci_requests',
    'resources',
    'security_groups',
    'system_metadata',
    'trusted_certs',
    'vcpu_model',
)

#: Tables in which every server has one row.
ONE_EACH = ('instance_extra', 'instance_info_caches')


class TargetDBSetupTask(cross_cell_migrate.TargetDBSetupTask):
    """Copies rows instead of creating objects one by one.

    The host's method reads the events of each action with a query, and writes
    each record in a transaction of its own. What it copies depends on what
    the server's object has loaded. Its rollback, which deletes the copy, is
    inherited.
    """

    def _execute(self):
        """Write the hidden copy; does not call the host's method.

        :returns: Instance and Migration of the target cell
        :raises: nova.exception.MigrationPreCheckError if the cell has a
            record of the server already
        """
        LOG.debug(
            'Copying the records of the server to cell %s.',
            self.target_ctx.cell_uuid,
            instance=self.instance,
        )
        rows = adapt(records.read(self.context, self.instance.uuid))
        if not rows['instances']:
            raise nova_exception.InstanceNotFound(
                instance_id=self.instance.uuid
            )
        try:
            self._target_cell_instance, migration = write(
                self.target_ctx,
                self.instance.uuid,
                rows,
                self.source_migration.uuid,
            )
        except exception.RecordInTheWay as exc:
            # The host shows only errors of its own to the user.
            raise nova_exception.MigrationPreCheckError(
                reason=exception.one_line(exc)
            ) from exc
        return self._target_cell_instance, migration


def adapt(rows: records.Rows) -> records.Rows:
    """Return the rows as they are to stand in the other cell.

    :param rows: the rows of the source cell
    """
    adapted = dict(rows)
    adapted['instances'] = [
        # Until the move is over only the source's record is shown.
        {**row, 'hidden': True}
        for row in rows['instances']
    ]
    adapted['instance_extra'] = [
        # One of an earlier move. Its numbers are those of the source cell.
        {**row, 'migration_context': None}
        for row in rows['instance_extra']
    ]
    for name in ONE_EACH:
        if not adapted[name]:
            adapted[name] = [
                {'instance_uuid': row['uuid']} for row in rows['instances']
            ]
    return adapted


@oslo_db_api.wrap_db_retry(max_retries=5, retry_on_deadlock=True)
def write(
    context: nova_context.RequestContext,
    instance_uuid: str,
    rows: records.Rows,
    migration_uuid: str,
) -> tuple[objects.Instance, objects.Migration]:
    """Write the copy of a server; all of it or nothing.

    :param context: context aimed at the target cell
    :param instance_uuid: the server
    :param rows: what to write
    :param migration_uuid: the migration that is going on
    :returns: the server and the migration as the target cell has them
    :raises: :class:`~nova_xcell.exception.RecordInTheWay`
    """
    try:
        with db.get_context_manager(context).writer.using(context) as session:
            _refuse_leftover(session, context, instance_uuid)
            db._validate_unique_server_name(
                context, rows['instances'][0]['hostname'] or ''
            )
            for name in records.BY_SERVER:
                if name != records.ACTIONS:
                    records.insert(session, name, rows[name])
            records.insert_history(
                session,
                instance_uuid,
                rows[records.ACTIONS],
                rows[records.EVENTS],
            )
            db.ec2_instance_create(context, instance_uuid)
            # Read inside, so that an error here leaves nothing either.
            instance = objects.Instance.get_by_uuid(
                context, instance_uuid, expected_attrs=list(LOADED)
            )
            # Some of what is loaded counts as changed.
            instance.obj_reset_changes(recursive=True)
            return instance, objects.Migration.get_by_uuid(
                context, migration_uuid
            )
    except db_exc.DBDuplicateEntry as exc:
        raise exception.RecordInTheWay(
            cell=context.cell_uuid,
            server=instance_uuid,
            what='a record with the same %s' % ', '.join(exc.columns or ()),
            todo='find and delete what an earlier move left there (%s)'
            % exc.value,
        ) from exc


def _refuse_leftover(
    session: orm.Session,
    context: nova_context.RequestContext,
    instance_uuid: str,
) -> None:
    """Look for a record of the server before anything is written.

    :raises: :class:`~nova_xcell.exception.RecordInTheWay`
    """
    instances = records.table('instances')
    row = session.execute(
        sa.select(
            instances.c.id,
            instances.c.host,
            instances.c.hidden,
            instances.c.deleted,
        ).where(instances.c.uuid == instance_uuid)
    ).first()
    if row is None:
        return
    if row.deleted:
        kind = 'a soft-deleted record'
        todo = (
            'run "nova-manage db archive_deleted_rows" for that cell, then '
            'try again'
        )
    elif row.hidden:
        kind = 'a hidden record'
        todo = (
            'make sure that no other move of the server is going on and that '
            'its guest is not on that host, delete the record there with all '
            'that belongs to it, then try again'
        )
    else:
        kind = 'a visible record'
        todo = 'find out which cell has the guest before anything else'
    raise exception.RecordInTheWay(
        cell=context.cell_uuid,
        server=instance_uuid,
        what='%s (id %d, host %s)' % (kind, row.id, row.host),
        todo=todo,
    )

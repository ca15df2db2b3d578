# SPDX-License-Identifier: Apache-2.0
"""The compute API's part in live migrations that can be followed."""

from __future__ import annotations

from nova import exception
from nova import objects

from nova_xcell.api import refusal
from nova_xcell.live import facts


class HostInAnotherCell(exception.ComputeHostNotFound):
    """A host that exists, but not where the server can go.

    The host's controllers answer its base class with 400 and the message.
    """

    msg_fmt = (
        'Host %(host)s is in another cell than the server; a server can be '
        'live-migrated within its cell only.'
    )


class LiveMigrations:
    """Goes before the host's compute API."""

    def live_migrate(
        self,
        context,
        instance,
        block_migration,
        disk_over_commit,
        host_name,
        force=None,
        async_=False,
    ):
        """Live-migrate a server.

        See the host's method. It looks the host up in the server's cell only.

        :param context: auth context of the request
        :param instance: the server
        :param block_migration: see the host's method
        :param disk_over_commit: see the host's method
        :param host_name: the host that is named, or None
        :param force: see the host's method
        :param async_: see the host's method
        :raises: :class:`HostInAnotherCell`
        """
        try:
            return super().live_migrate(
                context,
                instance,
                block_migration,
                disk_over_commit,
                host_name,
                force=force,
                async_=async_,
            )
        except exception.ComputeHostNotFound as exc:
            if host_name and refusal.is_in_another_cell(
                context, instance, host_name
            ):
                raise HostInAnotherCell(host=host_name) from exc
            raise

    def get_migrations_in_progress_by_instance(
        self, context, instance_uuid, migration_type=None
    ):
        """Return the migrations of a server that are in progress.

        See the host's method, which forgets those in post-copy.

        :param context: auth context targeted at the cell of the server
        :param instance_uuid: UUID of the server
        :param migration_type: only those of this type
        """
        found = super().get_migrations_in_progress_by_instance(
            context, instance_uuid, migration_type
        )
        filters = {'instance_uuid': instance_uuid, 'status': facts.POST_COPY}
        if migration_type:
            filters['migration_type'] = migration_type
        listed = {migration.id for migration in found}
        forgotten = objects.MigrationList.get_by_filters(context, filters)
        return objects.MigrationList(
            objects=list(found)
            + [
                migration
                for migration in forgotten
                if migration.id not in listed
            ]
        )

    def get_migrations_sorted(
        self,
        context,
        filters,
        sort_dirs=None,
        sort_keys=None,
        limit=None,
        marker=None,
    ):
        """Return a page of migrations.

        See the host's method. It takes hidden ones out when the page is full,
        and a short page ends the list for the client.

        :param context: auth context of the request
        :param filters: which of them
        :param sort_dirs: see the host's method
        :param sort_keys: see the host's method
        :param limit: how many to return at most
        :param marker: uuid of the migration before the first
        """
        return super().get_migrations_sorted(
            context,
            {'hidden': False, **filters},
            sort_dirs=sort_dirs,
            sort_keys=sort_keys,
            limit=limit,
            marker=marker,
        )

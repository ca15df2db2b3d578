# SPDX-License-Identifier: Apache-2.0
"""Migrations of all cells, sorted and in pages, each of them once (XC-07).

The host filters and pages in each cell, and takes one of two records of a
migration out afterwards: a page is short then, which ends the list for the
client, a filter may fit only the record that is out of date, and the second
record may come on a later page.
"""

from __future__ import annotations

from nova import context as nova_context
from nova import exception
from nova import objects
from nova.compute import migration_list
from nova.compute import multi_cell_list
from nova.db.main import api as db

from nova_xcell.views import hidden


class MigrationLister(migration_list.MigrationLister):
    """Leaves the migrations of hidden records out, in each cell.

    The host's module finds it under the name of its own class.
    """

    def __init__(self, sort_keys, sort_dirs):
        # That of the host's class names the class in super(), and would find
        # this one.
        multi_cell_list.CrossCellLister.__init__(
            self, migration_list.MigrationSortContext(sort_keys, sort_dirs)
        )

    def get_by_filters(self, ctx, filters, limit, marker, **kwargs):
        """Return migrations of a cell, as many as asked for if there are.

        :param ctx: auth context targeted at the cell
        :param filters: see the host's method
        :param limit: how many to return at most
        :param marker: uuid of the migration before the first
        :returns: rows of the database
        """
        found: list = []
        while True:
            page = super().get_by_filters(
                ctx, filters, limit=limit, marker=marker, **kwargs
            )
            stale = hidden.servers(ctx, (row.instance_uuid for row in page))
            found += (row for row in page if row.instance_uuid not in stale)
            if not limit or len(page) < limit:
                return found
            if len(found) >= limit:
                return found[:limit]
            marker = page[-1].uuid

    def get_marker_record(self, ctx, marker):
        """Return the record that the client has seen, and its cell.

        The host takes the cell that answers first.

        :param ctx: auth context of the request
        :param marker: uuid of a migration
        :returns: uuid of the cell and row of the database
        :raises: nova.exception.MarkerNotFound
        """
        cell_uuid, record = super().get_marker_record(ctx, marker)
        try:
            cell = objects.InstanceMapping.get_by_instance_uuid(
                ctx.elevated(), record.instance_uuid
            ).cell_mapping
        except exception.InstanceMappingNotFound:
            cell = None
        if cell is None or cell.uuid == cell_uuid:
            return cell_uuid, record
        try:
            with nova_context.target_cell(ctx, cell) as cctxt:
                return cell.uuid, db.migration_get_by_uuid(cctxt, marker)
        except exception.MigrationNotFound:
            return cell_uuid, record

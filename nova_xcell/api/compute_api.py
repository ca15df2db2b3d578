# SPDX-License-Identifier: Apache-2.0
"""The API's side of moves: refuse at once, and say why (XC-22, XC-26).

A server that has ports with a resource request (XC-24) is not offered other
cells by the host, and a nova-conductor without the plug-ins must not move it
to one. So the request itself does not allow it; that it may is written where
only a nova-conductor with the plug-ins looks, see
:mod:`nova_xcell.tasks.task_manager`.
"""

from __future__ import annotations

import collections
import contextvars
import dataclasses

from oslo_log import log as logging

from nova import objects
from nova import servicegroup
from nova.compute import api
from nova.i18n import _

from nova_xcell import action_events
from nova_xcell.api import refusal
from nova_xcell.tasks import endpoint
from nova_xcell.tasks import obstacles
from nova_xcell.views import hidden

LOG = logging.getLogger(__name__)

#: Event of an instance action: the move was not offered other cells; the
#: details say why.
STAY_EVENT = 'api_stay_in_cell'


@dataclasses.dataclass
class _Request:
    """A resize or migration on its way through the host's method."""

    flavor_id: str | None
    host: str | None
    found: tuple[obstacles.Obstacle, ...] = ()


_request: contextvars.ContextVar[_Request | None] = contextvars.ContextVar(
    'nova_xcell_resize', default=None
)
_has_files: contextvars.ContextVar[bool] = contextvars.ContextVar(
    'nova_xcell_personality', default=False
)


class API(api.API):
    """The host's compute API; controllers find it under that name."""

    def resize(
        self,
        context,
        instance,
        flavor_id=None,
        clean_shutdown=True,
        host_name=None,
        auto_disk_config=None,
    ):
        """Resize or migrate a server.

        See the host's method, which asks :meth:`_allow_cross_cell_resize`
        without telling what the request is about. Whoever may move servers to
        another cell is told if this one has to stay (XC-24).

        :param context: auth context of the request
        :param instance: the server
        :param flavor_id: the flavor it gets; None in a migration
        :param clean_shutdown: see the host's method
        :param host_name: the host that is named for a migration
        :param auto_disk_config: see the host's method
        """
        request = _Request(flavor_id, host_name)
        token = _request.set(request)
        try:
            answer = super().resize(
                context,
                instance,
                flavor_id=flavor_id,
                clean_shutdown=clean_shutdown,
                host_name=host_name,
                auto_disk_config=auto_disk_config,
            )
        finally:
            _request.reset(token)
        if request.found:
            action_events.record(
                instance._context,
                instance,
                STAY_EVENT,
                obstacles.summary(request.found),
            )
        return answer

    def _allow_cross_cell_resize(self, context, instance, min_comp_ver):
        """Tell whether a request may move the server to another cell.

        :param context: auth context of the request
        :param instance: the server
        :param min_comp_ver: service version of the oldest nova-compute
        :returns: False also if the server could not be moved
        :raises: :class:`~nova_xcell.api.refusal.CrossCellMoveRefused` if it
            cannot, and the request names a host of another cell
        """
        allowed = super()._allow_cross_cell_resize(
            context, instance, min_comp_ver
        )
        if not allowed and not refusal.is_permitted(context, instance):
            return allowed
        request = _request.get() or _Request(None, None)
        if request.host and not refusal.is_in_another_cell(
            context, instance, request.host
        ):
            # It goes there or nowhere.
            return allowed
        flavor = instance.flavor
        if request.flavor_id:
            flavor = objects.Flavor.get_by_flavor_id(
                context, request.flavor_id, read_deleted='no'
            )
        found = refusal.find(
            context, instance, flavor, self.network_api, min_comp_ver
        )
        if not found:
            if not allowed:
                # There are the ports left, which the host takes exception to.
                instance.system_metadata[obstacles.PORTS_MAY_MOVE] = (
                    context.request_id
                )
            return allowed
        if request.host:
            raise refusal.CrossCellMoveRefused(
                reason=_('Host %(host)s is in another cell. %(reason)s')
                % {'host': request.host, 'reason': obstacles.summary(found)}
            )
        LOG.info(
            'Not offering other cells. %s',
            obstacles.summary(found),
            instance=instance,
        )
        request.found = found
        return False

    @staticmethod
    def _validate_host_for_cold_migrate(
        context, instance, host_name, allow_cross_cell_resize
    ):
        """Return the node of a host that is named for a migration.

        See the host's method.

        :param context: auth context of the request
        :param instance: the server
        :param host_name: the host
        :param allow_cross_cell_resize: whether it may be in another cell
        """
        return super(API, API)._validate_host_for_cold_migrate(
            context,
            instance,
            host_name,
            allow_cross_cell_resize
            or obstacles.ports_may_move(
                context.request_id, instance.system_metadata
            ),
        )

    @staticmethod
    def _get_source_compute_service(context, migration):
        """Return the service that has to be up for a confirm (XC-18).

        A conductor with the plug-ins does not need the source of a move that
        crosses cells: the server's own host stands in for one that is down.

        :param context: auth context targeted at the cell of the server
        :param migration: nova.objects.Migration to be confirmed
        :returns: nova.objects.Service
        """
        source = super(API, API)._get_source_compute_service(
            context, migration
        )
        if (
            not migration.cross_cell_move
            or servicegroup.API().service_is_up(source)
            or not endpoint.ConductorXcellAPI().has_plugins(context)
        ):
            return source
        LOG.warning(
            'Confirming without host %s, which is down.',
            migration.source_compute,
            instance_uuid=migration.instance_uuid,
        )
        return objects.Service.get_by_compute_host(
            context, migration.dest_compute
        )

    def evacuate(
        self,
        context,
        instance,
        host,
        on_shared_storage,
        admin_password=None,
        force=None,
        target_state=None,
    ):
        """Evacuate a server, but not to a host of another cell.

        The host's method notices too late, when the server is in its task.

        :param context: auth context of the request
        :param instance: the server
        :param host: the host that is named, or None
        :param on_shared_storage: see the host's method
        :param admin_password: see the host's method
        :param force: see the host's method
        :param target_state: see the host's method
        :raises: :class:`~nova_xcell.api.refusal.CrossCellMoveRefused`
        """
        if host and refusal.is_in_another_cell(context, instance, host):
            raise refusal.CrossCellMoveRefused(
                reason=_(
                    'Host %s is in another cell than the server; a server '
                    'can be evacuated within its cell only.'
                )
                % host
            )
        return super().evacuate(
            context,
            instance,
            host,
            on_shared_storage,
            admin_password=admin_password,
            force=force,
            target_state=target_state,
        )

    def _check_injected_file_quota(self, context, injected_files):
        """Check the quota, and note whether there are personality files.

        :param context: auth context of the request
        :param injected_files: the files of a server that is created
        """
        _has_files.set(bool(injected_files))
        super()._check_injected_file_quota(context, injected_files)

    def _populate_instance_names(self, instance, num_instances, index):
        """Finish the record of a new server with what else is known of it.

        :param instance: the record, not created yet
        :param num_instances: see the host's method
        :param index: see the host's method
        """
        super()._populate_instance_names(instance, num_instances, index)
        if _has_files.get():
            instance.system_metadata[obstacles.HAS_PERSONALITY] = 'True'

    def get_migrations(self, context, filters):
        """Return the migrations of all cells, each of them once (XC-07).

        See the host's method. Newer microversions come through
        :mod:`nova_xcell.views.migration_list`.

        :param context: auth context of the request
        :param filters: which of them
        """
        by_cell = collections.defaultdict(list)
        for migration in super().get_migrations(context, filters):
            # The host lists cell by cell, each with a context of its own.
            by_cell[migration._context.cell_uuid].append(migration)
        found = {}
        for migrations in by_cell.values():
            stale = hidden.servers(
                migrations[0]._context,
                {migration.instance_uuid for migration in migrations},
            )
            for migration in migrations:
                if migration.instance_uuid not in stale:
                    # For a moment neither record is hidden.
                    found.setdefault(migration.uuid, migration)
        return objects.MigrationList(objects=list(found.values()))

# SPDX-License-Identifier: Apache-2.0
"""Calls to the hosts of a move, whose time-outs mean "unknown" (XC-19).

The host's tasks roll back when a call fails. A call that was not answered in
time has not failed: the other side may be in the middle of it. So it is asked
until it is certain what it did, and only that goes to the task.
"""

from __future__ import annotations

import contextlib
import time
import typing as ty

from oslo_log import log as logging
import oslo_messaging as messaging
from oslo_utils import timeutils

from nova import exception as nova_exception
from nova import objects
from nova import servicegroup
from nova import utils
from nova.compute import rpcapi
import nova.conf

from nova_xcell import exception
from nova_xcell.compute import endpoint
from nova_xcell.compute import work
from nova_xcell.tasks import timeouts

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

#: Seconds between two questions to a host that is still at work.
POLL_INTERVAL = 1.0


class ComputeAPI(rpcapi.ComputeAPI):
    """The host's client, patient with the steps of a move.

    Each call raises what the host's raises, and instead of a time-out
    :class:`~nova_xcell.exception.RemoteWorkFailed` or, if the host cannot be
    asked, :class:`~nova_xcell.exception.OutcomeUnknown`. A host that is down
    is not called: :class:`~nova_xcell.exception.HostDown`. An object belongs
    to one task.

    :param ping: whether a host has to answer a short question first. One that
        has just died still counts as up, and would be waited for as long as
        a step may take.
    """

    def __init__(self, ping: bool = False) -> None:
        super().__init__()
        self._ping = ping
        self._timeout: int | None = None

    @property
    def router(self):
        """See the host's property; its clients wait as long as a step may."""
        router = super().router
        if self._timeout is None:
            return router
        return timeouts.Router(router, self._timeout)

    def prep_snapshot_based_resize_at_dest(self, ctxt, instance, *args):
        """See the host's method.

        What its time-out means is for who tries the next host to find out,
        see :mod:`nova_xcell.tasks.dest_host`.
        """
        with self._waiting('prep_snapshot_based_resize_at_dest'):
            return super().prep_snapshot_based_resize_at_dest(
                ctxt, instance, *args
            )

    def prep_snapshot_based_resize_at_source(
        self, ctxt, instance, migration, snapshot_id=None
    ):
        """See the host's method."""
        with _driven(instance):
            return self._patiently(
                ctxt,
                instance,
                migration,
                migration.source_compute,
                'prep_snapshot_based_resize_at_source',
                lambda: super(
                    ComputeAPI, self
                ).prep_snapshot_based_resize_at_source(
                    ctxt, instance, migration, snapshot_id
                ),
                disk_gb=_carried_gb(instance, snapshot_id),
            )

    def finish_snapshot_based_resize_at_dest(
        self, ctxt, instance, migration, snapshot_id, request_spec
    ):
        """See the host's method."""
        return self._patiently(
            ctxt,
            instance,
            migration,
            migration.dest_compute,
            'finish_snapshot_based_resize_at_dest',
            lambda: super(
                ComputeAPI, self
            ).finish_snapshot_based_resize_at_dest(
                ctxt, instance, migration, snapshot_id, request_spec
            ),
            disk_gb=_carried_gb(instance, snapshot_id),
        )

    def confirm_snapshot_based_resize_at_source(
        self, ctxt, instance, migration
    ):
        """See the host's method."""
        return self._patiently(
            ctxt,
            instance,
            migration,
            migration.source_compute,
            'confirm_snapshot_based_resize_at_source',
            lambda: super(
                ComputeAPI, self
            ).confirm_snapshot_based_resize_at_source(
                ctxt, instance, migration
            ),
        )

    def revert_snapshot_based_resize_at_dest(self, ctxt, instance, migration):
        """See the host's method."""
        return self._patiently(
            ctxt,
            instance,
            migration,
            migration.dest_compute,
            'revert_snapshot_based_resize_at_dest',
            lambda: super(
                ComputeAPI, self
            ).revert_snapshot_based_resize_at_dest(ctxt, instance, migration),
        )

    def finish_revert_snapshot_based_resize_at_source(
        self, ctxt, instance, migration
    ):
        """See the host's method."""
        return self._patiently(
            ctxt,
            instance,
            migration,
            migration.source_compute,
            'finish_revert_snapshot_based_resize_at_source',
            lambda: super(
                ComputeAPI, self
            ).finish_revert_snapshot_based_resize_at_source(
                ctxt, instance, migration
            ),
        )

    def _patiently(
        self,
        ctxt,
        instance: objects.Instance,
        migration: objects.Migration,
        host: str,
        operation: str,
        call: ty.Callable[[], ty.Any],
        disk_gb: int = 0,
    ) -> ty.Any:
        if not is_up(ctxt, host) or (self._ping and not _answers(ctxt, host)):
            # A message would wait in its queue for long_rpc_timeout.
            raise exception.HostDown(host=host, operation=operation)
        try:
            with self._waiting(operation, disk_gb):
                return _once_more_if_refused(call)
        except messaging.RemoteError as exc:
            if _is_refusal(exc):
                raise exception.RemoteWorkRefused(
                    operation=operation, host=host
                )
            raise
        except messaging.MessagingException as exc:
            LOG.warning(
                'Host %s did not answer in time to %s (%s); asking what '
                'became of it.',
                host,
                operation,
                exc,
                instance=instance,
            )
        state = outcome(ctxt, instance, migration.uuid, host, operation)
        if state == work.DONE:
            LOG.info(
                'Host %s has done its part of the move.',
                host,
                instance=instance,
            )
            return None
        if state == work.REFUSED:
            raise exception.RemoteWorkRefused(operation=operation, host=host)
        raise exception.RemoteWorkFailed(
            operation=operation, host=host, state=state
        )

    def _waiting(
        self, operation: str, disk_gb: int = 0
    ) -> ty.ContextManager[None]:
        """Let the host's method wait as long as an operator has said."""
        return utils.temporary_mutation(
            self, _timeout=timeouts.seconds(CONF, operation, disk_gb)
        )


def _once_more_if_refused(call: ty.Callable[[], ty.Any]) -> ty.Any:
    """Call a host; once more if it refuses, as it does what came too late.

    If the request that was given up never came, the host takes the next one
    for it; see :mod:`nova_xcell.compute.work`.
    """
    try:
        return call()
    except messaging.RemoteError as exc:
        if not _is_refusal(exc):
            raise
    return call()


def _is_refusal(exc: messaging.RemoteError) -> bool:
    return exc.exc_type == exception.WorkRefused.__name__


@contextlib.contextmanager
def _driven(instance: objects.Instance) -> ty.Iterator[None]:
    """Tell a host in the request that somebody ends the move if it fails."""
    instance.system_metadata[work.DRIVEN] = 'True'
    instance.obj_reset_changes(['system_metadata'])
    try:
        yield
    finally:
        del instance.system_metadata[work.DRIVEN]
        instance.obj_reset_changes(['system_metadata'])


def _carried_gb(instance: objects.Instance, snapshot_id: str | None) -> int:
    # Without a snapshot the root disk is a volume, and stays where it is.
    return instance.flavor.root_gb if snapshot_id else 0


def outcome(
    ctxt,
    instance: objects.Instance,
    migration_uuid: str,
    host: str,
    operation: str,
) -> str:
    """Wait until it is certain how a step of a move ended on its host.

    :param ctxt: the context that the step was asked for with
    :param instance: the server's record in the cell of the host
    :param migration_uuid: UUID of the migration
    :param host: name of the compute host
    :param operation: name of the host's method
    :returns: DONE, FAILED or REFUSED of :mod:`nova_xcell.compute.work`
    :raises: :class:`~nova_xcell.exception.OutcomeUnknown` if the host has not
        told for ``[xcell] settle_timeout``
    """
    xcell_api = endpoint.ComputeXcellAPI()
    timer = timeutils.StopWatch(CONF.xcell.settle_timeout).start()
    while True:
        state = _ask(
            ctxt, xcell_api, instance, migration_uuid, host, operation
        )
        if state == work.RUNNING:
            # However long it takes; a large disk does.
            timer.restart()
        elif state is not None:
            return state
        if timer.expired():
            raise exception.OutcomeUnknown(host=host, operation=operation)
        time.sleep(POLL_INTERVAL)


def _ask(
    ctxt, xcell_api, instance, migration_uuid, host, operation
) -> str | None:
    try:
        return xcell_api.settle(
            ctxt, host, migration_uuid, ctxt.request_id, operation
        )
    except exception.PeerWithoutPlugin:
        return _recorded(ctxt, instance, host, operation)
    except messaging.MessagingException as exc:
        LOG.debug('Host %s: %s', host, exc, instance=instance)
        return None


def _recorded(ctxt, instance, host: str, operation: str) -> str | None:
    """Return what the events of the action say, for a plain host."""
    action = objects.InstanceAction.get_by_request_id(
        ctxt, instance.uuid, ctxt.request_id
    )
    events = (
        objects.InstanceActionEventList.get_by_action(ctxt, action.id)
        if action
        else ()
    )
    for event in events:
        if event.event == 'compute_%s' % operation and event.host == host:
            if event.finish_time:
                return work.DONE if event.result == 'Success' else work.FAILED
            return work.RUNNING
    return None


def _answers(ctxt, host: str) -> bool:
    try:
        endpoint.ComputeXcellAPI().ping(ctxt, host)
    except exception.PeerWithoutPlugin:
        return True
    except messaging.MessagingException:
        return False
    return True


def is_up(ctxt, host: str) -> bool:
    """Tell whether the nova-compute of a host reports.

    :param ctxt: auth context targeted at the cell of the host
    :param host: its name
    """
    try:
        service = objects.Service.get_by_compute_host(ctxt, host)
    except nova_exception.ComputeHostNotFound:
        return False
    return servicegroup.API().service_is_up(service)

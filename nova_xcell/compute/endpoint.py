# SPDX-License-Identifier: Apache-2.0
"""RPC calls between plug-ins: server side in nova-compute, and the client.

The host's own RPC interfaces stay as they are; these calls have a namespace
and a version of their own.
"""

import oslo_messaging as messaging

from nova import rpc
from nova.compute import rpcapi as compute_rpcapi
from nova.objects import base as objects_base

from nova_xcell import exception

NAMESPACE = 'xcell'
VERSION = '1.1'


class XcellEndpoint:
    """What a nova-compute with the plug-ins answers.

    1.0  ping, abandon_prep_at_dest
    1.1  settle, running, power_state, power_on
    """

    target = messaging.Target(namespace=NAMESPACE, version=VERSION)

    def __init__(self, manager) -> None:
        self.manager = manager

    def ping(self, ctxt):
        """Answer; that is all.

        :param ctxt: auth context
        """

    def abandon_prep_at_dest(
        self, ctxt, instance, flavor, nodename, migration_uuid
    ):
        """Take back the preparation of a move to this host.

        :param ctxt: auth context
        :param instance: nova.objects.Instance of this cell
        :param flavor: the flavor that was to be claimed
        :param nodename: name of the compute node
        :param migration_uuid: UUID of the migration
        :returns: True if nothing of the move is left on this host; False if
            the preparation is still running, ask again
        """
        if not self.manager.xcell_preparations.abandon(migration_uuid):
            return False
        self.manager.xcell_drop_claim_at_dest(
            ctxt, instance, flavor, nodename, migration_uuid
        )
        return True

    def settle(self, ctxt, migration_uuid, request_id, operation):
        """Say what became of a step of a move; one not begun never will.

        :param ctxt: auth context
        :param migration_uuid: UUID of the migration
        :param request_id: of the context that the step was asked for with
        :param operation: name of the host's method
        :returns: a state of :mod:`nova_xcell.compute.work`
        """
        return self.manager.xcell_work.settle(
            migration_uuid, request_id, operation
        )

    def running(self, ctxt, migration_uuid):
        """Return the names of the steps of a move that run on this host.

        :param ctxt: auth context
        :param migration_uuid: UUID of the migration
        """
        return self.manager.xcell_work.running(migration_uuid)

    def power_state(self, ctxt, instance):
        """Return the power state of a guest, None if there is none.

        :param ctxt: auth context
        :param instance: nova.objects.Instance of this cell
        """
        return self.manager.xcell_power_state(instance)

    def power_on(self, ctxt, instance):
        """Power a guest on that a move has powered off.

        :param ctxt: auth context
        :param instance: nova.objects.Instance of this cell
        """
        self.manager.xcell_power_on(ctxt, instance)


class ComputeXcellAPI:
    """Client of :class:`XcellEndpoint`.

    Every method takes an auth context targeted at the cell of the host and
    the host's name, and raises oslo_messaging.MessagingTimeout or
    :class:`~nova_xcell.exception.PeerWithoutPlugin`.
    """

    def __init__(self) -> None:
        target = messaging.Target(
            topic=compute_rpcapi.RPC_TOPIC,
            namespace=NAMESPACE,
            version=VERSION,
        )
        self.router = rpc.ClientRouter(
            rpc.get_client(
                target, serializer=objects_base.NovaObjectSerializer()
            )
        )

    def ping(self, ctxt, host):
        """See :meth:`XcellEndpoint.ping`."""
        self._call(ctxt, host, 'ping')

    def abandon_prep_at_dest(
        self, ctxt, host, instance, flavor, nodename, migration_uuid
    ):
        """See :meth:`XcellEndpoint.abandon_prep_at_dest`."""
        return self._call(
            ctxt,
            host,
            'abandon_prep_at_dest',
            instance=instance,
            flavor=flavor,
            nodename=nodename,
            migration_uuid=migration_uuid,
        )

    def settle(self, ctxt, host, migration_uuid, request_id, operation):
        """See :meth:`XcellEndpoint.settle`."""
        return self._call(
            ctxt,
            host,
            'settle',
            migration_uuid=migration_uuid,
            request_id=request_id,
            operation=operation,
        )

    def running(self, ctxt, host, migration_uuid):
        """See :meth:`XcellEndpoint.running`."""
        return self._call(ctxt, host, 'running', migration_uuid=migration_uuid)

    def power_state(self, ctxt, host, instance):
        """See :meth:`XcellEndpoint.power_state`."""
        return self._call(ctxt, host, 'power_state', instance=instance)

    def power_on(self, ctxt, host, instance):
        """See :meth:`XcellEndpoint.power_on`."""
        self._call(ctxt, host, 'power_on', instance=instance)

    def _call(self, ctxt, host, method, **kwargs):
        cctxt = self.router.client(ctxt).prepare(server=host)
        try:
            return cctxt.call(ctxt, method, **kwargs)
        except messaging.UnsupportedVersion:
            raise exception.PeerWithoutPlugin(host=host)
        except messaging.RemoteError as exc:
            # What the server raises for an unknown namespace or method.
            if exc.exc_type in ('UnsupportedVersion', 'NoSuchMethod'):
                raise exception.PeerWithoutPlugin(host=host)
            raise

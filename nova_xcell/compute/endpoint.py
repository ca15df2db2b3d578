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
VERSION = '1.0'


class XcellEndpoint:
    """What a nova-compute with the plug-ins answers.

    1.0  ping, abandon_prep_at_dest
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

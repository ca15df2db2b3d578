# SPDX-License-Identifier: Apache-2.0
"""RPC calls between plug-ins: server side in nova-compute, and the client.

The host's own RPC interfaces stay as they are; these calls have a namespace
and a version of their own.
"""

from __future__ import annotations

import oslo_messaging as messaging

from nova.compute import rpcapi as compute_rpcapi
from nova.objects import base as objects_base
from nova import rpc

from nova_xcell import exception

NAMESPACE = 'xcell'
VERSION = '1.0'


class XcellEndpoint:
    """What a nova-compute with the plug-ins answers.

    1.0  abandon_prep_at_dest
    """

    target = messaging.Target(namespace=NAMESPACE, version=VERSION)

    def __init__(self, manager) -> None:
        self.manager = manager

    def abandon_prep_at_dest(
            self, ctxt, instance, flavor, nodename, migration):
        """Take back the preparation of a move to this host.

        :param ctxt: auth context
        :param instance: nova.objects.Instance of this cell
        :param flavor: the flavor that was to be claimed
        :param nodename: name of the compute node
        :param migration: nova.objects.Migration of this cell
        :returns: True if nothing of the move is left on this host; False if
            the preparation is still running, ask again
        """
        if not self.manager.xcell_preparations.abandon(migration.uuid):
            return False
        self.manager.xcell_drop_claim_at_dest(
            ctxt, instance, flavor, nodename, migration)
        return True


class ComputeXcellAPI:
    """Client of :class:`XcellEndpoint`."""

    def __init__(self) -> None:
        target = messaging.Target(
            topic=compute_rpcapi.RPC_TOPIC, namespace=NAMESPACE,
            version=VERSION)
        self.router = rpc.ClientRouter(rpc.get_client(
            target, serializer=objects_base.NovaObjectSerializer()))

    def abandon_prep_at_dest(
            self, ctxt, host, instance, flavor, nodename, migration):
        """See :meth:`XcellEndpoint.abandon_prep_at_dest`.

        :param ctxt: auth context targeted at the cell of the host
        :param host: name of the compute host to ask
        :raises: :class:`~nova_xcell.exception.PeerWithoutPlugin`,
            oslo_messaging.MessagingTimeout
        """
        cctxt = self.router.client(ctxt).prepare(server=host)
        try:
            return cctxt.call(
                ctxt, 'abandon_prep_at_dest', instance=instance,
                flavor=flavor, nodename=nodename, migration=migration)
        except messaging.UnsupportedVersion:
            raise exception.PeerWithoutPlugin(host=host)
        except messaging.RemoteError as exc:
            # What the server raises for an unknown namespace or method.
            if exc.exc_type in ('UnsupportedVersion', 'NoSuchMethod'):
                raise exception.PeerWithoutPlugin(host=host)
            raise

# SPDX-License-Identifier: Apache-2.0
"""RPC calls to nova-conductor between plug-ins: server side, and the client.

As in :mod:`nova_xcell.compute.endpoint`, with a namespace of their own.
"""

import oslo_messaging as messaging

from nova import rpc
from nova.conductor import rpcapi as conductor_rpcapi

NAMESPACE = 'xcell'
VERSION = '1.0'


class XcellEndpoint:
    """What a nova-conductor with the plug-ins answers.

    1.0  ping
    """

    target = messaging.Target(namespace=NAMESPACE, version=VERSION)

    def ping(self, ctxt):
        """Answer; that is all.

        :param ctxt: auth context
        """


class ConductorXcellAPI:
    """Client of :class:`XcellEndpoint` in the conductor of nova-api."""

    def __init__(self) -> None:
        self.client = rpc.get_client(
            messaging.Target(
                topic=conductor_rpcapi.RPC_TOPIC,
                namespace=NAMESPACE,
                version=VERSION,
            )
        )

    def has_plugins(self, ctxt) -> bool:
        """Tell whether nova-conductor brings every move to an end.

        :param ctxt: auth context
        :returns: what the conductor says that takes the question; False if
            none answers
        """
        try:
            self.ask(ctxt, 'ping')
        except messaging.MessagingException:
            return False
        return True

    def ask(self, ctxt, question: str, timeout: int | None = None) -> None:
        """Ask what a nova-conductor answers if it can do something.

        :param ctxt: auth context
        :param question: name of a method without arguments
        :param timeout: seconds to wait; None stands for the host's option
        :raises: oslo_messaging.MessagingException if none answers
        """
        self.client.prepare(timeout=timeout).call(ctxt, question)

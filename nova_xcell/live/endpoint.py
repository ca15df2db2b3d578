# SPDX-License-Identifier: Apache-2.0
"""The question whether nova-conductor takes migrations over.

A second endpoint beside that of :mod:`nova_xcell.tasks.endpoint`, with the
same namespace and version: each feature has its own, and the conductor may
have one of them only.
"""

from __future__ import annotations

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_xcell.tasks import endpoint

LOG = logging.getLogger(__name__)

#: Seconds to wait for nova-conductor: the caller waits as long, and only does
#: without a Location then.
TIMEOUT = 10


class LiveMigrationEndpoint:
    """What a nova-conductor with this feature answers.

    1.0  takes_migrations
    """

    target = messaging.Target(
        namespace=endpoint.NAMESPACE, version=endpoint.VERSION
    )

    def takes_migrations(self, ctxt):
        """Answer; that is all.

        :param ctxt: auth context
        """


def conductor_takes_migrations(ctxt) -> bool:
    """Tell whether nova-conductor takes over what nova-api has made.

    :param ctxt: auth context
    :returns: what the conductor says that takes the question; False if none
        answers
    """
    try:
        endpoint.ConductorXcellAPI().ask(ctxt, 'takes_migrations', TIMEOUT)
    except Exception as exc:
        # Whatever it is, the migration itself does not need the answer.
        LOG.debug('nova-conductor takes no migrations over: %s', exc)
        return False
    return True

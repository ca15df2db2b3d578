# SPDX-License-Identifier: Apache-2.0
"""Events that the plug-ins add to the instance action of a request."""

from __future__ import annotations

from oslo_log import log as logging
from oslo_utils import timeutils

from nova import objects
import nova.conf

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


def record(
    context,
    instance: objects.Instance,
    event: str,
    details: str,
    result: str = 'Success',
) -> None:
    """Add an event; if that fails the log has it, and the request goes on.

    :param context: auth context of the request, targeted at the cell of the
        server
    :param instance: the server
    :param event: name of the event
    :param details: what it says
    :param result: ``Success`` or ``Error``
    """
    now = timeutils.utcnow()
    try:
        objects.InstanceActionEvent(
            context,
            event=event,
            host=CONF.host,
            start_time=now,
            finish_time=now,
            result=result,
            details=details,
        ).create(instance.uuid, context.request_id)
    except Exception:
        LOG.warning(
            'Event %s could not be recorded in the instance action; it says: '
            '%s',
            event,
            details,
            instance=instance,
            exc_info=True,
        )

# SPDX-License-Identifier: Apache-2.0
"""Notifications about what the plug-ins finish instead of the host (XC-21)."""

from __future__ import annotations

from nova import rpc
from nova.compute import utils as compute_utils
import nova.conf
from nova.objects import fields

from nova_xcell.tasks import goal
from nova_xcell.tasks import move as xcell_move

CONF = nova.conf.CONF

#: Names of what a user decides, in both kinds of notification.
_DECISIONS = {
    goal.Goal.CONFIRM: (
        'resize.confirm',
        fields.NotificationAction.RESIZE_CONFIRM,
    ),
    goal.Goal.REVERT: (
        'resize.revert',
        fields.NotificationAction.RESIZE_REVERT,
    ),
}


def decision_ends(move: xcell_move.Move, wanted: goal.Goal) -> None:
    """Send what the host sends when a confirm or a revert is finished.

    See the host's ConfirmResizeTask and RevertResizeTask.

    :param move: the move, at its end
    :param wanted: where it had to go; nothing is sent for what no user decides
    """
    instance = move.home.instance
    if instance is None or wanted not in _DECISIONS:
        return
    event, action = _DECISIONS[wanted]
    phase = fields.NotificationPhase.END
    compute_utils.notify_about_instance_usage(
        rpc.get_notifier('compute'),
        instance._context,
        instance,
        '%s.%s' % (event, phase),
    )
    compute_utils.notify_about_instance_action(
        instance._context, instance, CONF.host, action=action, phase=phase
    )

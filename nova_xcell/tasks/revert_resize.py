# SPDX-License-Identifier: Apache-2.0
"""The revert of a resize, which keeps what was done meanwhile (XC-14, XC-20).

The host's task writes to the source cell how volumes were attached and
detached, and the action of the revert itself. Here is the rest.
"""

from __future__ import annotations

from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects

from nova_xcell.tasks import history
from nova_xcell.tasks import move as xcell_move
from nova_xcell.tasks import revert_data
from nova_xcell.tasks import services
from nova_xcell.tasks import swap

LOG = logging.getLogger(__name__)


class RevertResizeTask(swap.RevertResizeTask):
    """Brings the source's record up to date before the server goes back.

    Each step can be run again.
    """

    def _update_instance_in_source_cell(self, instance):
        """Bring back what was changed on the server.

        :param instance: Instance of the source cell, saved by the host's
            method
        :returns: Migration of the source cell
        """
        revert_data.bring_back(instance, self.context)
        return super()._update_instance_in_source_cell(instance)

    def _update_bdms_in_source_cell(self, source_cell_context):
        """Bring back how volumes were changed, and not only which.

        :param source_cell_context: context aimed at the source cell
        """
        super()._update_bdms_in_source_cell(source_cell_context)
        # Both cells have the same devices now.
        changed = {
            bdm.uuid: bdm
            for bdm in objects.BlockDeviceMappingList.get_by_instance_uuid(
                self.context, self.instance.uuid
            )
        }
        for bdm in objects.BlockDeviceMappingList.get_by_instance_uuid(
            source_cell_context, self.instance.uuid
        ):
            if bdm.uuid in changed:
                self._bring_back_device(bdm, changed[bdm.uuid])

    def _bring_back_device(
        self,
        bdm: objects.BlockDeviceMapping,
        changed: objects.BlockDeviceMapping,
    ) -> None:
        before = revert_data.bring_back_device(bdm, changed)
        if before is not None:
            LOG.debug(
                'Volume %(before)s was swapped for %(now)s while the server '
                'was resized.',
                {'before': before, 'now': bdm.volume_id},
                instance=self.instance,
            )
            self._release(bdm, before)
            # That of the target's host is deleted by the revert there.
            bdm.attachment_id = self.volume_api.attachment_create(
                bdm._context, bdm.volume_id, self.instance.uuid
            )['id']
        if bdm.obj_what_changed():
            bdm.save()

    def _release(
        self, bdm: objects.BlockDeviceMapping, volume_id: str
    ) -> None:
        """Delete the attachment that keeps a volume for the source."""
        if not bdm.attachment_id:
            return
        try:
            self.volume_api.attachment_delete(bdm._context, bdm.attachment_id)
        except nova_exception.VolumeAttachmentNotFound:
            # By an earlier run.
            return
        except Exception:
            LOG.exception(
                'Attachment %(attachment)s of volume %(volume)s, which was '
                'swapped while the server was resized, could not be deleted; '
                'delete it.',
                {'attachment': bdm.attachment_id, 'volume': volume_id},
                instance=self.instance,
            )

    def _update_instance_actions_in_source_cell(self, source_cell_context):
        """Bring back every action with its events, and faults.

        The revert is one of them. The host's method, which writes only that
        one and would write it twice, is not called.

        :param source_cell_context: context aimed at the source cell
        """
        history.bring(self.context, source_cell_context, self.instance.uuid)


def show_at_source(move: xcell_move.Move, clients: services.Services) -> None:
    """Write what has changed at the target to the source, and show it there.

    The first half of the host's task, for one that was interrupted in it.

    :param move: the move; the user has decided to revert it
    :param clients: of the services
    """
    source, target = move.source, move.target
    target.migration.status = 'reverting'
    target.migration.save()
    task = RevertResizeTask(
        target.context,
        target.instance,
        target.migration,
        # Nothing is sent here.
        legacy_notifier=None,
        compute_rpcapi=clients.compute,
    )
    task._update_instance_in_source_cell(source.instance)
    task._update_instance_mapping(source.instance, source.cell)
    move.refresh()

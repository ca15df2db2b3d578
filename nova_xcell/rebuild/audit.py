# SPDX-License-Identifier: Apache-2.0
"""Find what failed rebuilds of a plain host have left, and mend it.

It works on records only, with Cinder and Placement. What is on a host is made
anew when the user rebuilds the server.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import dataclasses

from oslo_log import log as logging

from nova import block_device
from nova import exception as nova_exception
from nova import objects
from nova import utils
from nova.scheduler.client import report
from nova.volume import cinder

from nova_xcell.rebuild import allocating
from nova_xcell.rebuild import before
from nova_xcell.rebuild import leftovers
from nova_xcell.rebuild import refusals
from nova_xcell.tasks import cells

LOG = logging.getLogger(__name__)

#: Action of a request to rebuild.
ACTION = 'rebuild'
_PAGE = 100


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that is wrong with a server.

    :ivar context: targeted at the cell of the server
    :ivar server: UUID of the server; None if a cell cannot be looked at
    :ivar status: state of the server
    :ivar leftover: what it is; None if the server cannot be looked at
    :ivar waits: why nothing can be done about it, or None
    """

    context: object
    server: str | None
    status: str | None
    leftover: leftovers.Leftover | None
    waits: str | None


class Auditor:
    """Looks at all servers that were rebuilt.

    :param context: admin context
    """

    def __init__(self, context) -> None:
        self.context = context
        self.volume_api = cinder.API()
        self.placement = report.report_client_singleton()

    def findings(
        self, watch: Callable[[str], None] | None = None
    ) -> Iterator[Finding]:
        """Find what is wrong.

        :param watch: called with the UUID of each server that is looked at
        """
        for cell in cells.each(self.context):
            context = cells.targeted(self.context, cell)
            try:
                yield from self._of_cell(context, watch)
            except Exception as exc:
                LOG.warning(
                    'The servers of cell %s cannot be looked at: %s',
                    cell.identity,
                    exc,
                )
                yield Finding(
                    context,
                    server=None,
                    status=None,
                    leftover=None,
                    waits='cell %s: %s' % (cell.identity, exc),
                )

    def heal(self, finding: Finding) -> str | None:
        """Mend something.

        :param finding: what can be mended
        :returns: why that was not possible; it can be tried again then. None
            if it was, or if it is not there any more.
        """
        try:
            self._heal(finding)
        except Exception as exc:
            LOG.exception(
                'What a rebuild of server %s has left could not be mended.',
                finding.server,
            )
            return '%s: %s' % (type(exc).__name__, exc)
        return None

    def _of_cell(
        self, context, watch: Callable[[str], None] | None
    ) -> Iterator[Finding]:
        marker = None
        while True:
            page = objects.InstanceList.get_by_filters(
                context,
                {'deleted': False},
                expected_attrs=['system_metadata'],
                limit=_PAGE,
                marker=marker,
            )
            for instance in page:
                if watch:
                    watch(instance.uuid)
                if instance.host and _was_rebuilt(context, instance):
                    yield from self._of_server(context, instance)
            if len(page) < _PAGE:
                return
            marker = page[-1].uuid

    def _of_server(
        self, context, instance: objects.Instance
    ) -> Iterator[Finding]:
        try:
            found = leftovers.of(self._server(context, instance))
        except Exception as exc:
            yield Finding(
                context, instance.uuid, instance.vm_state, None, str(exc)
            )
            return
        for leftover in found:
            yield Finding(
                context,
                instance.uuid,
                instance.vm_state,
                leftover,
                leftover.waits,
            )

    def _server(self, context, instance: objects.Instance) -> leftovers.Server:
        attached = self.volume_api.attachment_get_all(
            context, instance_id=instance.uuid
        )
        return leftovers.Server(
            uuid=instance.uuid,
            vm_state=instance.vm_state,
            task_state=instance.task_state,
            has_allocations=bool(
                self.placement.get_allocations_for_consumer(
                    context, instance.uuid
                )
            ),
            image_ref=instance.image_ref,
            images=(
                instance.system_metadata.get('image_base_image_ref'),
                _image_of_spec(context, instance),
            ),
            devices=tuple(self._devices(context, instance)),
            attachments=tuple(
                leftovers.Attachment(
                    attachment['id'],
                    attachment.get('volume_id'),
                    attachment.get('status') == 'reserved',
                )
                for attachment in attached
            ),
        )

    def _devices(
        self, context, instance: objects.Instance
    ) -> Iterator[leftovers.Device]:
        for bdm in _volumes(context, instance):
            volume = self.volume_api.get(context, bdm.volume_id)
            yield leftovers.Device(
                bdm.volume_id,
                bdm.attachment_id,
                bdm.is_root,
                volume['status'],
                refusals.image_of(volume),
            )

    def _heal(self, finding: Finding) -> None:
        context = finding.context
        instance = objects.Instance.get_by_uuid(
            context, finding.server, expected_attrs=['system_metadata']
        )
        leftover = finding.leftover
        if leftover not in leftovers.of(self._server(context, instance)):
            return
        if leftover.problem is leftovers.Problem.ALLOCATIONS:
            allocating.allocate(context, instance, self.placement)
        elif leftover.problem is leftovers.Problem.STALE:
            self.volume_api.attachment_delete(context, leftover.thing)
        elif leftover.problem is leftovers.Problem.MISSING:
            self._reserve(context, instance, leftover.thing)
        elif leftover.problem is leftovers.Problem.IMAGE:
            self._store_image(context, instance, leftover.thing)

    def _reserve(
        self, context, instance: objects.Instance, volume_id: str
    ) -> None:
        (bdm,) = (
            bdm
            for bdm in _volumes(context, instance)
            if bdm.volume_id == volume_id
        )
        bdm.attachment_id = self.volume_api.attachment_create(
            context, volume_id, instance.uuid
        )['id']
        bdm.connection_info = None
        bdm.save()

    def _store_image(
        self, context, instance: objects.Instance, volume_id: str
    ) -> None:
        """Store of the image what Cinder has of it (VR-09)."""
        volume = self.volume_api.get(context, volume_id)
        image = block_device.get_image_metadata_from_volume(volume)
        image_id = refusals.image_of(volume)
        properties = image['properties']
        stored = utils.get_system_metadata_from_image(image, instance.flavor)
        stored[utils.SM_IMAGE_PROP_PREFIX + 'base_image_ref'] = image_id or ''
        before.exchange_image(instance, stored)
        instance.image_ref = ''
        for name in ('architecture', 'os_type', 'vm_mode'):
            setattr(instance, name, properties.get(name))
        for name in ('kernel_id', 'ramdisk_id'):
            setattr(instance, name, properties.get(name) or '')
        instance.save(expected_task_state=[None])
        spec = objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
        spec.image = objects.ImageMeta.from_dict({**image, 'id': image_id})
        spec.save()


def _was_rebuilt(context, instance: objects.Instance) -> bool:
    return any(
        action.action == ACTION
        for action in objects.InstanceActionList.get_by_instance_uuid(
            context, instance.uuid
        )
    )


def _volumes(
    context, instance: objects.Instance
) -> list[objects.BlockDeviceMapping]:
    return [
        bdm
        for bdm in objects.BlockDeviceMappingList.get_by_instance_uuid(
            context, instance.uuid
        )
        if bdm.is_volume and bdm.volume_id
    ]


def _image_of_spec(context, instance: objects.Instance) -> str | None:
    try:
        spec = objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
    except nova_exception.RequestSpecNotFound:
        return None
    image = spec.image
    return image.id if image and 'id' in image else None

# SPDX-License-Identifier: Apache-2.0
"""ComputeTaskManager that leaves a server alone if it has no host (VR-02).

The host's method puts a server in ERROR if the scheduler refuses to have it
rebuilt, though nobody has touched it.
"""

from __future__ import annotations

import contextvars
import dataclasses

from oslo_log import log as logging

from nova import objects

from nova_xcell.rebuild import before

LOG = logging.getLogger(__name__)


@dataclasses.dataclass
class _Rebuild:
    """A rebuild that no host has been asked for yet.

    :ivar image_ref: image that the server's record had
    :ivar is_settled: whether the server was given back what it had
    """

    instance: objects.Instance
    image_ref: str | None
    orig_sys_metadata: dict[str, str]
    is_settled: bool = False


_current: contextvars.ContextVar[_Rebuild | None] = contextvars.ContextVar(
    'nova_xcell_rebuild_task', default=None
)


class Rebuilds:
    """Goes before the host's ComputeTaskManager."""

    def rebuild_instance(
        self,
        context,
        instance,
        orig_image_ref,
        image_ref,
        injected_files,
        new_pass,
        orig_sys_metadata,
        bdms,
        recreate,
        on_shared_storage,
        preserve_ephemeral=False,
        host=None,
        request_spec=None,
        reimage_boot_volume=False,
        target_state=None,
    ):
        """Find out whether a server can be rebuilt, and have that done.

        See the host's method for the parameters.

        :raises: what the host's method raises
        """
        rebuild = None
        if not recreate:
            rebuild = _Rebuild(
                instance,
                before.recorded_image(instance, orig_image_ref),
                orig_sys_metadata or {},
            )
        token = _current.set(rebuild)
        try:
            return super().rebuild_instance(
                context,
                instance,
                orig_image_ref,
                image_ref,
                injected_files,
                new_pass,
                orig_sys_metadata,
                bdms,
                recreate,
                on_shared_storage,
                preserve_ephemeral=preserve_ephemeral,
                host=host,
                request_spec=request_spec,
                reimage_boot_volume=reimage_boot_volume,
                target_state=target_state,
            )
        except Exception as exc:
            # The host is asked last, so it has not been. Of most errors the
            # host's method takes no notice: the server would be in its task
            # for good.
            if rebuild and not rebuild.is_settled:
                self._set_vm_state_and_notify(
                    # In the cell of the server.
                    instance._context,
                    instance.uuid,
                    'rebuild_server',
                    {'vm_state': instance.vm_state, 'task_state': None},
                    exc,
                    request_spec,
                )
            raise
        finally:
            _current.reset(token)

    def _set_vm_state_and_notify(
        self, context, instance_uuid, method, updates, ex, request_spec
    ):
        """Note why something was not done to a server.

        See the host's method. One that was to be rebuilt stays what it was.

        :param context: auth context targeted at the cell of the server
        :param instance_uuid: UUID of the server
        :param method: what was not done
        :param updates: what the server's record gets
        :param ex: the reason
        :param request_spec: nova.objects.RequestSpec or a dict
        """
        rebuild = _current.get()
        if rebuild and rebuild.instance.uuid == instance_uuid:
            rebuild.is_settled = True
            updates = dict(updates, vm_state=rebuild.instance.vm_state)
            try:
                before.put_back(
                    context,
                    rebuild.instance,
                    rebuild.image_ref,
                    rebuild.orig_sys_metadata,
                )
            except Exception:
                LOG.exception(
                    'The record of the server keeps what a rebuild that was '
                    'not done has changed.',
                    instance=rebuild.instance,
                )
        super()._set_vm_state_and_notify(
            context, instance_uuid, method, updates, ex, request_spec
        )

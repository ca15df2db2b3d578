# SPDX-License-Identifier: Apache-2.0
"""nova-api hands over what a server was before a rebuild."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import contextvars

from nova.conductor import rpcapi

from nova_xcell.rebuild import before

# What the host has; looked up before the seam replaces it.
_host_rebuild_instance = rpcapi.ComputeTaskAPI.rebuild_instance

_noted: contextvars.ContextVar[str | None] = contextvars.ContextVar(
    'nova_xcell_before_rebuild', default=None
)


@contextlib.contextmanager
def over(noted: str) -> Iterator[None]:
    """Let the rebuild that is asked for within take a note along.

    :param noted: see :func:`nova_xcell.rebuild.before.collect`
    """
    token = _noted.set(noted)
    try:
        yield
    finally:
        _noted.reset(token)


def rebuild_instance(
    self,
    ctxt,
    instance,
    new_pass,
    injected_files,
    image_ref,
    orig_image_ref,
    orig_sys_metadata,
    bdms,
    recreate=False,
    on_shared_storage=False,
    host=None,
    preserve_ephemeral=False,
    request_spec=None,
    reimage_boot_volume=False,
    target_state=None,
):
    """Ask nova-conductor for a rebuild or an evacuation.

    See the host's method for the parameters. The class cannot be extended: it
    names itself in super().
    """
    noted = _noted.get()
    if noted and not recreate:
        orig_sys_metadata = {**(orig_sys_metadata or {}), before.KEY: noted}
    return _host_rebuild_instance(
        self,
        ctxt,
        instance,
        new_pass,
        injected_files,
        image_ref,
        orig_image_ref,
        orig_sys_metadata,
        bdms,
        recreate=recreate,
        on_shared_storage=on_shared_storage,
        host=host,
        preserve_ephemeral=preserve_ephemeral,
        request_spec=request_spec,
        reimage_boot_volume=reimage_boot_volume,
        target_state=target_state,
    )

# SPDX-License-Identifier: Apache-2.0
"""The rebuild that nova-compute works on, for the host's methods in between.

They hand on neither what the server was before nor how far the work is.
"""

from __future__ import annotations

import contextvars
import dataclasses

from nova_xcell.rebuild import outcomes
from nova_xcell.rebuild import root_volume


@dataclasses.dataclass
class Rebuild:
    """A rebuild of a server where it is.

    :ivar image_ref: image that the server's record had
    :ivar orig_sys_metadata: see the host's method
    :ivar was_in_error: whether the server was in ERROR when it began
    :ivar obstacle: what keeps it from beginning
    :ivar has_begun: whether the work on the server has
    :ivar content: what is on the root disk
    :ivar was_running: whether the guest was, if it was switched off
    :ivar root: the root volume once it is touched
    """

    image_ref: str | None
    orig_sys_metadata: dict[str, str]
    was_in_error: bool
    obstacle: Exception | None = None
    has_begun: bool = False
    content: outcomes.Content = outcomes.Content.OLD
    was_running: bool = False
    root: root_volume.RootVolume | None = None


#: None outside of rebuilds, and in one that is left to the host.
rebuild: contextvars.ContextVar[Rebuild | None] = contextvars.ContextVar(
    'nova_xcell_rebuild', default=None
)

# SPDX-License-Identifier: Apache-2.0
"""A weigher that makes the embedded cloud's choice of hosts predictable."""

from __future__ import annotations

import re
from typing import Any

from nova.scheduler import weights


class HostOrderWeigher(weights.BaseHostWeigher):
    """Prefer host1 to host2, host2 to host3, and so on."""

    def weight_multiplier(self, host_state: Any) -> float:
        """Rank this weigher among the others.

        :param host_state: the host to be weighed
        :returns: more than the host's ordinary weighers have together, far
            less than the million that the cross-cell weigher has
        """
        return 1000.0

    def _weigh_object(self, host_state: Any, weight_properties: Any) -> float:
        number = re.search(r'\d+$', host_state.host)
        return -float(number.group()) if number else 0.0

# SPDX-License-Identifier: Apache-2.0
"""How many servers a host counts, by state and project (XC-33).

The resource tracker finds this module under the name of the host's.
"""

from __future__ import annotations

from nova.compute import stats


class Stats(stats.Stats):
    """Does not count the hidden record of a server.

    What the server may need again after a revert is claimed all the same.
    """

    def update_stats_for_instance(self, instance, is_removed=False):
        """Count a server, or count it no more.

        :param instance: the server
        :param is_removed: it is gone
        """
        super().update_stats_for_instance(
            instance, is_removed=is_removed or instance.hidden
        )

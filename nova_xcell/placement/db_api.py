# SPDX-License-Identifier: Apache-2.0
"""Stands for ``placement.db_api`` in the handler of reshapes."""

from collections.abc import Callable

from placement import db_api as host_db_api

from nova_xcell.placement import transaction


class _ContextManager:
    """What the handler begins its transaction with."""

    @staticmethod
    def writer(function: Callable) -> Callable:
        """Run a function in a transaction, which may lose a race.

        :param function: takes the context of the request
        """
        return transaction.conflicts(
            host_db_api.placement_context_manager.writer(function)
        )


placement_context_manager = _ContextManager()

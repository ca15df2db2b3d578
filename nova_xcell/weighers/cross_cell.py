# SPDX-License-Identifier: Apache-2.0
"""CrossCellWeigher with cells that drain or attract (XC-03)."""

from __future__ import annotations

from oslo_log import log as logging

from nova import context as nova_context
from nova import objects
import nova.conf
from nova.scheduler import host_manager
from nova.scheduler.weights import cross_cell as host_weigher

from nova_xcell.weighers import cells

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


class CrossCellWeigher(host_weigher.CrossCellWeigher):
    """The host's weigher, and the weights of ``[xcell] cell_weights``.

    It takes the place of the host's class of the same name, so that lists of
    weighers in the operator's configuration keep working. See spec
    cross-cell-resize, section "Scheduler".
    """

    def __init__(self) -> None:
        super().__init__()
        self._cell_names: dict[str, str] = {}

    def _weigh_object(self, host_state, weight_properties):
        """Weigh a host for a move; 0 for every other operation.

        :param host_state: nova.scheduler.host_manager.HostState
        :param weight_properties: nova.objects.RequestSpec
        :returns: float, higher wins
        """
        base, cell_weight = self._judge(host_state, weight_properties)
        if not cell_weight:
            return base
        return cells.score(
            base, cell_weight, self.weight_multiplier(host_state)
        )

    def weigh_objects(self, weighed_obj_list, weight_properties):
        """Weigh hosts, looking at each cell once.

        The host's method is not called: it weighs every host anew, though
        only the host's cell matters.

        :param weighed_obj_list: the hosts, as objects with ``obj``
        :param weight_properties: nova.objects.RequestSpec
        :returns: a weight for each
        """
        of_cells: dict[str, tuple[float, float]] = {}
        weights = []
        for weighed in weighed_obj_list:
            host_state = weighed.obj
            cell = host_state.cell_uuid
            if cell not in of_cells:
                of_cells[cell] = self._judge(host_state, weight_properties)
            base, cell_weight = of_cells[cell]
            if cell_weight:
                base = cells.score(
                    base, cell_weight, self.weight_multiplier(host_state)
                )
            weights.append(base)
        return weights

    def _judge(
        self,
        host_state: host_manager.HostState,
        weight_properties: objects.RequestSpec,
    ) -> tuple[float, float]:
        """Return what the host says of a cell, and the weight of the cell."""
        base = super()._weigh_object(host_state, weight_properties)
        if not base or not CONF.xcell.cell_weights:
            return base, 0.0
        return base, self._cell_weight(host_state.cell_uuid)

    def _cell_weight(self, cell_uuid: str) -> float:
        weights = cells.parse(CONF.xcell.cell_weights)
        if cell_uuid in weights:
            return weights[cell_uuid]
        if cell_uuid not in self._cell_names:
            self._load_cell_names(weights)
        return weights.get(self._cell_names.get(cell_uuid, ''), 0.0)

    def _load_cell_names(self, weights: dict[str, float]) -> None:
        """Read the names of the cells; again when a cell appears."""
        try:
            mappings = objects.CellMappingList.get_all(
                nova_context.get_admin_context()
            )
        except Exception:
            # Not worth failing a request for; the next one tries again.
            LOG.warning(
                'The names of the cells could not be read; only cells '
                'that [xcell] cell_weights names by uuid have their '
                'weight.',
                exc_info=True,
            )
            return
        self._cell_names = {
            mapping.uuid: mapping.name or '' for mapping in mappings
        }
        known = {*self._cell_names, *self._cell_names.values()}
        for cell in sorted(set(weights) - known):
            LOG.warning(
                '[xcell] cell_weights names %s, but there is no cell '
                'of that name or uuid; the weight has no effect.',
                cell,
            )

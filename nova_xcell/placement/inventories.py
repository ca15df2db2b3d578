# SPDX-License-Identifier: Apache-2.0
"""Writes the inventories of many providers."""

from collections.abc import Collection
from collections.abc import Mapping
import typing as ty

from oslo_log import log as logging
from oslo_utils import timeutils
import sqlalchemy as sa

from placement import context as host_context
from placement.db.sqlalchemy import models
from placement.objects import inventory as inv_obj
from placement.objects import resource_provider as rp_obj

from nova_xcell.placement import decisions
from nova_xcell.placement import statements

LOG = logging.getLogger(__name__)

_TABLE = models.Inventory.__table__
_ALLOCATIONS = models.Allocation.__table__

_COLUMNS = (
    'total',
    'reserved',
    'min_unit',
    'max_unit',
    'step_size',
    'allocation_ratio',
)


class Inventories:
    """What a request says of inventories, on the way to the database.

    :param ctx: the context of the request, in a transaction
    :param wanted: new inventories by provider
    :raises: placement.exception.ResourceClassNotFound
    """

    def __init__(
        self,
        ctx: host_context.RequestContext,
        wanted: Mapping[rp_obj.ResourceProvider, Collection],
    ) -> None:
        self.ctx = ctx
        self.providers = {provider.id: provider for provider in wanted}
        self.wanted: dict[int, dict[int, inv_obj.Inventory]] = {
            provider.id: {
                ctx.rc_cache.id_from_string(new.resource_class): new
                for new in inventories
            }
            for provider, inventories in wanted.items()
        }
        #: Rows by provider's and class id.
        self._stored: dict[int, dict[int, ty.Any]] = {}
        self._changes: dict[int, decisions.InventoryChange] = {}

    def write(self) -> None:
        """Write all but what goes away, which may be in use still."""
        self._read()
        statements.insert(
            self.ctx.session,
            _TABLE,
            [
                {
                    'resource_provider_id': provider,
                    'resource_class_id': class_id,
                    # The host writes a new one twice.
                    'updated_at': timeutils.utcnow(),
                    **_values(self.wanted[provider][class_id]),
                }
                for provider, change in self._changes.items()
                for class_id in change.add
            ],
        )
        self._update()

    def _read(self) -> None:
        self._stored = {provider: {} for provider in self.wanted}
        for row in statements.select_in(
            self.ctx.session,
            sa.select(
                _TABLE.c.id,
                _TABLE.c.resource_provider_id,
                _TABLE.c.resource_class_id,
                *(_TABLE.c[name] for name in _COLUMNS),
            ),
            _TABLE.c.resource_provider_id,
            self.wanted,
        ):
            self._stored[row.resource_provider_id][row.resource_class_id] = row
        self._changes = {
            provider: decisions.inventory_change(self._stored[provider], after)
            for provider, after in self.wanted.items()
        }

    def _update(self) -> None:
        values = {
            self._stored[provider][class_id].id: (
                self._stored[provider][class_id],
                _values(self.wanted[provider][class_id]),
            )
            for provider, change in self._changes.items()
            for class_id in change.update
        }
        for ids in decisions.chunks(values):
            columns: dict[str, ty.Any] = {}
            for name in _COLUMNS:
                changed = {
                    key: values[key][1][name]
                    for key in ids
                    if values[key][1][name] != getattr(values[key][0], name)
                }
                if changed:
                    columns[name] = statements.by_id(
                        _TABLE, _TABLE.c[name], changed
                    )
            # Placement shows when an inventory was last written.
            self.ctx.session.execute(
                _TABLE.update()
                .where(_TABLE.c.id.in_(ids))
                .values(updated_at=timeutils.utcnow(), **columns)
            )

    def finish(self) -> None:
        """Delete what goes away.

        :raises: placement.exception.InventoryInUse
        """
        used = self._used()
        gone = []
        for provider, change in self._changes.items():
            if any((provider, class_id) in used for class_id in change.delete):
                # Raises, and names the classes.
                rp_obj._delete_inventory_from_provider(
                    self.ctx, self.providers[provider], set(change.delete)
                )
            gone += [
                self._stored[provider][class_id].id
                for class_id in change.delete
            ]
            for class_id in change.add | change.update:
                new = self.wanted[provider][class_id]
                if used.get((provider, class_id), 0) > new.capacity:
                    LOG.warning(
                        'Provider %(uuid)s has more allocations of '
                        '%(name)s than capacity after a reshape.',
                        {
                            'uuid': self.providers[provider].uuid,
                            'name': new.resource_class,
                        },
                    )
        if gone:
            statements.execute_in(
                self.ctx.session, _TABLE.delete(), _TABLE.c.id, gone
            )

    def _used(self) -> dict[tuple[int, int], int]:
        table = _ALLOCATIONS
        rows = statements.select_in(
            self.ctx.session,
            sa.select(
                table.c.resource_provider_id,
                table.c.resource_class_id,
                sa.func.sum(table.c.used).label('used'),
            ).group_by(
                table.c.resource_provider_id, table.c.resource_class_id
            ),
            table.c.resource_provider_id,
            self.wanted,
        )
        return {
            (row.resource_provider_id, row.resource_class_id): row.used
            for row in rows
        }


def _values(inventory: inv_obj.Inventory) -> dict[str, ty.Any]:
    return {name: getattr(inventory, name) for name in _COLUMNS}

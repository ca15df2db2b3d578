# SPDX-License-Identifier: Apache-2.0
"""Stands for ``placement.handlers.util`` in the handler of reshapes."""

from collections.abc import Iterable
import typing as ty

from placement.handlers import util as host_util
from placement.objects import consumer as consumer_obj

from nova_xcell.placement import consumers as consumer_rows
from nova_xcell.placement import transaction


def update_consumers(
    consumers: Iterable[consumer_obj.Consumer],
    request_attrs: dict[str, host_util.RequestAttr],
) -> None:
    """Store what a request changes of consumers.

    :param consumers: those of the request
    :param request_attrs: what the request says of them, by UUID
    """
    consumers = list(consumers)
    generations: dict[int, int] = {}
    values: dict[str, dict[int, int]] = {
        'project_id': {},
        'user_id': {},
        'consumer_type_id': {},
    }
    for consumer in consumers:
        changes = _changes(consumer, request_attrs[consumer.uuid])
        for name, value in changes.items():
            values[name][consumer.id] = value
        if changes:
            generations[consumer.id] = consumer.generation
    if generations:
        ctx: ty.Any = consumers[0]._context
        transaction.begin(ctx)
        consumer_rows.update(ctx.session, generations, values)


def _changes(
    consumer: consumer_obj.Consumer, wanted: host_util.RequestAttr
) -> dict[str, int]:
    """Return values of columns that a request changes.

    Up to microversion 1.37 it says nothing of the type.
    """
    changes = {}
    if (
        wanted.project.external_id != consumer.project.external_id
        or wanted.user.external_id != consumer.user.external_id
    ):
        changes['project_id'] = wanted.project.id
        changes['user_id'] = wanted.user.id
    if (
        wanted.consumer_type_id
        and wanted.consumer_type_id != consumer.consumer_type_id
    ):
        changes['consumer_type_id'] = wanted.consumer_type_id
    return changes

# SPDX-License-Identifier: Apache-2.0
"""How much a cell is worth to a move: pure decisions, no host imports."""

import functools
import math

from nova_xcell import exception

#: Words an operator can use instead of a number. Their size makes the order
#: of cells, for any server: its own preferred cell, another preferred one,
#: its own, another, its own draining cell, another draining one.
NAMED_WEIGHTS = {'preferred': 3.0, 'draining': -3.0}


#: Beyond this the host's normalization of weights would lose the others.
LARGEST = 1e6


def parse(items: list[str]) -> dict[str, float]:
    """Read a value of ``[xcell] cell_weights``.

    :param items: strings CELL:WEIGHT
    :returns: weight by the name or uuid of the cell
    :raises: :class:`~nova_xcell.exception.InvalidCellWeight`
    """
    return dict(_parse(tuple(items)))


@functools.lru_cache(maxsize=8)
def _parse(items: tuple[str, ...]) -> dict[str, float]:
    # The weigher asks for every host of every request.
    weights: dict[str, float] = {}
    for item in items:
        cell, colon, word = (part.strip() for part in item.rpartition(':'))
        if not colon or not cell:
            raise exception.InvalidCellWeight(
                item=item, reason='there is no CELL:'
            )
        if cell in weights:
            raise exception.InvalidCellWeight(
                item=item, reason='cell %r has a weight already' % cell
            )
        weights[cell] = _number(item, word)
    return weights


def _number(item: str, word: str) -> float:
    if word in NAMED_WEIGHTS:
        return NAMED_WEIGHTS[word]
    try:
        number = float(word)
    except ValueError:
        raise exception.InvalidCellWeight(
            item=item, reason='%r is not a weight' % word
        )
    if not math.isfinite(number) or abs(number) > LARGEST:
        raise exception.InvalidCellWeight(
            item=item,
            reason='the weight is not between -%(largest)d and '
            '%(largest)d' % {'largest': LARGEST},
        )
    return number


def score(base: float, cell_weight: float, multiplier: float) -> float:
    """Return what a host scores for a move that may cross cells.

    The result is multiplied by ``multiplier`` later. A negative multiplier is
    how an operator turns the preference for the server's own cell around; the
    weights given to cells must not turn around with it.

    :param base: what the host's own weigher says (1 own cell, -1 another)
    :param cell_weight: the weight of the cell, 0 if it has none
    :param multiplier: the multiplier in force for the host
    :returns: the score; higher wins after multiplication
    """
    return base + (-cell_weight if multiplier < 0 else cell_weight)

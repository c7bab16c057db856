"""Candidate orders for trials."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Final

from eddyline.runtime.eddy.policies.accounts import Accounts
from eddyline.runtime.eddy.policies.base import Routable
from eddyline.runtime.eddy.policies.trial import Order

#: Chance in the lottery of an operator without tickets, as a share of an equal chance.
_FLOOR: Final = 0.05
_DRAWS: Final = 4


def candidates(order: Order, accounts: Accounts, rng: random.Random) -> Iterator[Order]:
    """Both ranks of the operators of ``order``, then orders by lottery and by moves."""
    yield ranked(order, accounts, by_tickets=True)
    yield ranked(order, accounts, by_tickets=False)
    for _ in range(_DRAWS):
        yield drawn(order, accounts, rng) if rng.random() < 0.5 else moved(order, rng)


def ranked(order: Order, accounts: Accounts, *, by_tickets: bool) -> Order:
    """By descending tickets, or rejected share, per price; unknown operators first."""

    def rank(operator: Routable) -> float:
        rejected = accounts.rejected(operator)
        if rejected is None:
            return math.inf
        weight = operator.predicates if by_tickets and rejected > 0.0 else 1
        return weight * rejected / accounts.price(operator)

    return tuple(sorted(order, key=rank, reverse=True))


def drawn(order: Order, accounts: Accounts, rng: random.Random) -> Order:
    """By lottery: one after the other, with chances by tickets per price."""
    left = list(order)
    chances = [accounts.tickets(o) / accounts.price(o) for o in order]
    floor = (_FLOOR * sum(chances) or 1.0) / len(chances)
    winners = []
    while left:
        (place,) = rng.choices(range(len(left)), [c + floor for c in chances])
        winners.append(left.pop(place))
        del chances[place]
    return tuple(winners)


def moved(order: Order, rng: random.Random) -> Order:
    """One operator further ahead."""
    operators = list(order)
    place = rng.randrange(1, len(operators))
    operators.insert(rng.randrange(place), operators.pop(place))
    return tuple(operators)

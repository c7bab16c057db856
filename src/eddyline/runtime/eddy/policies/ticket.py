"""The ticket scheme, for pieces of batches."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.runtime.eddy.policies.accounts import Accounts, Visit
from eddyline.runtime.eddy.policies.base import Piece, Policy, Routable
from eddyline.runtime.eddy.policies.candidates import candidates
from eddyline.runtime.eddy.policies.trial import Order, Trial

#: Minimum and maximum of rows of a batch that explore.
_LEAST_EXPLORING: Final = 32
_MOST_EXPLORING: Final = 1024
#: Number of batches in which an order that lost a trial gets no other trial.
_REST_BATCHES: Final = 16
#: Maximum number of batches without trials; a change of an operator's rejected share by this much
#: ends them.
_MOST_PAUSE: Final = 64
_CHANGED: Final = 0.1


@dataclass(frozen=True, slots=True)
class _Sent:
    """A piece of the current batch."""

    rows: int
    order: Order
    on_trial: bool


class TicketPolicy(Policy):
    """The ticket scheme of CACQ, with orders for whole pieces of a batch instead of single rows.

    An operator is given as many tickets as it applies predicates for every row that it receives,
    and gives back as many for every row that it returns. Tickets are counted per row received, so
    that an operator does not gain by being early, they lose their value with age, and none has
    less than zero.

    *The order of most rows.* For one query, filters are best visited by descending share of
    rejected rows per cost, if they are independent. With many queries there is no such rule: a row
    that one of them rejects still visits all that the others need, so what a visit spares depends
    on what follows. Ranks by tickets and by rejected share are therefore only candidates. A small
    share of the rows tries a candidate; it replaces the order in use if these rows pay less, in
    visits, than the others of the same batches. Where no rank is left to try, candidates come from
    the lottery (operators drawn one after the other, with chances by their tickets), or have one
    operator further ahead. So tickets propose, and visits decide: the rows end up within a tenth
    of the best static order, for correlated predicates as well. Each trial that is lost doubles the
    pause before the next one, as long as operators reject as many rows as they did: a piece that
    goes another way costs as much as some thousand rows.

    *Cost.* The paper pairs tickets, which find selective operators, with back-pressure, which
    avoids slow ones. Here a visit has the price of its measured seconds, in multiples of the
    cheapest operator's: ranks are per price, and rows pay prices. While seconds are alike, or 0,
    all this counts visits alone.

    Source: Madden et al. 2002, sections 3 and 4; trials are ours.

    Args:
        seed: of the lottery.
        explore: share of the rows that take a candidate's order. Small batches take turns: most
        have
            none, some have enough for those before. 0: rows keep the given order.
    """

    def __init__(self, seed: int = 0, explore: float = 0.05) -> None:
        if not 0.0 <= explore <= 0.5:
            raise ValueError(f"the share of rows that explore is 0 to 0.5, not {explore}")
        self._random = random.Random(seed)
        self._explore = explore
        self._accounts = Accounts()
        self._order: Order = ()
        self._trial: Trial | None = None
        self._lost: dict[tuple[int, ...], int] = {}  # ids of an order -> number of the batch
        self._batch = 0
        self._owed = 0.0  # rows that should have explored
        self._pause, self._resume = 0, 0  # batches without trials, and the first one with them
        self._rejected: dict[int, float] = {}  # by id of an operator, when the last trial ended
        self._sent: list[_Sent] = []
        self._seen: list[Visit] = []

    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        self._settle()
        self._meet(ready, rows)
        self._send(rows)
        return [(piece.rows, piece.order) for piece in self._sent]

    def observe(self, operator: Routable, visited: int, returned: int, seconds: float) -> None:
        self._seen.append(Visit(operator, visited, returned, seconds))

    def tickets(self) -> Mapping[str, float]:
        counts = [self._accounts.tickets(operator) for operator in self._order]
        total = sum(counts)
        shares: dict[str, float] = {}
        for operator, count in zip(self._order, counts, strict=True):
            share = count / total if total else 1.0 / len(counts)
            shares[operator.name] = shares.get(operator.name, 0.0) + share
        return shares

    def _meet(self, ready: Sequence[Routable], rows: int) -> None:
        """Add new operators at the end of the order, and a trial with them at its front."""
        self._batch += 1
        new = tuple(o for o in ready if o not in self._accounts)
        self._accounts.meet(ready, rows)
        if new or len(ready) < len(self._order):
            kept = tuple(o for o in self._order if o in self._accounts)
            self._order = (*kept, *new)
            self._lost.clear()
            self._pause = self._resume = 0
            self._trial = Trial((*new, *kept)) if new and kept else None

    def _send(self, rows: int) -> None:
        """Cut the batch into pieces."""
        exploring = self._exploring(rows)
        if exploring and self._trial is None:
            self._trial = self._next_trial()
        tried = exploring if self._trial is not None else 0
        self._sent = [_Sent(rows - tried, self._order, on_trial=False)]
        if self._trial is not None and tried:
            # at either end: the rows may come sorted
            self._sent.insert(self._random.randrange(2), _Sent(tried, self._trial.order, True))
        if tried == rows:
            self._sent = [piece for piece in self._sent if piece.on_trial] or self._sent

    def _exploring(self, rows: int) -> int:
        """How many rows of a batch take a candidate's order."""
        if len(self._order) < 2 or self._is_paused():
            return 0
        share = int(rows * self._explore)
        if share >= _LEAST_EXPLORING:
            return min(share, _MOST_EXPLORING)
        self._owed += rows * self._explore
        least = min(rows, _LEAST_EXPLORING)
        if self._owed < least or not self._explore:
            return 0
        self._owed -= least
        return least

    def _is_paused(self) -> bool:
        """Whether the last trials were lost, and operators reject as many rows as then."""
        if self._trial is not None or self._batch >= self._resume:
            return False
        for operator in self._order:
            rejected = self._accounts.rejected(operator)
            before = self._rejected.get(id(operator), rejected)
            if rejected is not None and before is not None and abs(rejected - before) > _CHANGED:
                self._pause = self._resume = 0
                self._lost.clear()
                return False
        return True

    def _next_trial(self) -> Trial | None:
        """The first candidate that is not in use and has not lost recently."""
        since = self._batch - _REST_BATCHES
        self._lost = {ids: batch for ids, batch in self._lost.items() if batch > since}
        in_use = _ids(self._order)
        for order in candidates(self._order, self._accounts, self._random):
            if _ids(order) != in_use and _ids(order) not in self._lost:
                return Trial(order)
        return None

    def _settle(self) -> None:
        """Count the observations of the last batch, and end the trial if it is decided."""
        steps, rest = divmod(len(self._seen), max(len(self._sent), 1))
        if rest == 0:  # else the batch was broken off
            for number, piece in enumerate(self._sent):
                self._book(piece, self._seen[number * steps : (number + 1) * steps])
        self._seen = []
        trial, better = self._trial, self._trial.verdict() if self._trial else None
        if trial is None or better is None:
            return
        self._trial = None
        if better:
            self._order = trial.order
            self._lost.clear()
            self._pause = 0
        else:
            self._lost[_ids(trial.order)] = self._batch
            self._pause = min(max(2 * self._pause, 1), _MOST_PAUSE)
        self._resume = self._batch + self._pause
        shares = ((id(o), self._accounts.rejected(o)) for o in self._order)
        self._rejected = {key: share for key, share in shares if share is not None}

    def _book(self, piece: _Sent, seen: Sequence[Visit]) -> None:
        """Count a piece; what follows the operators seen is reckoned from their shares."""
        for visit, operator in zip(seen, piece.order, strict=False):
            assert visit.operator is operator, "observations are in the order of the routes"
            self._accounts.book(piece.rows, visit)
        if self._trial is None or not seen:
            return
        visits = [(float(v.visited), self._accounts.price(v.operator)) for v in seen]
        left = float(seen[-1].returned)
        for operator in piece.order[len(seen) :]:
            visits.append((left, self._accounts.price(operator)))
            left *= 1.0 - (self._accounts.rejected(operator) or 0.0)
        self._trial.add(piece.rows, visits, tried=piece.on_trial)


def _ids(order: Order) -> tuple[int, ...]:
    return tuple(map(id, order))

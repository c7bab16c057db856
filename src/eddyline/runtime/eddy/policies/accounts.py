"""Decaying statistics of each operator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from eddyline.runtime.eddy.policies.base import Routable

#: Observations count half after this number of batches, or of rows if batches are small.
_HALF_LIFE_BATCHES: Final = 3
_HALF_LIFE_ROWS: Final = 512
#: Minimum number of visits for an estimate.
_LEAST_VISITED: Final = 1.0
#: Largest multiple of the expected seconds that is counted at once: longer times are mostly
#: interruptions of the process; a changed cost is observed again.
_SURPRISE: Final = 8.0
#: Passing over a row that does not need the operator, in visits.
_PASSING: Final = 1 / 16


class Visit(NamedTuple):
    """One piece of a batch at one operator (see ``Policy.observe``)."""

    operator: Routable
    visited: int
    returned: int
    seconds: float


@dataclass(slots=True)
class _Account:
    operator: Routable
    visited: float = 0.0
    returned: float = 0.0
    offered: float = 0.0
    seconds: float = 0.0

    def age(self, keep: float) -> None:
        self.visited *= keep
        self.returned *= keep
        self.offered *= keep
        self.seconds *= keep

    def book(self, offered: int, visit: Visit) -> None:
        """Count a piece of ``offered`` rows."""
        expected = self.seconds_per_row * (visit.visited + _PASSING * offered)
        self.visited += visit.visited
        self.returned += visit.returned
        self.offered += offered
        self.seconds += min(visit.seconds, _SURPRISE * expected) if expected else visit.seconds

    @property
    def known(self) -> bool:
        return self.visited >= _LEAST_VISITED

    @property
    def rejected(self) -> float:
        return 1.0 - self.returned / self.visited

    @property
    def seconds_per_row(self) -> float:
        return self.seconds / (self.visited + _PASSING * self.offered) if self.known else 0.0


class Accounts:
    """Decaying counts of visits, returns and seconds, by operator."""

    def __init__(self) -> None:
        self._accounts: dict[int, _Account] = {}
        self._cheapest: float | None = 0.0  # seconds per row; None: not computed

    def meet(self, ready: Iterable[Routable], rows: int) -> None:
        """Begin a batch: counts decay; operators that are not ready are forgotten."""
        batches = min(1.0, rows * _HALF_LIFE_BATCHES / _HALF_LIFE_ROWS)
        keep = 0.5 ** (batches / _HALF_LIFE_BATCHES)
        known = self._accounts
        self._accounts = {id(o): known.get(id(o)) or _Account(o) for o in ready}
        self._cheapest = None
        for account in self._accounts.values():
            account.age(keep)

    def __contains__(self, operator: Routable) -> bool:
        return id(operator) in self._accounts

    def book(self, offered: int, visit: Visit) -> None:
        """Count a visit of a piece of ``offered`` rows."""
        self._accounts[id(visit.operator)].book(offered, visit)

    def rejected(self, operator: Routable) -> float | None:
        """Share of the visiting rows that did not come back; negative where they multiply.

        None where too little is known.
        """
        account = self._accounts[id(operator)]
        return account.rejected if account.known else None

    def seconds_per_row(self, operator: Routable) -> float:
        """Seconds per visit; 0 where too little is known, so that a new operator is tried."""
        return self._accounts[id(operator)].seconds_per_row

    def price(self, operator: Routable) -> float:
        """What a visit costs, in visits of the cheapest operator.

        Operators count as equally cheap up to twice the seconds: what is measured of short work
        varies as much.
        """
        if self._cheapest is None:
            speeds = (a.seconds_per_row for a in self._accounts.values())
            self._cheapest = min((s for s in speeds if s > 0.0), default=0.0)
        mine = self.seconds_per_row(operator)
        if mine <= 0.0 or self._cheapest <= 0.0:
            return 1.0
        ratio = mine / self._cheapest
        return max(1.0, min(ratio, 2.0 * ratio - 3.0))  # no jump: 1 up to 2, the ratio from 3 on

    def tickets(self, operator: Routable) -> float:
        """Tickets per visiting row: predicates x share of rows rejected, at least 0.

        An operator without observations has none.
        """
        account = self._accounts[id(operator)]
        return operator.predicates * max(account.rejected, 0.0) if account.known else 0.0

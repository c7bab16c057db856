"""What runs for queries, and what it is expected to need."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from eddyline.algebra.plan import Plan
from eddyline.optimizer.cost import cost
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics


@dataclass(frozen=True)
class Work:
    """Queries that are expected to need the same: here, a tree of operators.

    Attributes:
        plan: of each of the queries.
        names: theirs.
        count: how many there are; a query may stand for several.
    """

    plan: Plan
    names: tuple[str, ...]
    count: int = field(default=1, kw_only=True)

    def costs(self, statistics: Statistics, prices: Prices) -> dict[Hashable, float]:
        """Utilisation, in cores, by what is busy: what occurs again runs, and counts, once."""
        return {node.plan: node.own for node in cost(self.plan, statistics, prices).nodes()}

    def rate(self, statistics: Statistics) -> float:
        """Results per second of each query."""
        return estimate(self.plan, statistics).rate

    def reordered(self, statistics: Statistics) -> Work | None:
        """The same results by the joins that are cheapest then; None if it has these."""
        return None


def cores_of(works: Iterable[Work], statistics: Statistics, prices: Prices) -> float:
    """What all works need."""
    known: dict[Hashable, float] = {}
    for work in works:
        known |= work.costs(statistics, prices)
    return sum(known.values())

"""Units of execution and their expected costs."""

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
    """Queries that run as one unit: here, as a tree of operators.

    Attributes:
        plan: the plan of each of the queries.
        names: of the queries.
        count: number of queries; a named query may have several instances.
    """

    plan: Plan
    names: tuple[str, ...]
    count: int = field(default=1, kw_only=True)

    def costs(self, statistics: Statistics, prices: Prices) -> dict[Hashable, float]:
        """Utilisation in cores by operator; operators that occur in several units count once."""
        return {node.plan: node.own for node in cost(self.plan, statistics, prices).nodes()}

    def rate(self, statistics: Statistics) -> float:
        """Results per second of each query."""
        return estimate(self.plan, statistics).rate

    def reordered(self, statistics: Statistics) -> Work | None:
        """The unit with the cheapest joins for these statistics; None if it has them."""
        return None


def cores_of(works: Iterable[Work], statistics: Statistics, prices: Prices) -> float:
    """Utilisation of all units."""
    known: dict[Hashable, float] = {}
    for work in works:
        known |= work.costs(statistics, prices)
    return sum(known.values())

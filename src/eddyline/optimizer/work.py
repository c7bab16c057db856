"""Units of execution and their expected costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from eddyline.algebra.plan import Plan, StreamScan
from eddyline.optimizer.cost import cost
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.stored import StateSize, state_size


@dataclass(frozen=True)
class Work:
    """Queries that run as one unit: here, as a tree of operators.

    Attributes:
        plan: the plan of each of the queries.
        names: of the queries.
        count: number of queries; a named query may have several instances.
        cpu: measured CPU time, as a multiple of the expected one.
    """

    plan: Plan
    names: tuple[str, ...]
    count: int = field(default=1, kw_only=True)
    cpu: float = field(default=1.0, kw_only=True)

    def costs(self, statistics: Statistics, prices: Prices) -> dict[Hashable, float]:
        """Utilisation in cores by operator; operators that occur in several units count once."""
        return {k: self.cpu * cores for k, cores in self.expected(statistics, prices).items()}

    def expected(self, statistics: Statistics, prices: Prices) -> dict[Hashable, float]:
        """The same by prices alone."""
        return {node.plan: node.own for node in cost(self.plan, statistics, prices).nodes()}

    def state(self, statistics: Statistics) -> StateSize:
        """The expected size of its state."""
        return state_size(self.plan, statistics)

    @property
    def label(self) -> str:
        """What it is, for display."""
        more = f" and {len(self.names) - 1:,} more" if len(self.names) > 1 else ""
        return f"{self.names[0]}{more}"

    def rate(self, statistics: Statistics) -> float:
        """Results per second of each query."""
        return estimate(self.plan, statistics).rate

    def reordered(self, statistics: Statistics) -> Work | None:
        """The unit with the cheapest joins for these statistics; None if it has them."""
        return None


@dataclass(frozen=True)
class IntakeWork(Work):
    """What the rows of a stream cost before and besides the operators.

    Attributes:
        plan: a scan of the stream.
        arriving: rows per second before the drop box.
        read_s: CPU seconds of a row up to its drop box. pass_s: of a row that it keeps.
    """

    plan: StreamScan
    arriving: float = field(kw_only=True)
    read_s: float = field(kw_only=True)
    pass_s: float = field(kw_only=True)

    @property
    def label(self) -> str:
        return f"reading {self.plan.stream}"

    def state(self, statistics: Statistics) -> StateSize:
        return StateSize()

    def expected(self, statistics: Statistics, prices: Prices) -> dict[Hashable, float]:
        kept = statistics.rate(self.plan.stream)
        return {("intake", self.plan.stream): self.arriving * self.read_s + kept * self.pass_s}


def cores_of(works: Iterable[Work], statistics: Statistics, prices: Prices) -> float:
    """Utilisation of all units."""
    known: dict[Hashable, float] = {}
    for work in works:
        known |= work.costs(statistics, prices)
    return sum(known.values())


def state_of(works: Iterable[Work], statistics: Statistics) -> StateSize:
    """The expected size of the state of all units."""
    return StateSize.of_all(work.state(statistics) for work in works)

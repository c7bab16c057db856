"""What an engine chooses plans and orders of joins by, and what it expects of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.engine.explain import explained, seen
from eddyline.optimizer.optimizer import REQUIRED_RULES, RULES, optimize
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics


@dataclass(frozen=True)
class Planning:
    """What an engine chooses plans and orders of joins by, and what it expects of them.

    Attributes:
        rewrites: whether plans are rewritten by all rules, or only by those that are required.
        statistics: supplied and declared: plans are chosen by these. measured: of the rows so far.
            Plans are not chosen by them, so that a loaded engine makes the same ones again; joins
            that run may be reordered by them, which a checkpoint records.
        prices: of the steps of operators.
        margin: how many times cheaper an order of joins must be for a running query to get it.
        rows: how many rows of all streams there have been so far.
    """

    rewrites: bool
    statistics: Statistics
    measured: Callable[[], Statistics]
    prices: Prices
    margin: float
    rows: Callable[[], int]

    def optimized(self, plan: Plan) -> Plan:
        """What becomes of a plan before it runs."""
        if not self.rewrites:  # nor are joins ordered by what is known
            return optimize(plan, REQUIRED_RULES)
        return optimize(plan, RULES, self.statistics, self.prices)

    def known(self) -> Statistics:
        """What is known now: what was measured, and else what is declared."""
        return self.measured().over(self.statistics)

    def explained(self, emit: Emit, plan: Plan, *, analyze: bool = False) -> str:
        """The text of EXPLAIN, by what is known now; with ``analyze`` also what was measured."""
        measured = self.measured()
        text = explained(emit, plan, self.statistics.over(measured), self.prices)
        if not analyze:
            return text
        return "\n".join([text, *seen(plan, self.statistics, measured)])

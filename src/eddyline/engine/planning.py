"""By what an engine chooses its plans, and what it expects of them."""

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
    """By what an engine chooses its plans, and what it expects of them.

    Attributes:
        rewrites: whether plans are rewritten by rule, and not only where they must be.
        statistics: given and declared: what plans are chosen by. measured: what the engine has seen
            so far. A plan is not chosen by that, so that a saved engine finds the same one again;
            joins that run may be reordered by it, which is saved.
        prices: of the steps of operators.
    """

    rewrites: bool
    statistics: Statistics
    measured: Callable[[], Statistics]
    prices: Prices

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

"""The optimizer's inputs in an engine: rules, statistics and prices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.engine.explain import explained, seen
from eddyline.engine.ingest.counted_streams import over_own_rows
from eddyline.optimizer.optimizer import REQUIRED_RULES, RULES, optimize
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.sharing.reordering import without_second_copies


def _never(streams: Collection[str]) -> bool:
    return False


@dataclass(eq=False)
class Planning:
    """Optimizes and explains the plans of an engine.

    Attributes:
        rewrites: whether all rules apply, or only the required ones.
        statistics: supplied and declared ones: plans are chosen by these. measured: those measured
            so far. New plans do not depend on them, so that a loaded checkpoint has the same
            plans; running joins are re-ordered by them, and checkpoints contain the order.
        prices: of the steps of operators, for EXPLAIN. Plans are chosen by typical ones: fitted
            prices predict the load, but not what plans differ by (docs/decisions/0136).
        margin: factor by which an order of joins must be cheaper to replace the running one.
        rows: number of rows of all streams so far.
        counted: the counted streams.
        corrections: of the estimated results of joins, as of ``JoinResults``.
        sheds: whether rows of some of these streams are dropped, as the overload controller has
            decided: together with the order of their joins.
    """

    rewrites: bool
    statistics: Statistics
    measured: Callable[[], Statistics]
    prices: Prices
    margin: float
    rows: Callable[[], int]
    counted: Callable[[], Collection[str]]
    corrections: Callable[[], Mapping[Any, float]] = dict
    sheds: Callable[[Collection[str]], bool] = _never

    def optimized(self, plan: Plan) -> Plan:
        """The optimized plan."""
        if self.rewrites:
            plan = optimize(plan, RULES, self.statistics)
        else:  # joins keep the order of the text
            plan = optimize(plan, REQUIRED_RULES)
        return over_own_rows(without_second_copies(plan), self.counted())

    def known(self) -> Statistics:
        """The measured statistics, completed by the declared ones."""
        known = self.measured().over(self.statistics)
        return replace(known, corrections=self.corrections())

    def explained(self, emit: Emit, plan: Plan, *, analyze: bool = False) -> str:
        """The text of EXPLAIN; with ``analyze``, also the measured statistics."""
        measured = self.measured()
        known = replace(self.statistics.over(measured), corrections=self.corrections())
        text = explained(emit, plan, known, self.prices)
        if not analyze:
            return text
        return "\n".join([text, *seen(plan, self.statistics, measured)])

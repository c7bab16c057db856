"""How a plan's rows leave its state: the execution strategies of the update-patterns paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import (
    AntiJoin,
    GroupBy,
    Negation,
    Plan,
    SemiJoin,
    StreamScan,
    lifespan_us,
    looks_up,
)
from eddyline.algebra.windows import Range
from eddyline.optimizer.estimates import premature_share
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.runtime.stores.answers import AnswerCalendar, AnswerList, AnswerQueue, AnswerStore
from eddyline.runtime.stores.expiry import ExpiryStore, FifoStore, ListStore, PartitionedStore

StateStrategy = Literal["upa", "direct", "negative-tuple"]
Feedback = Literal["off", "doe", "jit", "auto"]
Mns = Literal["index", "bloom"]

#: Partitions of a store whose rows may live for ever or nobody knows how long.
_UNKNOWN_LIFESPAN_US: Final = 3_600_000_000


@dataclass(frozen=True)
class Strategy:
    """What the planner is told about state.

    Source: Golab and Ozsu 2005, sections 2.3 and 5.3.2.

    Attributes:
        statistics: by which the share of premature results is expected.
        lazy_us: how often state that is looked up by key drops expired rows; None: when up to half
            of it may have expired.

    The others are fields of :class:`eddyline.engine.options.StrategyOptions`, and documented there.
    """

    state: StateStrategy = "upa"
    partitions: int = 64
    views: bool = False
    negative_tuples_from: float | None = None
    statistics: Statistics = UNKNOWN
    feedback: Feedback = "off"
    admission: bool = True
    nested_loops: bool = False
    mns: Mns = "index"
    combinations: bool = False
    lazy_us: int | None = None

    @property
    def explicit(self) -> bool:
        """Whether rows leave by '-' alone."""
        return self.state == "negative-tuple"

    @property
    def shares(self) -> bool:
        """Whether queries may share a flow: its rows leave by ``exp``, and nobody keeps answers."""
        return self.state == "upa" and not self.views

    def begins_explicit(self, plan: Plan) -> bool:
        """Whether an explicit plan is an implicit one whose expiries are made explicit."""
        if isinstance(plan, StreamScan):
            return isinstance(plan.window, Range)
        return _tells_who_matches(plan) and not self.explicit

    def explicit_above_negation(self, plan: Plan) -> bool:
        """Whether the operators above a negation do better with a '-' for every row that leaves.

        Source: Golab and Ozsu 2005, section 5.4.3.
        """
        least = self.negative_tuples_from
        if self.state != "upa" or least is None or isinstance(plan, GroupBy):
            return False
        if _tells_who_matches(plan):
            return premature_share(plan, self.statistics) >= least
        return any(self.explicit_above_negation(p) for p in plan.inputs)

    def by_key(self, plan: Plan) -> bool:
        """Whether STR results must be kept by key: nobody knows when the rest of them leaves."""
        return lifespan_us(plan) is None

    def expiries(self, plan: Plan, dtypes: Sequence[Any]) -> ExpiryStore:
        """A store in which the rows of this plan's output wait for their expiry."""
        if self.state == "direct":
            return ListStore(dtypes)
        if plan.pattern <= Pattern.WKS:
            return FifoStore(dtypes)
        return PartitionedStore(dtypes, self._partition_us(plan))

    def answers(self, plan: Plan, width: int) -> AnswerStore:
        """A store for the answer of a plan: ``width`` lanes, the first being the expiry."""
        if self.state != "direct" and plan.pattern <= Pattern.WKS:
            return AnswerQueue(width)
        lifespan = lifespan_us(plan)
        if self.state == "direct" or lifespan is None:
            return AnswerList(width)
        return AnswerCalendar(width, self.partitions, lifespan)

    def _partition_us(self, plan: Plan) -> int:
        lifespan = lifespan_us(plan) or _UNKNOWN_LIFESPAN_US
        return max(lifespan // self.partitions, 1)


def _tells_who_matches(plan: Plan) -> bool:
    """Whether this is a negation or an existence test whose answer may change: rows that are looked
    up in a table are shown, or not, for good.
    """
    if isinstance(plan, (SemiJoin, AntiJoin)):
        return not looks_up(plan)
    return isinstance(plan, Negation)

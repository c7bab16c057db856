"""Measures the joins of queries that run, and proposes other placements between two chunks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import Any, Final

from eddyline.engine.execution.execution import Execution
from eddyline.engine.placement import fan_outs
from eddyline.engine.placement.fan_outs import Steadiness
from eddyline.engine.placement.feedback_trials import FeedbackTrials
from eddyline.engine.placement.join_costs import Counts, FanOuts, as_measured, best_tree, shown
from eddyline.engine.placement.placement import Placement, TreePlacement
from eddyline.engine.placement.records import tree_from
from eddyline.engine.planning import Planning
from eddyline.engine.query import Query
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.query import JoinQuery
from eddyline.optimizer.statistics import Statistics
from eddyline.runtime.feedback.join_counts import NO_ROWS, counts_from
from eddyline.sharing.reordering import Joins, Orders

#: Rows of all streams between two looks at fan-outs, and at new queries.
_PERIOD_ROWS: Final = 32_768
_FIRST_ROWS: Final = 4_096
#: Queries whose costs are compared at a time.
_AT_ONCE: Final = 8
#: Maximum number of looks between two comparisons while fan-outs and shares of rows are steady.
_COMPARED_EVERY: Final = 16
#: Orders whose costs differ by less cost the same.
_CHEAPER: Final = 0.999


def _new_steadiness() -> Steadiness:
    return Steadiness(fan_outs.CHANGED)


@dataclass
class ByCost:
    """A query that runs as a tree of joins whose order is chosen by cost.

    Attributes:
        measured: the joins of each region.
    """

    query: Query
    joins: Joins
    measured: list[FanOuts] = field(init=False)
    _steadiness: Steadiness = field(default_factory=_new_steadiness)
    _steady_for: int = 0

    def __post_init__(self) -> None:
        self.measured = [FanOuts() for _ in self.joins.regions]

    def is_known(self, statistics: Statistics) -> bool:
        """Whether the rates of all streams are known."""
        return all(region.graph.is_known(statistics) for region in self.joins.regions)

    def restart(self) -> None:
        """It runs in another way from now on."""
        for measured in self.measured:
            measured.counts.clear()
        self._steadiness, self._steady_for = _new_steadiness(), 0

    def may_differ(self, counts: Sequence[Counts]) -> bool:
        """Measure the joins; returns whether other orders may have become the best ones.

        A comparison takes as long as some thousand rows; while fan-outs and shares of the rows are
        steady it comes after 1, 2, 4, 8 and then every 16 looks.

        Args:
            counts: of each region.
        """
        rows: dict[Hashable, tuple[int, int]] = {}
        for number, (measured, of) in enumerate(zip(self.measured, counts, strict=True)):
            measured.measure(of)
            rows |= {(number, tree): (n.rows, n.results) for tree, n in of.items()}
        everything = sum(came for came, _ in rows.values())
        shares = {(of, "share"): (everything, came) for of, (came, _) in rows.items()}
        is_steady = self._steadiness.look({**rows, **shares})
        if is_steady is False:  # joins that ran before had other rows
            for measured, of in zip(self.measured, counts, strict=True):
                measured.keep_only(of)
        self._steady_for = self._steady_for + 1 if is_steady else 0
        looks = self._steady_for
        return looks % _COMPARED_EVERY == 0 or (looks < _COMPARED_EVERY and looks.bit_count() == 1)

    @property
    def placement(self) -> TreePlacement:
        assert isinstance(self.query.placement, TreePlacement), "it is not watched in a flow"
        return self.query.placement

    @property
    def orders(self) -> Orders:
        """The orders of the joins that run."""
        return self.placement.orders


@dataclass(frozen=True)
class Better:
    """Orders that are expected to cost less; ``share``: of the cost of the present ones."""

    orders: Orders
    share: float


class Reoptimizer:
    """Proposes other placements for queries that run as trees of joins.

    Args:
        planning: has statistics, and how many times cheaper an order must be.

    Attributes:
        by_cost: by name, the queries whose joins may get another order.
    """

    def __init__(self, execution: Execution, planning: Planning) -> None:
        self.by_cost: dict[str, ByCost] = {}
        self._execution = execution
        self._planning = planning
        self._costing = Priced()
        self._trials = FeedbackTrials()
        self._new: dict[str, ByCost] = {}  # whose order is a guess: not looked at so far
        self._looked = 0  # at new ones, at this number of rows
        self._compared = 0, 0  # at this number of rows; number of the query that is next

    def watch(self, query: Query) -> None:
        """Measure a query that has just been moved, if its joins may get another order."""
        placement = query.placement
        if not isinstance(placement, TreePlacement) or placement.joins is None:
            self.forget(query)
            return
        if query.name not in self.by_cost:
            self.by_cost[query.name] = known = ByCost(query, placement.joins)
            if not known.is_known(self._planning.statistics):
                self._new[query.name] = known
        self.by_cost[query.name].restart()

    def forget(self, query: Query) -> None:
        """Stop measuring a query."""
        self.by_cost.pop(query.name, None)
        self._new.pop(query.name, None)
        self._trials.forget(query)

    def proposals(self) -> Iterator[tuple[Query, Placement]]:
        """Queries that should run in another way now."""
        for known in self.due():
            better = self.better(known) if known.may_differ(self.counts(known)) else None
            if better is not None:
                share = f"{better.share:.0%} of what its joins cost in the order before"
                yield known.query, self.reordered(known, better.orders, f"expected to take {share}")
            elif (other := self._trials.proposal(known.query, known.placement)) is not None:
                yield known.query, other

    # -- orders chosen by cost -----------------------------------------

    def due(self) -> list[ByCost]:
        """The queries whose costs are to be compared now: new ones soon, the others in turns."""
        if not self.by_cost:
            return []
        rows = self._planning.rows()
        if self._new and rows - self._looked >= _FIRST_ROWS:
            self._looked = rows
            names = list(islice(self._new, _AT_ONCE))
            return [self._new.pop(name) for name in names]
        seen, turn = self._compared
        if rows - seen < _PERIOD_ROWS:
            return []
        first = turn % len(self.by_cost)
        self._compared = rows, first + _AT_ONCE
        return list(islice(self.by_cost.values(), first, first + _AT_ONCE))

    def better(self, known: ByCost) -> Better | None:
        """Better orders for a query; None: there are none, too little is known, or its order has
        been chosen to shed load from.
        """
        margin = self._planning.margin
        if margin == inf or self._planning.sheds(known.query.streams):
            return None
        statistics, orders, shares = self._planning.known(), list(known.orders), []
        for number, region in enumerate(known.joins.regions):
            if not region.graph.is_known(statistics):
                continue
            query = self._as_measured(known, number)
            best, share = best_tree(query, orders[number], self._costing)
            if share * margin < 1:
                orders[number] = best
                shares.append(share)
        return Better(tuple(orders), max(shares)) if shares else None

    def cheapest(self, known: ByCost, statistics: Statistics) -> Orders:
        """The orders that cost least by these statistics, once windows are full; the present ones
        where none is cheaper, or orders are not to change.
        """
        orders = list(known.orders)
        if self._planning.margin == inf:
            return known.orders
        for number, region in enumerate(known.joins.regions):
            query = region.graph.query(statistics)
            if known.measured[number].of:  # of joins at other rates than those of the statistics
                query = JoinQuery(query.sources, self._as_measured(known, number).terms)
            best, share = best_tree(query, orders[number], self._costing)
            orders[number] = best if share < _CHEAPER else orders[number]
        return tuple(orders)

    def reordered(self, known: ByCost, orders: Orders, why: str) -> TreePlacement:
        """The placement of a query in other orders."""
        return known.placement.reordered(orders, f"joins {shown(known.joins, orders)}, {why}")

    def _as_measured(self, known: ByCost, number: int) -> JoinQuery:
        """The joins of a region."""
        elapsed_us = self._execution.elapsed_us(known.query)
        graph, fan_outs = known.joins.regions[number].graph, known.measured[number].of
        return as_measured(graph, self._planning.known(), fan_outs, elapsed_us)

    def counts(self, known: ByCost) -> list[Counts]:
        """Rows and results of the joins of each region so far, inputs before the joins above
        them.
        """
        return [
            {
                tree: count
                for tree, join in region.joins(known.placement.plan, order).items()
                if (count := self._execution.joined(join)) is not None
            }
            for region, order in zip(known.joins.regions, known.orders, strict=True)
        ]

    # -- checkpoint ----------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """For JSON: what was measured."""
        measured = {
            name: [
                {"fan_outs": list(of.of.items()), "since": list(of.since(counts).items())}
                for of, counts in zip(known.measured, self.counts(known), strict=True)
            ]
            for name, known in self.by_cost.items()
        }
        rests = self._trials.saved(known.query for known in self.by_cost.values())
        return {
            "compared": self._compared,
            "looked": self._looked,
            "new": list(self._new),
            "measured": measured,
            "rests": rests,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take over what ``saved`` returned; the queries run."""
        self._compared, self._looked = tuple(saved["compared"]), saved["looked"]
        self._new = {name: self.by_cost[name] for name in saved["new"]}
        self._trials.restore(saved["rests"])
        for name, regions in saved["measured"].items():
            self.by_cost[name].measured = [
                FanOuts(
                    {tree_from(tree): fan_out for tree, fan_out in measured["fan_outs"]},
                    # the operators count from zero, but the rows that feedback withholds again
                    {
                        tree_from(tree): NO_ROWS.since(counts_from(n))
                        for tree, n in measured["since"]
                    },
                )
                for measured in regions
            ]

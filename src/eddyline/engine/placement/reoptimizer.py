"""Measures the joins of queries that run, and proposes other placements between two chunks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from typing import Any, Final

from eddyline.engine.execution.execution import Execution
from eddyline.engine.placement import fan_outs
from eddyline.engine.placement.candidates import learned, may_wait
from eddyline.engine.placement.fan_outs import Steadiness
from eddyline.engine.placement.feedback_trials import FeedbackTrials
from eddyline.engine.placement.join_costs import Counts, FanOuts, as_measured, best_tree, shown
from eddyline.engine.placement.placement import FlowPlacement, Placement, TreePlacement
from eddyline.engine.placement.records import tree_from
from eddyline.engine.planning import Planning
from eddyline.engine.query import Query
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.query import JoinQuery
from eddyline.optimizer.statistics import Statistics
from eddyline.runtime.feedback.join_counts import NO_ROWS, counts_from
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.stateless import Scan
from eddyline.sharing.reordering import LEAST_REORDERED, Joins, Orders

#: Rows between two looks at fan-outs: of all streams for orders chosen by cost, of a query's for
#: others; and rows of a query before the first one.
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


@dataclass
class ByFanOuts:
    """A query that shares no flow: it runs as a tree in the order that costs least, once its
    streams are known, or else while the fan-outs of its joins are steady.

    Attributes:
        tree: makes its placement as a tree, in the order of its plan. scans: of its operators.
        looked: rows that they had read at the last look.
    """

    query: Query
    tree: Callable[[], TreePlacement]
    scans: list[Scan]
    steadiness: Steadiness
    looked: int = 0

    def is_due(self) -> bool:
        """Whether to look at the fan-outs now."""
        rows = sum(scan.rows_out for scan in self.scans)
        if rows - self.looked < (_PERIOD_ROWS if self.looked else _FIRST_ROWS):
            return False
        self.looked = rows
        return True

    def proposal(self) -> Placement | None:
        """Another placement, if the fan-outs have become steady or have changed."""
        placement = self.query.placement
        if isinstance(placement, FlowPlacement):
            assert self.query.flow is not None, "it runs in a flow"
            if may_wait(placement):  # not in a tree
                return None
            flow = self.query.flow.flow
            is_steady = self.steadiness.look(flow.fan_outs)
            return learned(placement, fan_outs.best_order(flow)) if is_steady else None
        assert placement is not None and placement.learned_in is not None, "its order was learned"
        counts = fan_outs.of_joins(in_order([self.query.operator]))
        if self.steadiness.look(counts) is not False:
            return None
        return replace(placement.learned_in, why="the fan-outs of its joins have changed")


@dataclass(frozen=True)
class Better:
    """Orders that are expected to cost less; ``share``: of the cost of the present ones."""

    orders: Orders
    share: float


class Reoptimizer:
    """Proposes other placements for queries that run.

    Args:
        planning: has statistics, and how many times cheaper an order must be.

    Attributes:
        by_cost, by_fan_outs: by name, the queries whose joins may get another order.
    """

    def __init__(self, execution: Execution, planning: Planning) -> None:
        self.by_cost: dict[str, ByCost] = {}
        self.by_fan_outs: dict[str, ByFanOuts] = {}
        self._execution = execution
        self._planning = planning
        self._costing = Priced()
        self._trials = FeedbackTrials()
        self._compared = 0, 0  # at this number of rows; number of the query that is next

    def watch(self, query: Query, *, unshared: bool, tree: Callable[[], TreePlacement]) -> None:
        """Measure a query that has just been moved, if its placement may become another one.

        Args:
            unshared: it could run in a flow that it does not share with another query.
            tree: makes its placement as a tree, in the order of its plan.
        """
        placement = query.placement
        if isinstance(placement, TreePlacement) and placement.joins is not None:
            self.by_fan_outs.pop(query.name, None)
            self.by_cost.setdefault(query.name, ByCost(query, placement.joins)).restart()
            return
        self.forget(query)
        flow = placement.learned_in if isinstance(placement, TreePlacement) else placement
        if not unshared or flow is None or flow.is_numbered:
            return
        if len(flow.signature.sources) >= LEAST_REORDERED:
            scans = [o for o in in_order([query.operator]) if isinstance(o, Scan)]
            factor = fan_outs.STEADY if placement is flow else fan_outs.CHANGED
            self.by_fan_outs[query.name] = ByFanOuts(query, tree, scans, Steadiness(factor))

    def forget(self, query: Query) -> None:
        """Stop measuring a query."""
        self.by_cost.pop(query.name, None)
        self._trials.forget(query)
        self.by_fan_outs.pop(query.name, None)

    def proposals(self) -> Iterator[tuple[Query, Placement]]:
        """Queries that should run in another way now."""
        for watched in list(self.by_fan_outs.values()):
            if not watched.is_due():
                continue
            placement = self._by_cost(watched) or watched.proposal()
            if placement is not None:
                yield watched.query, placement
        for known in self.due():
            better = self.better(known) if known.may_differ(self.counts(known)) else None
            if better is not None:
                share = f"{better.share:.0%} of what its joins cost in the order before"
                yield known.query, self.reordered(known, better.orders, f"expected to take {share}")
            elif (other := self._trials.proposal(known.query, known.placement)) is not None:
                yield known.query, other

    def _by_cost(self, watched: ByFanOuts) -> TreePlacement | None:
        """The tree of a query in a flow that costs least by what has been measured of its streams;
        None: it is no such query, or too little is known.
        """
        placement = watched.query.placement
        if not isinstance(placement, FlowPlacement) or may_wait(placement):
            return None
        tree, statistics = watched.tree(), self._planning.known()
        if tree.joins is None:
            return None
        regions = tree.joins.regions
        if not all(region.graph.is_known(statistics) for region in regions):
            return None
        known = ByCost(watched.query, tree.joins)
        queries = (self._as_measured(known, number) for number in range(len(regions)))
        orders = tuple(
            best_tree(query, region.tree, self._costing)[0]
            for query, region in zip(queries, regions, strict=True)
        )
        why = f"joins {shown(tree.joins, orders)}, by the rates and values of its streams"
        return tree.reordered(orders, why)

    # -- orders chosen by cost -----------------------------------------

    def due(self) -> list[ByCost]:
        """The queries whose costs are to be compared now, in turns."""
        if not self.by_cost:
            return []
        (seen, turn), rows = self._compared, self._planning.rows()
        if rows - seen < _PERIOD_ROWS:
            return []
        first = turn % len(self.by_cost)
        self._compared = rows, first + _AT_ONCE
        return list(islice(self.by_cost.values(), first, first + _AT_ONCE))

    def better(self, known: ByCost) -> Better | None:
        """Better orders for a query; None: there are none, or too little is known."""
        margin = self._planning.margin
        if margin == inf:
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
        return {"compared": self._compared, "measured": measured, "rests": rests}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take over what ``saved`` returned; the queries run."""
        self._compared = tuple(saved["compared"])
        self._trials.restore(saved["rests"])
        for name, regions in saved["measured"].items():
            self.by_cost[name].measured = [
                FanOuts(
                    {tree_from(tree): fan_out for tree, fan_out in measured["fan_outs"]},
                    # the operators count from zero
                    {
                        tree_from(tree): NO_ROWS.since(counts_from(n))
                        for tree, n in measured["since"]
                    },
                )
                for measured in regions
            ]

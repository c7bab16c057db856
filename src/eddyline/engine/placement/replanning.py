"""Other orders for the joins of queries that run, when what was measured makes them cheaper.

An order is chosen when a query is added, by what is known then. While it runs, the engine measures
rates, numbers of values, and how many results each join makes of its rows; from time to time a few
queries are looked at, and one whose joins are expected to cost much less in another order gets that
order between two chunks. The SteMs stay; what the new joins keep is made anew from them.

Source: Ayad and Naughton 2004, section 1 ("optimize and monitor then re-optimize when necessary").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from typing import Final

from eddyline.algebra.plan import Plan, StreamScan
from eddyline.algebra.windows import Range
from eddyline.engine.placement.ways import InOrder
from eddyline.engine.planning import Planning
from eddyline.engine.query import Query
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.learning import corrected
from eddyline.optimizer.joins.query import JoinQuery, Source
from eddyline.optimizer.joins.search import cheapest
from eddyline.optimizer.joins.trees import Tree, show
from eddyline.optimizer.statistics import Statistics
from eddyline.sharing.reordering import Joins

#: Rows of all streams between two looks, and queries that are looked at then.
_PERIOD_ROWS: Final = 32_768
_AT_ONCE: Final = 8
#: A ratio of fewer rows is not relied on.
_LEAST_ROWS: Final = 256
#: An order that costs as much less is another one, and not one that costs the same.
_CHEAPER: Final = 0.999

#: By part of a tree: rows that its join has joined, and results.
Counts = Mapping[Tree, tuple[int, int]]


@dataclass
class Ordered:
    """A query that runs as a tree of joins, in an order that may change.

    Attributes:
        joins: of the plan that the query was added with. tree: the order that it runs in now.
        counts: of its joins when they were looked at last.
        fan_outs: results per row of all joins that have run, as measured last.
    """

    query: Query
    joins: Joins
    tree: Tree
    counts: dict[Tree, tuple[int, int]] = field(default_factory=dict)
    fan_outs: dict[Tree, float] = field(default_factory=dict)

    def look(self, counts: Counts) -> None:
        """Note what the joins have made since the last look."""
        for tree, (rows, results) in self._since(counts):
            if rows >= _LEAST_ROWS:
                self.fan_outs[tree] = max(results, 1 / 2) / rows
                self.counts[tree] = counts[tree]

    @classmethod
    def saved(cls, query: Query, joins: Joins, way: InOrder) -> Ordered:
        """The query as it ran when an engine was saved."""
        # its operators count from nothing
        counts = {tree: (-came, -went) for tree, (came, went) in way.since.items()}
        return cls(query, joins, way.tree, counts, dict(way.fan_outs))

    def way(self, counts: Counts) -> InOrder:
        """How it runs, to be saved."""
        return InOrder(self.tree, self.fan_outs, dict(self._since(counts)))

    def _since(self, counts: Counts) -> Iterator[tuple[Tree, tuple[int, int]]]:
        """What the joins have made since the last look."""
        for tree, (came, went) in counts.items():
            came_before, went_before = self.counts.get(tree, (0, 0))
            yield tree, (came - came_before, went - went_before)

    @property
    def order(self) -> str:
        """The tree for people."""
        return show(self.tree, [_name(part) for part in self.joins.graph.parts])


@dataclass(frozen=True)
class Better:
    """An order that is expected to cost less.

    Attributes:
        share: of what the present one is expected to cost.
    """

    tree: Tree
    share: float


class Replanner:
    """Looks for better orders.

    Args:
        rows: how many rows all streams have brought so far.
        margin: how many times cheaper an order must be.

    Attributes:
        looked: when it looked last, in rows, and whose turn it is next.
    """

    def __init__(self, rows: Callable[[], int], planning: Planning, margin: float) -> None:
        self._rows = rows
        self._planning = planning
        self._costing = Priced(planning.prices, planning.prices)
        self._margin = margin
        self.looked = 0, 0  # at so many rows, and whose turn it is then

    def due(self, running: Mapping[str, Ordered]) -> list[Ordered]:
        """Who is to be looked at now, in turns."""
        seen, turn = self.looked
        if not running or self._margin == inf or self._rows() - seen < _PERIOD_ROWS:
            return []
        first = turn % len(running)
        self.looked = self._rows(), first + _AT_ONCE
        return list(islice(running.values(), first, first + _AT_ONCE))

    def better(self, ordered: Ordered, elapsed_us: int) -> Better | None:
        """A better order for a query; None: there is none, or too little is known.

        Args:
            elapsed_us: since the first row; windows hold no more than that.
        """
        if not ordered.joins.graph.is_known(self._planning.known()):
            return None
        query = self._as_seen(ordered, elapsed_us)
        best, share = self._best(query, ordered.tree)
        return Better(best, share) if share * self._margin < 1 else None

    def cheapest(self, ordered: Ordered, statistics: Statistics, elapsed_us: int) -> Tree:
        """The order that costs least by given statistics, once windows are full; the present one if
        none is cheaper, or orders are not to change.
        """
        if self._margin == inf:
            return ordered.tree
        query = ordered.joins.graph.query(statistics)
        if ordered.fan_outs:  # seen at other rates than those that are asked about
            query = JoinQuery(query.sources, self._as_seen(ordered, elapsed_us).terms)
        best, share = self._best(query, ordered.tree)
        return best if share < _CHEAPER else ordered.tree

    def _as_seen(self, ordered: Ordered, elapsed_us: int) -> JoinQuery:
        """The joins as they are now, by what was measured of rows, values and fan-outs."""
        graph = ordered.joins.graph
        query = graph.query(self._planning.known())
        sources = map(_filled, query.sources, graph.parts, [elapsed_us] * len(graph.parts))
        return corrected(JoinQuery(tuple(sources), query.terms), ordered.fan_outs)

    def _best(self, query: JoinQuery, tree: Tree) -> tuple[Tree, float]:
        """The cheapest order, and its cost as a share of that of a tree."""
        best = cheapest(query, self._costing)
        now, then = (self._cost(query, t) for t in (tree, best))
        return best, then / now if now else 1.0

    def _cost(self, query: JoinQuery, tree: Tree) -> float:
        return PlanFunctions(query, tree, self._costing).cost.at([1.0] * len(query.sources))


def _filled(source: Source, part: Plan, elapsed_us: int) -> Source:
    """The source with as many rows in its window as can have come."""
    length = next((s.window.us for s in _scans(part) if isinstance(s.window, Range)), 0)
    return replace(source, rows=source.rows * min(1.0, elapsed_us / length)) if length else source


def _scans(plan: Plan) -> Iterator[StreamScan]:
    if isinstance(plan, StreamScan):
        yield plan
    for below in plan.inputs:
        yield from _scans(below)


def _name(part: Plan) -> str:
    return next((scan.stream for scan in _scans(part)), "?")

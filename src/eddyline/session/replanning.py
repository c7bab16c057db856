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
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.learning import corrected
from eddyline.optimizer.joins.query import JoinQuery, Source
from eddyline.optimizer.joins.search import cheapest
from eddyline.optimizer.joins.trees import Tree, show
from eddyline.session.planning import Planning
from eddyline.session.query import Query
from eddyline.sharing.reordering import Joins

#: Rows of all streams between two looks, and queries that are looked at then.
_PERIOD_ROWS: Final = 32_768
_AT_ONCE: Final = 8
#: A ratio of fewer rows is not relied on.
_LEAST_ROWS: Final = 256

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
        for tree, (came, went) in counts.items():
            came_before, went_before = self.counts.get(tree, (0, 0))
            if came - came_before >= _LEAST_ROWS:
                rows = came - came_before
                self.fan_outs[tree] = max(went - went_before, 1 / 2) / rows
                self.counts[tree] = (came, went)

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
    """

    def __init__(self, rows: Callable[[], int], planning: Planning, margin: float) -> None:
        self._rows = rows
        self._planning = planning
        self._costing = Priced(planning.prices, planning.prices)
        self._margin = margin
        self._seen = 0
        self._turn = 0

    def due(self, running: Mapping[str, Ordered]) -> list[Ordered]:
        """Who is to be looked at now, in turns."""
        if not running or self._margin == inf or self._rows() - self._seen < _PERIOD_ROWS:
            return []
        self._seen = self._rows()
        first = self._turn % len(running)
        self._turn = first + _AT_ONCE
        return list(islice(running.values(), first, first + _AT_ONCE))

    def better(self, ordered: Ordered, elapsed_us: int) -> Better | None:
        """A better order for a query; None: there is none, or too little is known.

        Args:
            elapsed_us: since the first row; windows hold no more than that.
        """
        graph, statistics = ordered.joins.graph, self._planning.known()
        if not graph.is_known(statistics):
            return None
        query = graph.query(statistics)
        so_far = tuple(map(_filled, query.sources, graph.parts, [elapsed_us] * len(graph.parts)))
        terms = corrected(JoinQuery(so_far, query.terms), ordered.fan_outs).terms
        query = JoinQuery(query.sources, terms)
        best = cheapest(query, self._costing)
        now, then = (self._cost(query, tree) for tree in (ordered.tree, best))
        return Better(best, then / now) if then * self._margin < now else None

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

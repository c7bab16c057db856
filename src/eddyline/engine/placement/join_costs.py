"""Costs of the orders in which the joins of a running query can be made, by what was measured.

Rates and numbers of values are measured of the streams, fan-outs of the joins that have run.

Source: Ayad and Naughton 2004, section 1 ("optimize and monitor then re-optimize when necessary").
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final

from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import stream_scans
from eddyline.algebra.windows import Range
from eddyline.optimizer.join_graph import JoinGraph
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.learning import corrected
from eddyline.optimizer.joins.query import JoinQuery, Source
from eddyline.optimizer.joins.search import cheapest
from eddyline.optimizer.joins.trees import Tree, show
from eddyline.optimizer.statistics import Statistics
from eddyline.runtime.feedback.join_counts import NO_ROWS, JoinCounts
from eddyline.sharing.reordering import Joins, Orders

#: Minimum number of rows of a fan-out.
_LEAST_ROWS: Final = 256

#: By subtree, inputs before the joins above them.
Counts = Mapping[Tree, JoinCounts]


@dataclass
class FanOuts:
    """Results per row of the joins of a query, by subtree, as they would be without feedback.

    Attributes:
        of: of all joins that have run, as measured last.
        counts: of the joins that run, when they were measured last.
    """

    of: dict[Tree, float] = field(default_factory=dict)
    counts: dict[Tree, JoinCounts] = field(default_factory=dict)

    def measure(self, counts: Counts) -> None:
        """Measure the joins that have had enough rows since they were measured last."""
        since = self.since(counts)
        for tree, joined in since.items():
            if joined.rows >= _LEAST_ROWS:
                results = max(joined.results, 1 / 2) / _admitted(tree, since)
                self.of[tree] = results / _rows_without_feedback(tree, since)
                self.counts[tree] = counts[tree]

    def keep_only(self, trees: Container[Tree]) -> None:
        """Forget the other joins."""
        self.of = {tree: fan_out for tree, fan_out in self.of.items() if tree in trees}

    def since(self, counts: Counts) -> dict[Tree, JoinCounts]:
        """Rows and results since the joins were measured last."""
        return {t: n.since(self.counts.get(t, NO_ROWS)) for t, n in counts.items()}


def _admitted(tree: Tree, counts: Counts, between: int = 0) -> float:
    """The share of the results of a tree that are made, of those that it would make if joins
    further up did not withhold rows.

    Args:
        between: number of joins between the tree and those.
    """
    if isinstance(tree, int) or tree not in counts:
        return 1.0
    below = (_admitted(part, counts, between + 1) for part in tree)
    return prod(below, start=counts[tree].admitted(between))


def _rows_without_feedback(tree: Tree, counts: Counts) -> float:
    """The rows that a join would have if the joins below made all of their results."""
    assert not isinstance(tree, int), "a source is no join"
    inputs = zip(tree, (counts[tree].left, counts[tree].right), strict=True)
    return sum(rows.came / _admitted(part, counts) for part, rows in inputs)


def as_measured(
    graph: JoinGraph, statistics: Statistics, fan_outs: Mapping[Tree, float], elapsed_us: int
) -> JoinQuery:
    """The sources and terms of the joins now.

    Args:
        elapsed_us: since the first row; windows hold no more than the rows of that time.
    """
    query = graph.query(statistics)
    sources = map(_filled, query.sources, graph.parts, [elapsed_us] * len(graph.parts))
    return corrected(JoinQuery(tuple(sources), query.terms), fan_outs)


def best_tree(query: JoinQuery, tree: Tree, costing: Priced) -> tuple[Tree, float]:
    """The cheapest order, and its cost as a share of that of ``tree``."""
    best = cheapest(query, costing)
    everything = [1.0] * len(query.sources)
    now, then = (PlanFunctions(query, t, costing).cost.at(everything) for t in (tree, best))
    return best, then / now if now else 1.0


def shown(joins: Joins, orders: Orders) -> str:
    """Orders as text, by names of streams."""
    regions = zip(joins.regions, orders, strict=True)
    return " and ".join(show(tree, _names(region.graph)) for region, tree in regions)


def _names(graph: JoinGraph) -> list[str]:
    return [next((s.stream for s in stream_scans(part)), "?") for part in graph.parts]


def _filled(source: Source, part: Plan, elapsed_us: int) -> Source:
    """The source with the share of its window's rows that ``elapsed_us`` has room for."""
    length = next((s.window.us for s in stream_scans(part) if isinstance(s.window, Range)), 0)
    return replace(source, rows=source.rows * min(1.0, elapsed_us / length)) if length else source

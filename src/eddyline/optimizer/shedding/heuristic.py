"""The heuristic optimizer of section 5.2: System R, with drop boxes tuned at each level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eddyline.optimizer.joins.costing import Costing
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.query import JoinQuery, Mask, Source, members
from eddyline.optimizer.joins.trees import Tree, around, clique
from eddyline.optimizer.shedding.setting import Setting, shed


@dataclass(frozen=True)
class _SubPlan:
    """The best left-deep plan of some sources, with the drop boxes that it has needed so far."""

    tree: Tree
    keep: tuple[float, ...]
    objective: float


def heuristic_left_deep(
    query: JoinQuery,
    costing: Costing,
    capacity: float = 1.0,
    floor: float = 0.0,
    *,
    cross_products: bool = False,
) -> Setting:
    """A left-deep plan with its drop boxes set, found bottom up.

    For each set of sources the best plan is kept, its boxes set so that it is feasible by itself;
    with the next source these boxes are filters, which may have to be followed by others. That
    decides early: what one level has dropped no later one takes back. If all is feasible it is the
    best left-deep plan, else not always (Figure 10).

    Args:
        floor: the least share that every box keeps.
    """
    graph = clique(len(query.sources)) if cross_products else query.neighbours()
    nothing_dropped = (1.0,) * len(query.sources)
    best = {1 << i: _SubPlan(i, nothing_dropped, math.inf) for i in range(len(query.sources))}
    for sources in sorted(range(1, query.everything + 1), key=int.bit_count):
        plans = [
            _grown(best[sources & ~(1 << last)], last, query, costing, capacity, floor)
            for last in _last_ones(sources, graph, best)
        ]
        if plans:
            best[sources] = max(plans, key=lambda plan: plan.objective)
    found = best[query.everything]
    return Setting(PlanFunctions(query, found.tree, costing), found.keep, capacity)


def _last_ones(sources: Mask, graph: Sequence[Mask], best: dict[Mask, _SubPlan]) -> Iterator[int]:
    """Which of some sources may be joined last."""
    everything = (1 << len(graph)) - 1
    for last in members(sources) if sources.bit_count() > 1 else ():
        others = sources & ~(1 << last)
        allowed = around(others, graph) or everything
        if others in best and allowed >> last & 1:
            yield last


def _grown(
    below: _SubPlan,
    last: int,
    query: JoinQuery,
    costing: Costing,
    capacity: float,
    floor: float,
) -> _SubPlan:
    """A plan joined with one more source."""
    filtered = [_behind(source, x) for source, x in zip(query.sources, below.keep, strict=True)]
    tree = below.tree, last
    plan = PlanFunctions(replace(query, sources=tuple(filtered)), tree, costing)
    setting = shed(plan, capacity, floor, thorough=False)
    keep = tuple(x * more for x, more in zip(below.keep, setting.keep, strict=True))
    return _SubPlan(tree, keep, setting.objective)


def _behind(source: Source, keep: float) -> Source:
    """The source behind a drop box that is taken for a filter in front of its window."""
    return replace(
        source,
        rate=source.rate * keep,
        rows=source.rows * (keep if source.by_time else 1.0),
        taken_back=source.taken_back * keep,
        arriving=source.arriving * keep,
    )

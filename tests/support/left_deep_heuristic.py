"""The heuristic of Ayad and Naughton 2004, section 5.2, for one query: a reference for figures."""

from __future__ import annotations

import math
from dataclasses import replace

from eddyline.bench.comparison.shedding import Setting, shed
from eddyline.optimizer.joins.costing import Costing
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.query import JoinQuery, Mask, Source, members
from eddyline.optimizer.joins.trees import Tree, around


def heuristic_left_deep(
    query: JoinQuery, costing: Costing, capacity: float, graph: list[Mask]
) -> Setting:
    """A left-deep plan with its drop boxes set, found bottom up: what a level drops stays dropped.

    Args:
        graph: by source, the sources that it may be joined with next.
    """
    sources = len(query.sources)
    best: dict[Mask, tuple[float, Tree, tuple[float, ...]]] = {
        1 << i: (math.inf, i, (1.0,) * sources) for i in range(sources)
    }
    for inside in sorted(range(1, query.everything + 1), key=int.bit_count):
        for last in members(inside) if inside.bit_count() > 1 else ():
            below = best.get(inside & ~(1 << last))
            if below is None or not around(inside & ~(1 << last), graph) >> last & 1:
                continue
            grown = _grown(below[1:], last, query, costing, capacity)
            if inside not in best or grown[0] > best[inside][0]:
                best[inside] = grown
    _, tree, keep = best[query.everything]
    return Setting(PlanFunctions(query, tree, costing), keep, capacity)


def _grown(
    below: tuple[Tree, tuple[float, ...]],
    last: int,
    query: JoinQuery,
    costing: Costing,
    capacity: float,
) -> tuple[float, Tree, tuple[float, ...]]:
    """A plan joined with one more source: results per second of work (Eq. 21), tree, keep rates."""
    tree, keep = (below[0], last), below[1]
    filtered = tuple(_behind(s, x) for s, x in zip(query.sources, keep, strict=True))
    setting = shed(PlanFunctions(replace(query, sources=filtered), tree, costing), capacity)
    return (
        setting.output / setting.utilisation if setting.utilisation else math.inf,
        tree,
        tuple(x * more for x, more in zip(keep, setting.keep, strict=True)),
    )


def _behind(source: Source, keep: float) -> Source:
    """A source behind a drop box, which acts as a filter before its window."""
    return replace(
        source,
        rate=source.rate * keep,
        rows=source.rows * (keep if source.by_time else 1.0),
        taken_back=source.taken_back * keep,
        arriving=source.arriving * keep,
    )

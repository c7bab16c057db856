"""Which plan to run, and with which drop boxes: section 5.

The plan that costs least is the one to run if it is feasible. If none is, it need not be the one to
shed load from: what is dropped changes what is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eddyline.optimizer.joins.costing import Costing
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.query import JoinQuery
from eddyline.optimizer.joins.search import cheapest
from eddyline.optimizer.joins.trees import Tree, all_bushy, clique
from eddyline.optimizer.shedding.setting import Setting, shed

#: Of at most so many sources all trees are tried: five have 105 bushy ones.
TRY_ALL: Final = 5


def best_setting(
    query: JoinQuery,
    costing: Costing,
    capacity: float = 1.0,
    *,
    floor: float = 0.0,
    cross_products: bool = False,
    try_all: int = TRY_ALL,
) -> Setting:
    """The plan with the largest R(p), its drop boxes set: the objective of Equation 21.

    With at most ``try_all`` sources, all windows of one kind, it is the best of all trees. Else
    trees and settings are improved in turn from several starts: no other tree is cheaper at the
    settings found, and no others are better for the tree, but both at once may be.

    Args:
        floor: the least share to keep of every source; see :func:`shed`.
        cross_products: whether sources may be joined that nothing ties, though others are tied.
    """
    tree = cheapest(query, costing, cross_products=cross_products)
    first = shed(PlanFunctions(query, tree, costing), capacity, floor)
    if first.needed <= capacity:
        return first
    if len(query.sources) <= try_all and not _is_mixed(query):
        graph = clique(len(query.sources)) if cross_products else query.neighbours()
        return best_of(all_bushy(graph), query, costing, capacity, floor)
    starts = _starts(first)
    found = (_improved(first, keep, floor, cross_products=cross_products) for keep in starts)
    best = max(found, key=lambda setting: setting.objective)
    return shed(best.plan, capacity, floor) if _is_mixed(query) else best


def best_of(
    trees: Iterable[Tree],
    query: JoinQuery,
    costing: Costing,
    capacity: float = 1.0,
    floor: float = 0.0,
) -> Setting:
    """The best of some trees, each with its drop boxes set (section 5.1)."""
    settings = (shed(PlanFunctions(query, tree, costing), capacity, floor) for tree in trees)
    return max(settings, key=lambda setting: setting.objective)


def _is_mixed(query: JoinQuery) -> bool:
    return len({source.by_time for source in query.sources if source.rate}) == 2


def _starts(first: Setting) -> Iterator[tuple[float, ...]]:
    """Keep rates to look for cheap trees at: as found first, all alike, and one source alone."""
    yield first.keep
    sources = len(first.keep)
    for x in (0.3, 0.1, 0.01):
        yield (x,) * sources
    for kept in range(sources):
        yield tuple(1.0 if source == kept else 0.01 for source in range(sources))


def _improved(
    setting: Setting, keep: tuple[float, ...], floor: float, *, cross_products: bool
) -> Setting:
    """In turn the cheapest tree at the keep rates, and the best keep rates for the tree."""
    plan = setting.plan
    while True:
        tree = cheapest(plan.query, plan.costing, keep, cross_products=cross_products)
        other = PlanFunctions(plan.query, tree, plan.costing)
        found = shed(other, setting.capacity, floor, thorough=False)
        if found.output <= setting.output * (1 + 1e-9):
            return setting
        setting, keep = found, found.keep

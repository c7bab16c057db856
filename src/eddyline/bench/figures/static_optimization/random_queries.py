"""The thousand random queries of section 6, all at once: NumPy arrays over queries.

All of them are one join graph with windows of rows (Table 2) and differ in their rates, so what a
set of sources emits is one linear function of the keep rates per query (Eq. 18), and so is the cost
of a plan. ``tests/bench/figures`` holds these lines against the optimizer's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eddyline.bench.comparison.static_joins import all_left_deep, join_query
from eddyline.optimizer.joins.query import JoinQuery, Mask, Source, members
from eddyline.optimizer.joins.trees import Tree, around, clique, mask, subtrees

Floats = NDArray[np.float64]

#: Table 2.
ROWS: Final[Mapping[str, int]] = {"A": 100, "B": 300, "C": 500, "D": 400, "E": 1_000}
SELECTIVITIES: Final[Mapping[tuple[str, str], float]] = {
    ("A", "B"): 0.2,
    ("A", "C"): 0.5,
    ("B", "D"): 0.1,
    ("D", "E"): 0.001,
}
_RATES: Final = (10, 1_000)  # rows per second, uniformly
_SEED: Final = 2004


def random_rates(queries: int) -> Floats:
    """Rates of the five sources: (queries, sources)."""
    rng = np.random.default_rng(_SEED)
    return rng.uniform(*_RATES, (queries, len(ROWS)))


def as_query(rates: Sequence[float]) -> JoinQuery:
    """One of the queries, as the optimizer takes it."""
    named = zip(ROWS.items(), rates, strict=True)
    return join_query([Source.last(n, rate, rows) for (n, rows), rate in named], SELECTIVITIES)


@dataclass(frozen=True)
class Choice:
    """What some way to optimize chooses, for each query.

    Attributes:
        output: results per second, (queries,). cost: input rows per second of the joins.
    """

    output: Floats
    cost: Floats


@dataclass(frozen=True)
class RandomQueries:
    """Queries and what is expected of their plans, in rows per second.

    An input row of a join costs 1, so resources are rows per second: the inverse of the paper's
    cost of a join per tuple.

    Attributes:
        rates: (queries, sources).
        cross_products: whether plans may join sources that nothing ties.
    """

    rates: Floats
    cross_products: bool
    _emitted: dict[Mask, Floats] = field(default_factory=dict, init=False, repr=False)

    @property
    def graph(self) -> list[Mask]:
        """Which sources may be joined next to which."""
        if self.cross_products:
            return clique(len(ROWS))
        return as_query(self.rates[0]).neighbours()

    def emitted(self, sources: Mask) -> Floats:
        """Rows per second that the join of some sources emits on behalf of each of them.

        That is, arrivals of source k have f * rate_k * (windows of the others) results
        (Eq. 5). (queries, sources)
        """
        found = self._emitted.get(sources)
        if found is None:
            names, rows = list(ROWS), list(ROWS.values())
            inside = {names[i] for i in members(sources)}
            share = math.prod(f for pair, f in SELECTIVITIES.items() if inside.issuperset(pair))
            windows = math.prod(rows[i] for i in members(sources))
            found = np.zeros_like(self.rates)
            for i in members(sources):
                found[:, i] = share * windows / rows[i] * self.rates[:, i]
            self._emitted[sources] = found
        return found

    def plans(self) -> list[Tree]:
        """All left-deep plans."""
        return list(all_left_deep(self.graph))

    def costs(self) -> Floats:
        """Input rows per second of the joins of each plan: (queries, plans, sources)."""
        return np.stack([self._cost(tree) for tree in self.plans()], axis=1)

    def _cost(self, tree: Tree) -> Floats:
        *inputs, _ = subtrees(tree)
        return sum((self.emitted(mask(t)) for t in inputs), np.zeros_like(self.rates))

    def outputs(self) -> Floats:
        """Results per second on behalf of each source, whatever the plan: (queries, sources)."""
        return self.emitted((1 << len(ROWS)) - 1)

    def heuristic(self, resources: Floats) -> Choice:
        """The optimizer of section 5.2.

        Args:
            resources: rows per second, (queries,).
        """
        everything = (1 << len(ROWS)) - 1
        keep = {1 << i: np.ones_like(self.rates) for i in range(len(ROWS))}
        cost = {1 << i: np.zeros_like(self.rates) for i in range(len(ROWS))}
        for sources in sorted(range(1, everything + 1), key=int.bit_count):
            tried = []
            for last in members(sources) if sources.bit_count() > 1 else []:
                others = sources & ~(1 << last)
                if others in keep and around(others, self.graph) >> last & 1:
                    comes = cost[others] + self.emitted(others) + self.emitted(1 << last)
                    gains = self.emitted(sources) * keep[others]
                    kept = keep[others] * filled(gains, comes * keep[others], resources)
                    tried.append((comes, kept))
            if tried:
                emits = self.emitted(sources)
                ratios = [(emits * x).sum(1) / (comes * x).sum(1) for comes, x in tried]
                best = np.argmax(ratios, axis=0)
                cost[sources] = _picked([comes for comes, _ in tried], best)
                keep[sources] = _picked([kept for _, kept in tried], best)
        x = keep[everything]
        return Choice((self.outputs() * x).sum(1), (cost[everything] * x).sum(1))


def filled(gains: Floats, costs: Floats, budget: Floats) -> Floats:
    """Continuous knapsacks, side by side: the keep rates that gain most within each budget.

    Args:
        gains, costs: (..., sources); what costs nothing is kept. budget: (...).
    """
    ratios = np.divide(gains, costs, out=np.zeros_like(gains), where=costs > 0)
    order = np.argsort(-ratios, axis=-1, kind="stable")
    sorted_costs = np.take_along_axis(costs, order, axis=-1)
    spent_before = np.cumsum(sorted_costs, axis=-1) - sorted_costs
    left = budget[..., None] - spent_before
    kept = np.divide(left, sorted_costs, out=np.ones_like(left), where=sorted_costs > 0)
    found = np.empty_like(kept)
    np.put_along_axis(found, order, np.clip(kept, 0.0, 1.0), axis=-1)
    return found


def _picked(choices: Sequence[Floats], which: NDArray[np.int64]) -> Floats:
    """Of each query the row of one of the choices."""
    picked: Floats = np.stack(choices)[which, np.arange(which.size)]
    return picked

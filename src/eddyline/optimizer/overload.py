"""What a set of queries needs, and which share of the streams' rows to keep if that is too much.

The cost model is evaluated at a grid of keep rates; through its values goes a sum of products of
keep rates, exactly wherever the model is one (Ayad and Naughton 2004, equations 18 and 19:
selections and window joins are), and :mod:`eddyline.optimizer.shedding` finds the best setting of
the drop boxes for that. What the setting costs is then reckoned by the model itself.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from eddyline.algebra.plan import Plan, StreamScan
from eddyline.algebra.reads import nodes, streams_read
from eddyline.optimizer.cost import cost
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.shedding.geometric import Floats, Sum
from eddyline.optimizer.shedding.program import Program
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.thinned import output_share, thinned

#: So much of a stream is always kept: a window of rows of which none comes would never move on.
LEAST_KEPT: Final = 0.01
_SPARED: Final = 1e-3  # of the capacity, so that what is found does not exceed it
_ROUNDS: Final = 5
_MOST_POWERS: Final = 3  # of one keep rate: so often is a stream joined with itself

#: By the powers of keep rates that are multiplied, one per stream, the factor.
_Terms: TypeAlias = dict[tuple[int, ...], float]


@dataclass(frozen=True)
class Verdict:
    """Whether queries are feasible, and how.

    Attributes:
        capacity: cores' worth that there is. needed: with all rows kept.
        keep: the share of rows to keep, by stream that is to be thinned. used: cores' worth then.
        outputs: the expected output by query as a share of the full one, where it is less.
    """

    capacity: float
    needed: float
    used: float
    keep: Mapping[str, float] = field(default_factory=dict)
    outputs: Mapping[str, float] = field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """Whether all rows can be kept."""
        return self.needed <= self.capacity

    def text(self) -> str:
        """For people.

        >>> Verdict(1.0, 1.4, 1.0, {"b": 0.88}, {"q": 0.88}).text()
        'needs 1.4 of 1 cores; feasible with 12 % of b dropped, output 0.88 of full'
        """
        needs = f"needs {self.needed:.3g} of {self.capacity:g} cores"
        if not self.keep:
            return needs if self.feasible else f"{needs}; no stream can be thinned"
        dropped = ", ".join(f"{100 * (1 - x):.3g} % of {name}" for name, x in self.keep.items())
        shares = [s for s in self.outputs.values() if s is not None]
        output = ""
        if shares:
            low, high = f"{min(shares):.2g}", f"{max(shares):.2g}"
            output = f", output {low if low == high else f'{low} to {high}'} of full"
        if self.used > self.capacity * (1 + _SPARED):
            return f"{needs}, and {self.used:.3g} even with {dropped} dropped{output}"
        return f"{needs}; feasible with {dropped} dropped{output}"


def verdict(
    plans: Mapping[str, Plan],
    thinnable: Collection[str],
    capacity: float,
    statistics: Statistics,
    prices: Prices = TYPICAL,
) -> Verdict | None:
    """What plans need, and how to set drop boxes if that is more than there is.

    The product of the outputs of all queries that the boxes touch is made as large as possible.

    Args:
        plans: of the queries, by name. Equal sub-plans run, and count, once.
        thinnable: streams whose rows may be dropped.
        capacity: cores' worth.

    Returns:
        None if the rate of a stream that they read is not known.
    """
    read = frozenset(s for plan in plans.values() for s in streams_read(plan))
    if not read or any(stream not in statistics.rates for stream in read):
        return None
    problem = _Problem(plans, sorted(read & set(thinnable)), statistics, prices)
    needed = problem.cores({})
    if needed <= capacity or not problem.streams:
        return Verdict(capacity, needed, needed)
    keep = problem.solve(capacity)
    outputs = {n: output_share(p, keep, statistics) for n, p in plans.items()}
    less = {n: share for n, share in outputs.items() if share is not None and share < 1}
    return Verdict(capacity, needed, problem.cores(keep), keep, less)


class _Problem:
    """Costs and outputs of plans as functions of the keep rates of some streams."""

    def __init__(
        self, plans: Mapping[str, Plan], streams: list[str], statistics: Statistics, prices: Prices
    ) -> None:
        self.streams = streams
        self._plans = plans
        self._statistics = statistics
        self._prices = prices

    def cores(self, keep: Mapping[str, float]) -> float:
        """What all plans need at these keep rates."""
        known: dict[Plan, float] = {}
        for plan in self._plans.values():
            known |= self._costs(plan, keep)
        return sum(known.values())

    def solve(self, capacity: float) -> dict[str, float]:
        """The best keep rates of the streams that are not kept wholly."""
        costs, outputs = self._functions()
        target = capacity
        for _ in range(_ROUNDS):
            found = self._best(costs, outputs, target)
            keep = {s: x for s, x in zip(self.streams, found, strict=True) if x < 1 - _SPARED}
            used = self.cores(keep)
            if used <= capacity * (1 + _SPARED) or target <= 0:
                break
            target *= capacity / used * (1 - _SPARED)
        return keep

    def _best(self, costs: _Terms, outputs: list[_Terms], capacity: float) -> list[float]:
        floors = np.full(len(self.streams), LEAST_KEPT)
        scale = 1 / capacity / (1 - _SPARED / 2)
        sums = tuple(_sum(o) for o in outputs)
        everything = Sum(np.ones(1), np.ones((1, len(self.streams))))
        program = Program(sums or (everything,), _sum(costs, scale), floors)
        return [float(x) for x in program.best()]

    def _functions(self) -> tuple[_Terms, list[_Terms]]:
        """The cost of all plans, and the output of each that the boxes touch."""
        costs: _Terms = {}
        outputs: list[_Terms] = []
        counted: set[Plan] = set()
        for plan in self._plans.values():
            grid = _Grid(plan, self.streams)
            rows = [self._costs(plan, keep) for keep in grid.points()]
            for node in rows[-1].keys() - counted:
                grid.add_terms([row[node] for row in rows], costs)
            counted |= rows[-1].keys()
            if grid.streams:
                output: _Terms = {}
                grid.add_terms([self._rate(plan, keep) for keep in grid.points()], output)
                outputs += [output] if output else []
        return costs, outputs

    def _costs(self, plan: Plan, keep: Mapping[str, float]) -> dict[Plan, float]:
        found = cost(plan, thinned(self._statistics, keep), self._prices)
        return {node.plan: node.own for node in found.nodes()}

    def _rate(self, plan: Plan, keep: Mapping[str, float]) -> float:
        return estimate(plan, thinned(self._statistics, keep)).rate


class _Grid:
    """Points at which a plan's function of keep rates is known, and the polynomial through them.

    In each keep rate the function has the power with which its stream is joined with itself.
    """

    def __init__(self, plan: Plan, streams: list[str]) -> None:
        scans = Counter(n.stream for n in nodes(plan) if isinstance(n, StreamScan))
        self._all = streams
        self.streams = [s for s in streams if s in scans]
        self._powers = [min(scans[s], _MOST_POWERS) for s in self.streams]

    def points(self) -> Iterator[dict[str, float]]:
        """Keep rates by stream; the last point is where all rows are kept."""
        axes = ([j / power for j in range(power + 1)] for power in self._powers)
        for point in itertools.product(*axes):
            yield dict(zip(self.streams, point, strict=True))

    def add_terms(self, values: list[float], terms: _Terms) -> None:
        """Add the polynomial with these values at the points.

        Where that has negative factors, as of DISTINCT, which grows ever more slowly, the others
        are made smaller: the value with all rows kept stays as it is.
        """
        factors = np.array(values).reshape([p + 1 for p in self._powers])
        for axis, power in enumerate(self._powers):
            grid = np.vander(np.arange(power + 1) / power, increasing=True)
            factors = np.moveaxis(np.tensordot(np.linalg.inv(grid), factors, (1, axis)), 0, axis)
        factors = np.where(factors > 1e-12 * abs(values[-1]), factors, 0.0)
        if factors.sum() > 0:
            factors *= values[-1] / factors.sum()
        for place in np.argwhere(factors):
            powers = dict(zip(self.streams, map(int, place), strict=True))
            key = tuple(powers.get(s, 0) for s in self._all)
            terms[key] = terms.get(key, 0.0) + float(factors[tuple(place)])


def _sum(terms: _Terms, scale: float = 1.0) -> Sum:
    factors: Floats = np.array(list(terms.values())) * scale
    return Sum(factors, np.array(list(terms), float))

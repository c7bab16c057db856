"""The load of a set of queries, and under overload the keep rates of the streams' rows.

The cost model is evaluated at a grid of keep rates and interpolated by a sum of products of keep
rates. The interpolation is exact where the model has this form (Ayad and Naughton 2004, equations
18 and 19: selections and window joins). :mod:`eddyline.optimizer.shedding` finds the best setting
of the drop boxes for it; the model itself then gives the cost of that setting.

Dropping rows changes which join order is cheapest, so plans and settings are improved alternately,
from several starts (section 5.1).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, log, prod
from typing import Final, TypeAlias

import numpy as np

from eddyline.algebra.reads import stream_scans, streams_read
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.shedding.geometric import Floats, Sum
from eddyline.optimizer.shedding.program import Program
from eddyline.optimizer.shedding.several import best_within
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.thinned import thinned
from eddyline.optimizer.verdict import SPARED, Limits, Verdict
from eddyline.optimizer.work import Work, cores_of, state_of

#: Least keep rate: without arriving rows a window of rows would never advance.
LEAST_KEPT: Final = 0.01
_WHOLLY: Final = 1 - 1e-3  # keep rates from here on count as 1
_ROUNDS: Final = 5
_DIGITS: Final = 6  # of keep rates: sums in another order give the same ones
_MOST_POWERS: Final = 3  # of one keep rate: the number of self-joins of a stream
_STARTS: Final = (0.3, 0.1, 0.01)  # uniform keep rates at which cheap plans are searched
#: Maximum number of streams with drop boxes, those with the largest savings: the grid grows
#: exponentially with it.
MOST_BOXES: Final = 6
#: Maximum number of grid points of all starts; beyond it only one start is used.
_MOST_POINTS: Final = 700
#: Least gain, in the sum of the outputs' logarithms, for which joins are re-ordered.
_GAIN: Final = 0.05

#: Coefficients by the powers of the keep rates, one power per stream.
_Terms: TypeAlias = dict[tuple[int, ...], float]


def verdict(
    works: Sequence[Work],
    thinnable: Collection[str],
    limits: Limits,
    statistics: Statistics,
    prices: Prices = TYPICAL,
) -> Verdict | None:
    """The load of running units, and under overload the best drop boxes.

    Maximizes the product of the outputs of all queries that the boxes affect, over keep rates and
    over the joins of the units that can be re-ordered.

    Args:
        works: the running units.
        thinnable: streams whose rows may be dropped.

    Returns:
        None if the rate of a stream is unknown.
    """
    read = frozenset(s for work in works for s in streams_read(work.plan))
    if not read or any(stream not in statistics.rates for stream in read):
        return None
    streams = sorted(read & set(thinnable))
    first = _Problem(works, streams, statistics, prices, limits)
    needed, state = first.cores({}), first.nbytes({})
    found = Verdict(limits.cores, needed, needed, memory=limits.memory, state=state, stored=state)
    if found.feasible or not streams:
        return found
    problem, keep = _best(first.narrowed())
    outputs = {n: share for work, share in problem.shares(keep) for n in work.names if share < 1}
    others = tuple(w for w, before in zip(problem.works, works, strict=True) if w is not before)
    used, stored = problem.cores(keep), problem.nbytes(keep)
    return replace(found, used=used, stored=stored, keep=keep, outputs=outputs, reordered=others)


def _best(problem: _Problem) -> tuple[_Problem, dict[str, float]]:
    """The best joins and keep rates; the running joins unless others gain."""
    best, keep = problem, problem.solve()
    feasible, score = problem.rank(keep)
    least = feasible, score + _GAIN
    starts = [keep, *_starts(problem.streams)]
    for start in starts if problem.points() * len(starts) <= _MOST_POINTS else starts[:1]:
        for found, rates in _improved(problem, start):
            rank = found.rank(rates)
            if rank > least:
                best, keep, least = found, rates, rank
    return best, keep


def _starts(streams: Sequence[str]) -> Iterator[dict[str, float]]:
    """Keep rates at which cheap joins are searched: equal for all, or 1 for one stream only."""
    for x in _STARTS:
        yield dict.fromkeys(streams, x)
    for kept in streams:
        yield {stream: 1.0 if stream == kept else LEAST_KEPT for stream in streams}


def _improved(
    problem: _Problem, keep: dict[str, float]
) -> Iterator[tuple[_Problem, dict[str, float]]]:
    """Alternates between the cheapest joins at the keep rates and the best rates for the joins."""
    reached = -inf
    while (other := problem.reordered(keep)) is not problem:
        problem, keep = other, other.solve()
        score = problem.score(keep)
        if score <= reached + 1e-9:
            break
        reached = score
        yield problem, keep


class _Problem:
    """Costs and outputs of units as functions of the keep rates of some streams."""

    def __init__(
        self,
        works: Sequence[Work],
        streams: list[str],
        statistics: Statistics,
        prices: Prices,
        limits: Limits,
    ) -> None:
        self.works = works
        self.streams = streams
        self._statistics = statistics
        self._prices = prices
        self._limits = limits

    def narrowed(self) -> _Problem:
        """The problem with drop boxes only for the streams with the largest savings."""
        if len(self.streams) <= MOST_BOXES:
            return self
        left = {stream: self._load({stream: LEAST_KEPT}) for stream in self.streams}
        chosen = sorted(sorted(left, key=lambda s: (left[s], s))[:MOST_BOXES])
        return self._with(self.works, chosen)

    def _with(self, works: Sequence[Work], streams: list[str]) -> _Problem:
        return _Problem(works, streams, self._statistics, self._prices, self._limits)

    def points(self) -> int:
        """Maximum number of grid points of a unit."""
        return max(_Grid(work, self.streams).size for work in self.works)

    def cores(self, keep: Mapping[str, float]) -> float:
        """Utilisation of all units at these keep rates."""
        return cores_of(self.works, thinned(self._statistics, keep), self._prices)

    def nbytes(self, keep: Mapping[str, float]) -> float:
        """Bytes of state of all units at these keep rates; 0 if there is no limit."""
        if self._limits.memory == inf:
            return 0.0
        size = state_of(self.works, thinned(self._statistics, keep))
        return sum(size.by_stem(self._limits.sizes).values())

    def _load(self, keep: Mapping[str, float]) -> float:
        """The larger of the two needs, as a share of what there is."""
        return max(self.cores(keep) / self._limits.cores, self.nbytes(keep) / self._limits.memory)

    def score(self, keep: Mapping[str, float]) -> float:
        """The sum of the logarithms of the queries' outputs, as shares of the full outputs."""
        return sum(work.count * log(share) if share else -inf for work, share in self.shares(keep))

    def rank(self, keep: Mapping[str, float]) -> tuple[bool, float]:
        """Sort key: feasibility, then output."""
        return self._load(keep) <= 1 + SPARED, self.score(keep)

    def shares(self, keep: Mapping[str, float]) -> Iterator[tuple[Work, float]]:
        """The remaining share of each non-empty output."""
        for work in self.works:
            if work.count and (full := work.rate(self._statistics)):
                yield work, self._rate(work, keep) / full

    def reordered(self, keep: Mapping[str, float]) -> _Problem:
        """The problem with the joins that are cheapest at these keep rates."""
        known = thinned(self._statistics, keep)
        others = [work.reordered(known) for work in self.works]
        if not any(others):
            return self
        works = [other or work for other, work in zip(others, self.works, strict=True)]
        return self._with(works, self.streams)

    def solve(self) -> dict[str, float]:
        """The best keep rates, without those that count as 1."""
        limits, program = self._limits, self._program()
        state = None if limits.memory == inf else self._state()
        share = 1.0  # of the limits
        for _ in range(_ROUNDS):
            target = share * (1 - SPARED / 2)
            if state is None:
                found = program.within(target * limits.cores).best()
            else:
                least = Sum(state.coefficients / (target * limits.memory), state.exponents)
                found = best_within(program.within(target * limits.cores), least)
            rates = zip(self.streams, found.tolist(), strict=True)
            keep = {s: round(x, _DIGITS) for s, x in rates if x < _WHOLLY}
            load = self._load(keep)
            if load <= 1 + SPARED or share <= 0:
                break
            share *= (1 - SPARED) / load
        return keep

    def _state(self) -> Sum:
        """Bytes of the state of all units; a SteM is that of the unit with its longest window."""
        terms: _Terms = {}
        counted: set[Hashable] = set()
        largest: dict[str, tuple[float, _Grid, list[float]]] = {}
        measured = self._limits.sizes
        for work in self.works:
            grid = _Grid(work, self.streams)
            points = [work.state(thinned(self._statistics, keep)) for keep in grid.points()]
            rest = measured.get(None, 1.0)
            for part in points[-1].others.keys() - counted:
                grid.add_terms([rest * point.others[part] for point in points], terms)
            counted |= points[-1].others.keys()
            for name in points[-1].stems:
                values = [point.by_stem(measured)[name] for point in points]
                if values[-1] > largest.get(name, (0.0,))[0]:
                    largest[name] = values[-1], grid, values
        for _, grid, values in largest.values():
            grid.add_terms(values, terms)
        return _sum(terms)

    def _program(self) -> Program:
        """The cost of all units, and the output of each query that the boxes affect."""
        costs: _Terms = {}
        outputs: dict[tuple[tuple[tuple[int, ...], float], ...], int] = {}
        counted: set[Hashable] = set()
        for work in self.works:
            grid = _Grid(work, self.streams)
            rows = [self._costs(work, keep) for keep in grid.points()]
            for part in rows[-1].keys() - counted:
                grid.add_terms([row[part] for row in rows], costs)
            counted |= rows[-1].keys()
            if work.count and grid.streams:
                output: _Terms = {}
                grid.add_terms([self._rate(work, keep) for keep in grid.points()], output)
                if output:
                    like = _normal(output)
                    outputs[like] = outputs.get(like, 0) + work.count
        everything = Sum(np.ones(1), np.ones((1, len(self.streams))))
        return Program(
            tuple(_sum(dict(like)) for like in outputs) or (everything,),
            _sum(costs),
            np.full(len(self.streams), LEAST_KEPT),
            tuple(outputs.values()) or (1,),
        )

    def _costs(self, work: Work, keep: Mapping[str, float]) -> Mapping[Hashable, float]:
        return work.costs(thinned(self._statistics, keep), self._prices)

    def _rate(self, work: Work, keep: Mapping[str, float]) -> float:
        return work.rate(thinned(self._statistics, keep))


class _Grid:
    """Grid points of keep rates, and the polynomial through a unit's values at them.

    The degree in a keep rate is the number of scans of its stream.
    """

    def __init__(self, work: Work, streams: list[str]) -> None:
        scans = Counter(scan.stream for scan in stream_scans(work.plan))
        self._all = streams
        self.streams = [s for s in streams if s in scans]
        self._powers = [min(scans[s], _MOST_POWERS) for s in self.streams]

    @property
    def size(self) -> int:
        """Number of points."""
        return prod(power + 1 for power in self._powers)

    def points(self) -> Iterator[dict[str, float]]:
        """Keep rates by stream; at the last point all are 1."""
        axes = ([j / power for j in range(power + 1)] for power in self._powers)
        for point in itertools.product(*axes):
            yield dict(zip(self.streams, point, strict=True))

    def add_terms(self, values: list[float], terms: _Terms) -> None:
        """Add the polynomial with these values at the points.

        Negative coefficients (for example of DISTINCT, which is concave) are removed, and the
        others scaled so that the value at keep rates of 1 stays the same.
        """
        factors = np.array(values).reshape([p + 1 for p in self._powers])
        for axis, power in enumerate(self._powers):
            grid = np.vander(np.arange(power + 1) / power, increasing=True)
            factors = np.moveaxis(np.tensordot(np.linalg.inv(grid), factors, (1, axis)), 0, axis)
        factors = np.where(factors > 1e-12 * abs(values[-1]), factors, 0.0)
        if factors.sum() > 0:
            factors *= values[-1] / factors.sum()
        for position in np.argwhere(factors):
            powers = dict(zip(self.streams, map(int, position), strict=True))
            key = tuple(powers.get(s, 0) for s in self._all)
            terms[key] = terms.get(key, 0.0) + float(factors[tuple(position)])


def _normal(terms: _Terms) -> tuple[tuple[tuple[int, ...], float], ...]:
    """Terms as shares of their sum: proportional outputs have the same best settings."""
    whole = sum(terms.values())
    return tuple((powers, round(terms[powers] / whole, 9)) for powers in sorted(terms))


def _sum(terms: Mapping[tuple[int, ...], float]) -> Sum:
    factors: Floats = np.array(list(terms.values()))
    return Sum(factors, np.array(list(terms), float))

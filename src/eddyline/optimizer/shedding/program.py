"""The best settings of drop boxes: maximise outputs within a cost.

With keep rates x the output of a join is, by Equation 5,

    (product of x over the windows of time) * (c0 + sum of c_k x_k over the windows of rows)

and the cost a posynomial. So there are four kinds of program:

==================  ==========================================  ===============================
windows             program                                     what is found
==================  ==========================================  ===============================
rows, one query     linear, one constraint: a continuous        the optimum
                    knapsack (section 4.2.1)
time                geometric: convex in log x                  the optimum, to 1e-8
rows, more queries  concave: sums of logarithms of linear       the optimum, to about 1e-4
                    functions under a linear cost
mixed               neither: the output is a posynomial, which  a point that no small change
                    is to be *maximised*                        improves; the best of several
==================  ==========================================  ===============================

The last two go by condensation: the output is replaced by the product that touches it from below
at the current point (the inequality of arithmetic and geometric means), which leaves a geometric
program; its solution is the next point. The true output never falls, and a point where it stays
satisfies the Karush-Kuhn-Tucker conditions (Marks and Wright, Operations Research 26(4), 1978).

Of one mixed query the windows of rows are in the end set by the knapsack that is left when those of
time are fixed: then one of them at most is kept in part.

For several queries the product of their outputs is maximised, that is the sum of the logarithms: no
query can gain a per cent without others losing a per cent in sum (proportional fairness).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eddyline.optimizer.shedding import knapsack
from eddyline.optimizer.shedding.geometric import Floats, Sum, maximize_product

#: Keep rate of a source that is dropped wholly: geometric programs have no 0.
LEAST: Final = 1e-6
_NOTHING: Final = 1e-4  # a window of rows of which no more is kept might as well be dropped
_GAIN: Final = 1e-6  # of the outputs' logarithms: a round that gains less is the last one
_GAP: Final = 1e-7  # of a round
_FIRST_GAP: Final = 1e-3  # of the first rounds, after which the best start is seen
_FIRST_ROUNDS: Final = 3
_MOST_ROUNDS: Final = 60


@dataclass(frozen=True)
class Program:
    """Outputs to maximise by the keep rates of drop boxes, within a cost.

    Attributes:
        outputs: results per second of each query.
        cost: seconds per second, as a share of what there is: at most 1 is allowed.
        floors: the least allowed keep rates, (boxes,).
        counts: how many queries have each output; empty: one each.
    """

    outputs: tuple[Sum, ...]
    cost: Sum
    floors: Floats
    counts: tuple[int, ...] = ()

    def within(self, capacity: float) -> Program:
        """The program for a capacity in seconds per second."""
        return replace(self, cost=Sum(self.cost.coefficients / capacity, self.cost.exponents))

    def best(self) -> Floats:
        """The best keep rates; the floors where even these cost too much."""
        everything = np.ones_like(self.floors)
        if self.cost.at(everything) <= 1:
            return everything
        if self.cost.at(self.floors) >= 1:
            return self.floors.copy()
        if len(self.outputs) == 1 and _is_linear(self.outputs[0]) and _is_linear(self.cost):
            return self._with_knapsack(np.zeros_like(self.floors), everything > 0)
        if self.cost.at(self._above_zero) >= 1:
            return self._above_zero
        if all(map(_is_product, self.outputs)):
            keep = self._round(everything, 1e-8)
        else:
            keep = self._climb()
        keep[~self.cost.exponents.any(axis=0)] = 1.0  # costs nothing
        return keep

    def score(self, keep: Floats) -> float:
        """The sum of the outputs' logarithms."""
        with np.errstate(divide="ignore"):
            return float(sum(n * np.log(output.at(keep)) for n, output in self._counted()))

    def _round(self, keep: Floats, gap: float = _GAP) -> Floats:
        """The best keep rates for the products that touch the outputs at some point."""
        touching = (n * _touching_exponents(o, keep) for n, o in self._counted())
        weights = sum(touching, np.zeros(keep.size))
        if self.counts:  # to a gap that is one for all queries
            weights *= len(self.counts) / sum(self.counts)
        return maximize_product(weights, self.cost, self._above_zero, gap)

    def _counted(self) -> Iterator[tuple[int, Sum]]:
        return zip(self.counts or (1,) * len(self.outputs), self.outputs, strict=True)

    def _climb(self) -> Floats:
        """Where condensation leads from the most promising start."""
        begun = []
        for start in self._starts():
            for _ in range(_FIRST_ROUNDS):
                start = self._round(start, _FIRST_GAP)
            begun.append(start)
        keep = max(begun, key=self.score)
        return self._settled(self._to_the_top(keep))

    def _to_the_top(self, keep: Floats) -> Floats:
        for _ in range(_MOST_ROUNDS):
            found = self._round(keep)
            if self.score(found) <= self.score(keep) + _GAIN:
                break
            keep = found
        return keep

    def _starts(self) -> Iterator[Floats]:
        """Points to climb from, whatever they cost: where several peaks may be, more of them."""
        yield self._even
        if not all(map(_is_linear, self.outputs)):
            for box in range(self.floors.size):
                start = np.full_like(self.floors, 1e-3)
                start[box] = 1.0
                yield start

    def _settled(self, keep: Floats) -> Floats:
        """With the windows of rows set exactly, if there is one query."""
        if len(self.outputs) > 1:
            return keep
        rows = self._rows_boxes()
        dropped = rows & (self.floors == 0) & (keep <= _NOTHING)
        if dropped.any():
            others = keep.copy()
            others[dropped] = 0.0
            others[~dropped] = self._without(dropped)._round(keep[~dropped])
            keep = max(keep, others, key=self.score)
        found = self._with_knapsack(keep, rows)
        return max(keep, found, key=self.score)

    def _without(self, dropped: NDArray[np.bool_]) -> Program:
        """The program for the other boxes, where these keep nothing."""

        def left(of: Sum) -> Sum:
            stays = ~of.exponents[:, dropped].any(axis=1)
            return Sum(of.coefficients[stays], of.exponents[np.ix_(stays, ~dropped)])

        floors = self.floors[~dropped]
        return Program(tuple(map(left, self.outputs)), left(self.cost), floors, self.counts)

    def _rows_boxes(self) -> NDArray[np.bool_]:
        """Which boxes are of windows of rows alone: the output is linear in each set of them."""
        exponents = self.outputs[0].exponents
        is_rows: NDArray[np.bool_] = np.any(exponents == 0, axis=0)
        return is_rows

    def _with_knapsack(self, keep: Floats, chosen: NDArray[np.bool_]) -> Floats:
        """The chosen boxes set by a knapsack, the others as they are."""
        gains, _ = _linear_parts(self.outputs[0], keep, chosen)
        costs, fixed = _linear_parts(self.cost, keep, chosen)
        found = keep.copy()
        found[chosen] = knapsack.fill(gains, costs, 1 - fixed, self.floors[chosen])
        return found

    @property
    def _above_zero(self) -> Floats:
        """The floors, as a geometric program has them."""
        return np.maximum(self.floors, LEAST)

    @property
    def _even(self) -> Floats:
        return np.full_like(self.floors, 0.5)


def _is_product(output: Sum) -> bool:
    return output.coefficients.size == 1


def _is_linear(of: Sum) -> bool:
    return bool((of.exponents.sum(axis=1) <= 1).all())


def _linear_parts(of: Sum, keep: Floats, chosen: NDArray[np.bool_]) -> tuple[Floats, float]:
    """The factors of the chosen variables and the constant, where the others are fixed.

    No term may have two of the chosen ones.
    """
    fixed = np.prod(keep[~chosen] ** of.exponents[:, ~chosen], axis=1) * of.coefficients
    mine = of.exponents[:, chosen]
    assert mine.sum(axis=1).max(initial=0) <= 1, "the chosen variables are multiplied"
    return fixed @ mine, float(fixed[mine.sum(axis=1) == 0].sum())


def _touching_exponents(output: Sum, keep: Floats) -> Floats:
    """The exponents of the product that is the output at these keep rates, and nowhere above it."""
    terms = output.coefficients * np.prod(keep**output.exponents, axis=1)
    touching: Floats = (terms / terms.sum()) @ output.exponents
    return touching

"""Sums of products of keep rates, with positive coefficients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from eddyline.optimizer.joins.query import Mask, members


class Posynomial:
    """A function of the keep rates of a query's sources: the sum of ``c * x_i * x_j * ...``.

    Every rate, window and cost of a sub-plan is one (Eqs. 12, 18 and 19): no source occurs in both
    inputs of a join, so none occurs twice in a product.

    Args:
        terms: by the set of sources whose keep rates are multiplied, the coefficient.

    >>> load = Posynomial({0b01: 2.0}) + Posynomial({0b10: 3.0}) * 0.5
    >>> load.at([1.0, 0.5])
    2.75
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Mask, float]) -> None:
        self.terms = {sources: c for sources, c in terms.items() if c > 0}

    def __add__(self, other: Posynomial) -> Posynomial:
        terms = dict(self.terms)
        for sources, c in other.terms.items():
            terms[sources] = terms.get(sources, 0.0) + c
        return Posynomial(terms)

    def __mul__(self, other: Posynomial | float) -> Posynomial:
        if not isinstance(other, Posynomial):
            return Posynomial({sources: c * other for sources, c in self.terms.items()})
        terms: dict[Mask, float] = {}
        for a, c in self.terms.items():
            for b, d in other.terms.items():
                assert not a & b, "a source is in both inputs"
                terms[a | b] = terms.get(a | b, 0.0) + c * d
        return Posynomial(terms)

    def at(self, keep: Sequence[float]) -> float:
        """Its value at keep rates, one per source."""
        return sum(c * math.prod(keep[i] for i in members(s)) for s, c in self.terms.items())


#: A number at given keep rates, or as a function of them: the equations are the same.
Number = TypeVar("Number", float, Posynomial)

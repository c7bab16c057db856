"""Two orders measured beside each other on the same batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from eddyline.runtime.eddy.policies.base import Routable

Order = tuple[Routable, ...]

#: Standard errors that a difference must reach before the trial has run its time.
_CLEAR: Final = 2.0
#: Maximum number of batches of a trial; then the better average wins.
_BATCHES: Final = 8
_LEAST_VARIANCE: Final = 1e-4


@dataclass(slots=True)
class RouteCost:
    """The cost of rows along an order: the sum of the prices of their visits."""

    rows: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, rows: int, visits: Sequence[tuple[float, float]]) -> None:
        """Count a piece: by operator the number of rows that visited it, and the price of a visit.

        The correlation of visits is not known; the sum of squares is the largest possible: that of
        rows which, if they visit a rarely visited operator, visit all others.
        """
        self.rows += rows
        dearer = 0.0
        for visited, price in sorted(visits, reverse=True):
            each = max(visited / max(rows, 1), 1.0)  # rows that a probe has multiplied
            self.total += visited * price
            self.squares += visited * price * (each * price + 2.0 * dearer)
            dearer += each * price

    @property
    def mean(self) -> float:
        """Per row."""
        return self.total / self.rows

    @property
    def error(self) -> float:
        """Upper bound of the variance of the mean."""
        return max(self.squares / self.rows - self.mean**2, _LEAST_VARIANCE) / self.rows


@dataclass(slots=True)
class Trial:
    """A challenger beside the order that the other rows of the same batches take."""

    order: Order
    tried: RouteCost = field(default_factory=RouteCost)
    usual: RouteCost = field(default_factory=RouteCost)
    batches: int = 0

    def add(self, rows: int, visits: Sequence[tuple[float, float]], *, tried: bool) -> None:
        """Count a piece of a batch that took the challenger's order, or the usual one."""
        (self.tried if tried else self.usual).add(rows, visits)
        self.batches += tried

    def verdict(self) -> bool | None:
        """Whether the challenger is better; None while it is undecided."""
        if not (self.tried.rows and self.usual.rows):
            return None
        more = self.tried.mean - self.usual.mean
        if abs(more) > _CLEAR * math.sqrt(self.tried.error + self.usual.error):
            return more < 0.0
        return more < 0.0 if self.batches >= _BATCHES else None

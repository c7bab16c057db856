"""Whether a claim holds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

P = TypeVar("P")

Holds = Literal["yes", "in part", "no"]


@dataclass(frozen=True)
class Judgment:
    """What was measured, in words, and whether the claim holds."""

    measured: str
    holds: Holds


@dataclass(frozen=True)
class Regime(Generic[P]):
    """What must be so for a claim to be about what the paper measured.

    Attributes:
        asked: in words, with its tolerance.
        judge: of what was measured.
    """

    asked: str
    judge: Callable[[P], Judgment]

    def checked(self, measured: P, judge: Callable[[P], Judgment]) -> Judgment:
        """The judgment of a claim, which fails outside the regime."""
        found = self.judge(measured)
        if found.holds == "yes":
            return judge(measured)
        return Judgment(f"not the paper's regime ({self.asked}): {found.measured}", "no")


@dataclass(frozen=True)
class Spread:
    """Several measurements of one number: shown as median (least to most)."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """By which claims are judged."""
        return statistics.median(self.values)

    @property
    def least(self) -> float:
        """The smallest."""
        return min(self.values)

    @property
    def most(self) -> float:
        """The largest."""
        return max(self.values)

    def times(self, decimals: int = 1) -> str:
        """As a factor: ``1.8x (1.6 to 2.1)``."""
        median, least, most = (f"{v:,.{decimals}f}" for v in (self.median, self.least, self.most))
        return f"{median}x" if len(self.values) == 1 else f"{median}x ({least} to {most})"


def ratios(over: Sequence[float], under: Sequence[float]) -> Spread:
    """Of measurements taken in turns: round by round; of the medians where there are fewer of one.

    >>> ratios([2.0, 6.0, 4.0], [1.0, 2.0, 1.0]).times()
    '3.0x (2.0 to 4.0)'
    """
    if len(over) == len(under):
        return Spread(tuple(a / b for a, b in zip(over, under, strict=True)))
    return Spread((statistics.median(over) / statistics.median(under),))


def factor(ratio: float, wanted: float) -> Holds:
    """Whether a ratio reaches what is wanted; the right direction alone is a part."""
    if ratio >= wanted:
        return "yes"
    return "in part" if ratio > 1.0 else "no"

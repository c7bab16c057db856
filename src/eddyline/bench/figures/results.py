"""The measured points of one run, by case, window and contender."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eddyline.bench.figures.points import Point
from eddyline.bench.figures.verdicts import Spread, ratios


@dataclass(frozen=True)
class Results:
    """Points by (case, window, contender), all of one trace."""

    points: Sequence[Point]
    _by_key: dict[tuple[str, int, str], Point] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_key = {(p.case, p.window, p.contender): p for p in self.points}
        assert len(by_key) == len(self.points), "a point was measured twice"
        object.__setattr__(self, "_by_key", by_key)

    def windows(self, case: str) -> list[int]:
        """Measured windows of a case, in time units, ascending."""
        return sorted({p.window for p in self.points if p.case == case})

    def contenders(self, case: str) -> list[str]:
        """Measured contenders of a case, in the order of the case."""
        return list(dict.fromkeys(p.contender for p in self.points if p.case == case))

    def point(self, case: str, window: int, contender: str) -> Point:
        """One point; KeyError where it was not measured."""
        return self._by_key[case, window, contender]

    def ms(self, case: str, window: int, contender: str) -> float:
        """Milliseconds per 1,000 tuples."""
        return self.point(case, window, contender).median_ms

    def speedup(self, case: str, window: int, fast: str, slow: str) -> Spread:
        """How many times as fast ``fast`` is as ``slow``, by stretch."""
        times = (self.point(case, window, c).ms_per_1000 for c in (slow, fast))
        return ratios(*times)

    def premature(self, case: str, window: int, contender: str) -> float:
        """Share of the results that are taken back before they expire."""
        point = self.point(case, window, contender)
        return point.taken_back / max(point.inserted, 1)

    def saving(self, case: str, window: int, small: str, large: str) -> float:
        """How many times as many rows ``large`` keeps as ``small``."""
        more = self.point(case, window, large).state_rows
        return more / self.point(case, window, small).state_rows

    def fastest(self, case: str, window: int, contenders: Iterable[str]) -> str:
        """The contender with the least time."""
        return min(contenders, key=lambda contender: self.ms(case, window, contender))

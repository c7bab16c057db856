"""Whether the fan-outs of a query's joins are steady: then the best order of them is the same."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, Final

#: Fan-outs differ if one is this many times the other.
CHANGED: Final = 2.0
#: Minimum number of rows of a fan-out.
_LEAST_ROWS: Final = 256

#: By join or probe: rows in and rows out, so far.
Counts = Mapping[Any, tuple[int, int]]


class Steadiness:
    """Compares the fan-outs of one query's joins, period by period."""

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._seen: dict[object, tuple[int, int]] = {}
        self._reference: dict[object, tuple[int, int]] | None = None

    def look(self, counts: Counts) -> bool | None:
        """Whether the fan-outs since the last call are those of the reference; None: there is no
        reference yet, or too few rows. If they are not, they become the reference.
        """
        period = {}
        for key, (came, went) in counts.items():
            came_before, went_before = self._seen.get(key, (0, 0))
            if came - came_before >= _LEAST_ROWS:
                period[key] = (came - came_before, went - went_before)
        self._seen = dict(counts)
        before, self._reference = self._reference, self._reference or period
        both = period.keys() & (before or {}).keys()
        if before is None or not both:
            return None
        same = all(self._alike(before[k], period[k]) for k in both)
        if not same:
            self._reference = period
        return same

    def _alike(self, before: tuple[int, int], now: tuple[int, int]) -> bool:
        """Whether fan-outs are the same up to the factor, or to random deviations of small counts
        (three standard deviations, if matches are independent).
        """
        (came, went), (came_now, went_now) = before, now
        fan, fan_now = (went + 1) / came, (went_now + 1) / came_now
        if 1 / self._factor < fan_now / fan < self._factor:
            return True
        return abs(fan_now - fan) < 3 * sqrt(fan / came + fan_now / came_now)

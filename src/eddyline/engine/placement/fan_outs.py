"""Whether the fan-outs of a query's joins are steady, and the order of joins that they suggest.

An eddy measures how many matches its probes find, and follows changes of that; a tree of joins
keeps its intermediate results, and is faster as long as its order is right. So with
``executor = 'auto'`` a join of three streams or more begins in an eddy; when the fan-outs of its
probes have been steady it becomes a tree in the order that they suggest; when those of the tree's
joins have changed it returns to an eddy.

Source: Madden et al. 2002, section 1.1.1, on what a static plan cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, sqrt
from typing import Any, Final

from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.join import Join

#: Rows of a query between two comparisons of its fan-outs.
_PERIOD_ROWS: Final = 32_768
#: Fan-outs of a flow, and of a tree, differ if one is this many times the other.
STEADY: Final = 1.5
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
        self._rows = 0
        self._reference: dict[object, tuple[int, int]] | None = None

    def look(self, rows: int, counts: Callable[[], Counts]) -> bool | None:
        """Whether the fan-outs of a period are those of the reference; None: the period is not over
        or has too few rows. If they are not, this period becomes the reference.

        Args:
            rows: that the query has read so far.
        """
        if rows - self._rows < _PERIOD_ROWS:
            return None
        self._rows, now = rows, dict(counts())
        period = {}
        for key, (came, went) in now.items():
            came_before, went_before = self._seen.get(key, (0, 0))
            if came - came_before >= _LEAST_ROWS:
                period[key] = (came - came_before, went - went_before)
        self._seen = now
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


def of_joins(operators: list[Operator]) -> Counts:
    """Rows joined and results, made or spared, of the joins among the operators of a tree."""
    joins = (o for o in operators if isinstance(o, Join))
    return {i: (j.joined, j.rows_out + j.spared) for i, j in enumerate(joins)}


def best_order(flow: Flow) -> tuple[int, ...]:
    """The order of joins with few intermediate results, by the fan-outs of the flow."""
    rows = {n: source.rows_out for n, source in enumerate(flow.inputs)}
    fan = {key: went / max(came, 1) for key, (came, went) in flow.fan_outs.items()}

    def results(a: int, b: int) -> float:
        """How many pairs of rows of two sources match."""
        both = ((a, fan.get((frozenset((a,)), b))), (b, fan.get((frozenset((b,)), a))))
        known = [rows[s] * f for s, f in both if f is not None]
        return sum(known) * 2 / len(known) if known else inf

    pairs = [(a, b) for a in rows for b in rows if a < b and flow.are_tied(a, b)]
    first = min(pairs, key=lambda p: results(*p))
    order = list(first)
    while len(order) < len(rows):
        ready = [n for n in rows if n not in order and any(flow.are_tied(n, o) for o in order)]
        joined = frozenset(order)
        order.append(
            min(
                ready,
                key=lambda n: fan.get((joined, n), min(results(n, o) for o in joined)),
            )
        )
    return tuple(order)

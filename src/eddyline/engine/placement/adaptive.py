"""``executor = 'auto'`` for a join of three streams or more that is alone with its signature.

An eddy learns how many matches the probes find, and does not mind if that changes; a tree of
joins keeps its intermediate results, and is faster as long as its order is right. So such a query
begins in an eddy; when the fan-outs of its probes have been steady, it becomes a tree in the order
that they suggest; when those of the tree's joins have changed, it is an eddy again.

Source: Madden et al. 2002, section 1.1.1, on what a static plan cannot know.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, Final

from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.join import Join

#: Rows between two looks at the statistics.
_PERIOD_ROWS: Final = 32_768
#: Fan-outs differ if one is so many times the other.
_STEADY: Final = 1.5
_CHANGED: Final = 2.0
#: A ratio of less is not relied on.
_LEAST_ROWS: Final = 256

#: By join or probe: rows in and rows out, so far.
Counts = Mapping[Any, tuple[int, int]]


class Steadiness:
    """Watches the fan-outs of one query's joins, period by period."""

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._seen: dict[object, tuple[int, int]] = {}
        self._rows = 0
        self._reference: dict[object, tuple[int, int]] | None = None

    def look(self, rows: int, counts: Counts) -> bool | None:
        """Whether the fan-outs are what they were; None: it is too early to tell.

        Args:
            rows: that the query has read so far.
        """
        if rows - self._rows < _PERIOD_ROWS:
            return None
        self._rows = rows
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
        """Whether fan-outs are the same up to the factor, or to what chance does to small counts
        (three standard deviations, if matches come one by one).
        """
        (came, went), (came_now, went_now) = before, now
        fan, fan_now = (went + 1) / came, (went_now + 1) / came_now
        if 1 / self._factor < fan_now / fan < self._factor:
            return True
        return abs(fan_now - fan) < 3 * sqrt(fan / came + fan_now / came_now)


def until_steady() -> Steadiness:
    """For a query in an eddy."""
    return Steadiness(_STEADY)


def until_changed() -> Steadiness:
    """For a query that is a tree."""
    return Steadiness(_CHANGED)


def joins_below(operator: Operator) -> dict[object, tuple[int, int]]:
    """Rows joined and results of the joins of a tree, made or not."""
    joins = (o for o in in_order([operator]) if isinstance(o, Join))
    return {i: (j.joined, j.rows_out + j.spared) for i, j in enumerate(joins)}


def best_order(flow: Flow) -> tuple[int, ...]:
    """The order of joins that makes few intermediate results, by the fan-outs of the flow."""
    rows = {n: source.rows_out for n, source in enumerate(flow.inputs)}
    fan = {key: went / max(came, 1) for key, (came, went) in flow.fan_outs.items()}

    def results(a: int, b: int) -> float:
        """How many pairs two sources make."""
        both = ((a, fan.get((frozenset((a,)), b))), (b, fan.get((frozenset((b,)), a))))
        known = [rows[s] * f for s, f in both if f is not None]
        return sum(known) * 2 / len(known) if known else float("inf")

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

"""How many left rows a negation or an existence test shows, and how often it changes its mind.

Both sides are taken as independent Poisson streams whose rows are spread evenly over their key
values; the smaller set of values is within the larger one. The rows alive per value are then
Poisson variables with means ``m1`` and ``m2`` (the M/G/infinity queue), whatever the windows are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Means beyond which Poisson variables are taken as normal ones.
_NORMAL_FROM = 200.0


@dataclass(frozen=True)
class Side:
    """One input of the operator: rows per second, rows alive, and values that its key takes."""

    rate: float
    rows: float
    values: float

    def per_value(self, number: float) -> float:
        """A number of this side's rows, spread over its values."""
        return number / self.values


@dataclass(frozen=True)
class Shown:
    """What the operator makes of its left input.

    Attributes:
        share: of the left rows, how many are shown at the moment they leave their window.
        rows: left rows shown at an instant.
        changes: rows per second that are taken back although their window still holds them;
            about as many are shown again.
    """

    share: float
    rows: float
    changes: float


def without_match(left: Side, right: Side, residual: float = 1.0) -> Shown:
    """NOT EXISTS; ``residual`` is the share of pairs with equal keys that match."""
    common = _common(left, right)
    alone = math.exp(-right.per_value(right.rows) * residual)
    first_matches = right.per_value(right.rate) * residual * alone
    share = 1 - common + common * alone
    return Shown(share, left.rows * share, left.rows * common * first_matches)


def with_match(left: Side, right: Side, residual: float = 1.0) -> Shown:
    """EXISTS: the other rows. A match that comes first for NOT EXISTS goes last at another time,
    equally often.
    """
    others = without_match(left, right, residual)
    return Shown(1 - others.share, left.rows - others.rows, others.changes)


def surplus(left: Side, right: Side) -> Shown:
    """EXCEPT ALL: per value the youngest max(v1 - v2, 0) left rows.

    A shown row is taken back by a right row with its value, and by the end of an older left row
    that was not shown (v1 falls, v2 stays): that one had v1 others beside it, v1 >= v2 >= 1.
    """
    values = min(left.values, right.values)
    if math.isinf(values):  # no value comes twice, so none on both sides
        return Shown(1.0, left.rows, 0.0)
    common = _common(left, right)
    m2 = right.per_value(right.rows)
    mean, more, equal = difference(left.per_value(left.rows), m2)
    alone = math.exp(-m2)
    by_right = right.per_value(right.rate) * more
    by_left = left.per_value(left.rate) * max(0.0, more + equal - alone)
    return Shown(
        share=1 - common + common * alone,
        rows=left.rows * (1 - common) + values * mean,
        changes=values * (by_right + by_left),
    )


def difference(m1: float, m2: float) -> tuple[float, float, float]:
    """Of Poisson v1 and v2: the mean of max(v1 - v2, 0), P(v1 > v2), and P(v1 = v2).

    >>> [round(x, 4) for x in difference(0.1, 0.0)]
    [0.1, 0.0952, 0.9048]
    """
    if max(m1, m2) > _NORMAL_FROM:
        return _normal_difference(m1, m2)
    p1, p2 = math.exp(-m1), math.exp(-m2)  # P(v1 = k), P(v2 = k)
    above, upto = 1 - p1, p2  # P(v1 > k), P(v2 <= k)
    mean, more, equal = above * upto, above * p2, p1 * p2
    for k in range(1, int(m1 + 10 * math.sqrt(m1)) + 20):
        p1, p2 = p1 * m1 / k, p2 * m2 / k
        above, upto = max(0.0, above - p1), upto + p2
        mean, more, equal = mean + above * upto, more + above * p2, equal + p1 * p2
    return mean, more, equal


def _normal_difference(m1: float, m2: float) -> tuple[float, float, float]:
    spread = math.sqrt(m1 + m2)
    z = (m1 - m2) / spread
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    mean = spread * density + (m1 - m2) * _normal_cdf(z)
    return mean, _normal_cdf(z - 0.5 / spread), density / spread


def _normal_cdf(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2


def _common(left: Side, right: Side) -> float:
    """The share of left rows whose value the right side has at times."""
    if math.isinf(left.values):
        return 0.0
    return min(1.0, right.values / left.values)

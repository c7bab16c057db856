"""Expected output and retractions of negation and existence tests.

Both inputs are modelled as independent Poisson streams with uniform key values; the smaller set of
values is within the larger one. The numbers of live rows per value are then Poisson variables with
means ``m1`` and ``m2`` (the M/G/infinity queue), for any windows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Means beyond which Poisson variables are approximated by normal ones.
_NORMAL_FROM = 200.0


@dataclass(frozen=True)
class InputEstimate:
    """One input of the operator: rows per second, live rows, distinct key values."""

    rate: float
    rows: float
    values: float

    def per_value(self, number: float) -> float:
        """A number of this input's rows, divided by its number of values."""
        return number / self.values


@dataclass(frozen=True)
class OutputEstimate:
    """The operator's output, as a part of its left input.

    Attributes:
        share: of the left rows, those in the output at their expiry.
        rows: left rows in the output at an instant.
        changes: rows per second that are retracted before they expire; about as many are emitted
            again.
    """

    share: float
    rows: float
    changes: float


def without_match(
    left: InputEstimate, right: InputEstimate, residual: float = 1.0
) -> OutputEstimate:
    """NOT EXISTS; ``residual``: the share of pairs with equal keys that match."""
    common = _common(left, right)
    alone = math.exp(-right.per_value(right.rows) * residual)
    first_matches = right.per_value(right.rate) * residual * alone
    share = 1 - common + common * alone
    return OutputEstimate(share, left.rows * share, left.rows * common * first_matches)


def with_match(left: InputEstimate, right: InputEstimate, residual: float = 1.0) -> OutputEstimate:
    """EXISTS: the complement. In the steady state, first matches arrive as often as last matches
    expire.
    """
    others = without_match(left, right, residual)
    return OutputEstimate(1 - others.share, left.rows - others.rows, others.changes)


def surplus(left: InputEstimate, right: InputEstimate) -> OutputEstimate:
    """EXCEPT ALL: per value the youngest max(v1 - v2, 0) left rows.

    An output row is retracted by an arriving right row of its value, and by the expiry of an older
    left row outside the output (v1 falls, v2 stays): that one had v1 others beside it,
    v1 >= v2 >= 1.
    """
    values = min(left.values, right.values)
    if math.isinf(values):  # values never repeat, so no two rows match
        return OutputEstimate(1.0, left.rows, 0.0)
    common = _common(left, right)
    m2 = right.per_value(right.rows)
    mean, more, equal = difference(left.per_value(left.rows), m2)
    alone = math.exp(-m2)
    by_right = right.per_value(right.rate) * more
    by_left = left.per_value(left.rate) * max(0.0, more + equal - alone)
    return OutputEstimate(
        share=1 - common + common * alone,
        rows=left.rows * (1 - common) + values * mean,
        changes=values * (by_right + by_left),
    )


def difference(m1: float, m2: float) -> tuple[float, float, float]:
    """For Poisson v1 and v2: the mean of max(v1 - v2, 0), P(v1 > v2), and P(v1 = v2).

    >>> [round(x, 4) for x in difference(0.1, 0.0)]
    [0.1, 0.0952, 0.9048]
    """
    if max(m1, m2) > _NORMAL_FROM:
        return normal_difference(m1, m2)
    p1, p2 = math.exp(-m1), math.exp(-m2)  # P(v1 = k), P(v2 = k)
    above, upto = 1 - p1, p2  # P(v1 > k), P(v2 <= k)
    mean, more, equal = above * upto, above * p2, p1 * p2
    for k in range(1, int(m1 + 10 * math.sqrt(m1)) + 20):
        p1, p2 = p1 * m1 / k, p2 * m2 / k
        above, upto = max(0.0, above - p1), upto + p2
        mean, more, equal = mean + above * upto, more + above * p2, equal + p1 * p2
    return mean, more, equal


def normal_difference(m1: float, m2: float) -> tuple[float, float, float]:
    """As :func:`difference`, by a normal distribution: for large means."""
    spread = math.sqrt(m1 + m2)
    z = (m1 - m2) / spread
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    mean = spread * density + (m1 - m2) * _normal_cdf(z)
    return mean, _normal_cdf(z - 0.5 / spread), density / spread


def _normal_cdf(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2


def _common(left: InputEstimate, right: InputEstimate) -> float:
    """The share of left rows whose value is in the right input's set of values."""
    if math.isinf(left.values):
        return 0.0
    return min(1.0, right.values / left.values)

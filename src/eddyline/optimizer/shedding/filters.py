"""Queries of one stream and several filters: Observation 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class StreamFilter:
    """A selection.

    Attributes:
        row_s: seconds per row. selectivity: the share of rows that passes, from 0 to 1.
    """

    row_s: float
    selectivity: float


def utilisation(rate: float, filters: Sequence[StreamFilter]) -> float:
    """Seconds per second of filters in this order (Eqs. 12 and 14, nothing dropped).

    >>> first, second = StreamFilter(0.0005, 0.25), StreamFilter(0.001, 0.5)
    >>> utilisation(1_000, [first, second]), utilisation(1_000, [second, first])
    (0.75, 1.25)
    """
    total = 0.0
    for each in filters:
        total += rate * each.row_s
        rate *= each.selectivity
    return total


def cheapest_order(filters: Sequence[StreamFilter]) -> list[StreamFilter]:
    """The order that costs least: by rank, the share of rows got rid of per second spent.

    It is the best one to shed load from as well.
    """
    return sorted(filters, key=_seconds_per_row_dropped)


def _seconds_per_row_dropped(each: StreamFilter) -> float:
    dropped = 1 - each.selectivity
    return each.row_s / dropped if dropped else float("inf")


def keep_rate(rate: float, filters: Sequence[StreamFilter], capacity: float = 1.0) -> float:
    """The share of the stream to keep before the first filter (Eq. 16); 1 if there is time for all.

    >>> keep_rate(1_000, [StreamFilter(0.001, 0.5), StreamFilter(0.0005, 0.25)])
    0.8
    """
    needed = utilisation(rate, filters)
    return 1.0 if needed <= capacity else capacity / needed

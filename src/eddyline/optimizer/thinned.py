"""The effect of keep rates on statistics and on the output of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eddyline.algebra.plan import Plan
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.statistics import UNKNOWN, Statistics


def thinned(statistics: Statistics, keep: Mapping[str, float]) -> Statistics:
    """The statistics with rates multiplied by keep rates."""
    rates = {stream: statistics.rate(stream) * share for stream, share in keep.items()}
    return replace(statistics, rates={**statistics.rates, **rates})


def output_share(
    plan: Plan, keep: Mapping[str, float], statistics: Statistics = UNKNOWN
) -> float | None:
    """The expected output rate as a share of that without drop boxes; None for an empty output.

    For a join of RANGE windows it is the product of the keep rates, as a result needs all its rows.
    A ROWS window counts the kept rows and always holds as many: over ROWS windows only, the results
    triggered by the rows of a stream are proportional to its keep rate (Ayad and Naughton 2004,
    equation 18).

    Args:
        keep: keep rates by stream; 1 where missing.

    >>> from eddyline.algebra.plan import StreamScan
    >>> from eddyline.algebra.windows import Range
    >>> output_share(StreamScan("s", Range(1), ()), {"s": 0.25})
    0.25
    """
    full = estimate(plan, statistics).rate
    return estimate(plan, thinned(statistics, keep)).rate / full if full else None

"""What becomes of a query's output when its streams are thinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eddyline.algebra.plan import Plan
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.statistics import UNKNOWN, Statistics


def thinned(statistics: Statistics, keep: Mapping[str, float]) -> Statistics:
    """What is known of the streams when these shares of their rows are kept."""
    rates = {stream: statistics.rate(stream) * share for stream, share in keep.items()}
    return replace(statistics, rates={**statistics.rates, **rates})


def output_share(
    plan: Plan, keep: Mapping[str, float], statistics: Statistics = UNKNOWN
) -> float | None:
    """The expected output rate as a share of that without drop boxes; None if it has none.

    A join of RANGE windows keeps the product of the shares, as a result needs all its rows. A ROWS
    window counts the rows that are kept and holds as many as ever: over ROWS windows alone the
    results that the rows of a stream bring about are kept in proportion to these (Ayad and
    Naughton 2004, equation 18).

    Args:
        keep: the share of rows that is kept, by stream; 1 where a stream is left out.

    >>> from eddyline.algebra.plan import StreamScan
    >>> from eddyline.algebra.windows import Range
    >>> output_share(StreamScan("s", Range(1), ()), {"s": 0.25})
    0.25
    """
    full = estimate(plan, statistics).rate
    return estimate(plan, thinned(statistics, keep)).rate / full if full else None

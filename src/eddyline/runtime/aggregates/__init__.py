"""Aggregates of GROUP BY over windows: rows enter and leave, the group's value follows.

One class per kind of state, all with the same interface; the arithmetic is in
``eddyline.kernels`` (``aggregates``, ``moments`` and ``heaps``). Values travel as *lanes*: plain
arrays that can wait in an expiry store until their row leaves.
"""

from __future__ import annotations

import pyarrow as pa

from eddyline.kernels import moments
from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.base import Aggregate, Reported
from eddyline.runtime.aggregates.counts import Count, CountDistinct
from eddyline.runtime.aggregates.extremes import Extreme, order_keys
from eddyline.runtime.aggregates.sums import Moments, SumInt

__all__ = [
    "Aggregate",
    "Count",
    "CountDistinct",
    "Extreme",
    "Moments",
    "Reported",
    "SignedRows",
    "SumInt",
    "make_aggregate",
    "order_keys",
]


def make_aggregate(
    function: str, type_: pa.DataType, argument: pa.DataType | None, *, distinct: bool
) -> Aggregate:
    """The aggregate for a function of the algebra; ``type_`` is that of the result."""
    if function == "count":
        return CountDistinct(argument) if distinct and argument is not None else Count()
    if function in ("min", "max"):
        assert argument is not None
        return Extreme(argument, largest=function == "max")
    if function in ("sum", "try_sum") and pa.types.is_integer(type_):
        return SumInt(tolerant=function == "try_sum")
    what = {
        "sum": moments.SUM,
        "try_sum": moments.SUM,
        "avg": moments.AVG,
        "stddev": moments.STDDEV,
    }[function]
    return Moments(what)

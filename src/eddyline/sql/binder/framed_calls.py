"""Aggregates over frames of rows that are in windows.

::

    SUM(v) OVER (PARTITION BY k ORDER BY ts      Project  SUM(v)
      RANGE INTERVAL '5' MINUTE PRECEDING)         Over  PARTITION BY k ORDER BY ts: SUM(v) RANGE ..
                                                     ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.expressions import AggregateCall, ColumnRef, Expr, rewrite
from eddyline.algebra.functions.sort_keys import sort_key
from eddyline.algebra.nodes.over import Bounds, FramedAggregate
from eddyline.algebra.orderings import Ordering
from eddyline.errors import SqlError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.over_calls import OverFrame
from eddyline.types import sql_type

_NAME: Final = "ORDER BY"
_Ends: TypeAlias = tuple[Expr | None, ...]


def framed_aggregates(
    calls: Sequence[OverFrame], width: int, context: Context
) -> tuple[tuple[Ordering, ...], tuple[FramedAggregate, ...], dict[Expr, Expr]]:
    """The order and the aggregates of calls with one partition and order.

    Args:
        width: the aggregates are in columns from here on.

    Returns:
        The order, of values of the type that those at a distance have; the aggregates; and by call
        its value over their columns.

    Raises:
        SqlError: ORDER BY is not one number or time, of which RANGE has a distance.
    """
    order = calls[0].order
    found: dict[FramedAggregate, int] = {}
    values: dict[Expr, Expr] = {}
    for call in calls:
        bounds = call.frame.bounds
        low, high = (_at_distance(call, d, context) for d in (bounds.start, bounds.end))
        for end in (low, high):
            if end is not None:
                order = (replace(order[0], value=functions.cast(order[0].value, end.value.type)),)
        keys = tuple(None if o is None else sort_key(_NAME, o) for o in (low, high))

        def column(e: Expr, bounds: Bounds = bounds, keys: _Ends = keys) -> Expr | None:
            if not isinstance(e, AggregateCall):
                return None
            framed = FramedAggregate(e.aggregate, bounds, *keys)
            place = found.setdefault(framed, len(found))
            return ColumnRef(e.type, width + place, str(framed))

        values[call] = rewrite(call.aggregated, column)
    return order, tuple(found), values


def _at_distance(call: OverFrame, distance: int | None, context: Context) -> Ordering | None:
    """The value of ORDER BY at a distance behind that of a row; None: RANGE has no distance."""
    if call.frame.bounds.unit != "range" or not distance:
        return None
    if len(call.order) != 1:
        raise _error(call, "RANGE with a distance needs one value in ORDER BY", context)
    (by,) = call.order
    of_time = call.frame.bounds.of_time
    far = functions.literal(
        -distance if by.descending else distance, pa.duration("us") if of_time else pa.int64()
    )
    try:
        return replace(by, value=functions.resolve("+", (by.value, far)))
    except SqlError:
        wanted = "a time" if of_time else "a number"
        message = f"this RANGE needs {wanted} in ORDER BY, not {sql_type(by.value.type)}"
        raise _error(call, message, context) from None


def _error(call: OverFrame, message: str, context: Context) -> SqlError:
    assert call.node is not None, "a frame as written"
    return context.error(call.node, message)

"""Binds calls with OVER."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from eddyline.algebra.expressions import Expr
from eddyline.algebra.functions import Ordering
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.aggregate_calls import read_call
from eddyline.sql.binder.expression_binder import ExpressionBinder
from eddyline.sql.binder.frames import read_frame
from eddyline.sql.binder.over_calls import (
    OverFrame,
    OverGroup,
    called_over,
    frame_of,
    is_of_time,
    require_order,
    written_calls,
)
from eddyline.sql.binder.window_calls import ROW_FUNCTIONS, WindowCall

#: Aggregates that are the first and the last value of a frame by time.
_AGGREGATES: Final = {
    **dict.fromkeys(("first_value", "first"), "first"),
    **dict.fromkeys(("last_value", "last"), "last"),
}


def bind_over(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    """A call with OVER."""
    assert isinstance(node, exp.Window)
    if scalars.clause is not None:
        advice = "write QUALIFY, or compute it in a sub-query of FROM"
        raise scalars.context.error(node, f"OVER is not allowed in {scalars.clause}: {advice}")
    scalars.context.require_only(node, "this", "partition_by", "order", "spec", "over")
    if len(written_calls([node])) > 1:
        raise scalars.context.error(node, "OVER inside OVER: compute one in a sub-query of FROM")
    partition = scalars.bind_all(node.args.get("partition_by") or [])
    order = node.args.get("order")
    written = [] if order is None else order.expressions
    ordered = tuple(scalars.ordering(o) for o in written)
    for ordering, place in zip(ordered, written, strict=True):
        require_order(ordering, place, scalars.context)
    called = read_call(node.this)
    name = called.call.name.lower()
    if scalars.is_aggregate(called_over(node)) and name not in ROW_FUNCTIONS:
        value = scalars.bind(node.this)
        if not ordered and node.args.get("spec") is None:
            return OverGroup(value.type, "over", partition, value)
        return _of_frame(scalars, node, value, partition, ordered)
    if called.distinct or called.order:
        message = "DISTINCT or ORDER BY with OVER is not supported"
        raise scalars.context.error(node, message, UnsupportedError)
    frame = frame_of(node.args.get("spec"))
    if (
        name in _AGGREGATES
        and _is_in_time(ordered, scalars.event_time)
        and is_of_time(frame, ends=name.startswith("last"))
    ):
        argument = called.arguments[0] if len(called.arguments) == 1 else None
        if argument is not None:
            aggregate: exp.Expr = exp.Anonymous(
                this=_AGGREGATES[name], expressions=[argument.copy()]
            )
            if called.ignore_nulls:
                aggregate = exp.IgnoreNulls(this=aggregate)
            return _of_frame(scalars, node, scalars.bind(aggregate), partition, ordered)
    arguments = scalars.bind_all(called.arguments)
    call = WindowCall(node, name, arguments, partition, ordered, frame, scalars.context)
    return call.ignoring_nulls() if called.ignore_nulls else call.bound()


def _is_in_time(order: tuple[Ordering, ...], time: Expr | None) -> bool:
    """Whether an order is that of the rows' event time."""
    return len(order) == 1 and order[0].value == time and not order[0].descending


def _of_frame(
    scalars: ExpressionBinder,
    node: exp.Window,
    value: Expr,
    partition: tuple[Expr, ...],
    order: tuple[Ordering, ...],
) -> OverFrame:
    """An aggregate over a part of a partition."""
    if not order:
        raise scalars.context.error(node, "ROWS and RANGE need ORDER BY in OVER (...)")
    arguments = (*partition, *(o.value for o in order))
    return OverFrame(
        value.type,
        "over",
        arguments,
        value,
        read_frame(node.args.get("spec"), scalars.context),
        len(partition),
        tuple(o.descending for o in order),
        tuple(o.nulls_first for o in order),
        node,
    )

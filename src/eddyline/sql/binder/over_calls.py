"""Calls with OVER inside expressions, until a node computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import AggregateCall, Call, Expr, rewrite
from eddyline.algebra.functions import Ordering
from eddyline.algebra.functions.ordered_aggregates import nth_in_order
from eddyline.algebra.functions.sort_keys import has_order
from eddyline.algebra.nodes.over import OF_KNOWN, Bounds, RowFunction, RowPlace
from eddyline.sql.binder.aggregate_calls import read_call
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.frames import FrameOf
from eddyline.types import sql_type


@dataclass(frozen=True, slots=True)
class OverCall(Call):
    """A value of a row's place in its partition. Its arguments are that of the function, if it has
    one, the partition, and the values of the order.

    Attributes:
        computed: the function, without its argument.
        keys: the number of keys of the partition.
        descending, nulls_first: of each value of the order.
    """

    computed: RowFunction
    keys: int
    descending: tuple[bool, ...]
    nulls_first: tuple[bool, ...]

    @property
    def row_function(self) -> RowFunction:
        """The function with its argument."""
        argument = self.arguments[0] if self._width else None
        return replace(self.computed, argument=argument)

    @property
    def _width(self) -> int:
        return len(self.arguments) - self.keys - len(self.descending)

    @property
    def partition(self) -> tuple[Expr, ...]:
        """What rows of the partition agree on."""
        return self.arguments[self._width :][: self.keys]

    @property
    def order(self) -> tuple[Ordering, ...]:
        """The order of rows in the partition."""
        values = self.arguments[self._width + self.keys :]
        flags = zip(values, self.descending, self.nulls_first, strict=True)
        return tuple(Ordering(*f) for f in flags)

    @property
    def ignores_nulls(self) -> bool:
        """Whether its function ignores NULLs."""
        return self.computed.function in OF_KNOWN

    @property
    def place(self) -> tuple[tuple[Expr, ...], tuple[Ordering, ...]]:
        """The partition and the order: calls that agree on both are computed together."""
        return self.partition, self.order


@dataclass(frozen=True, slots=True)
class OverGroup(Call):
    """An expression over aggregates of all rows of a partition; the arguments are its keys."""

    aggregated: Expr

    def rewritten(self, change: Callable[[Expr], Expr | None]) -> OverGroup:
        """The same with the keys and the arguments of the aggregates rewritten."""
        keys = tuple(rewrite(k, change) for k in self.arguments)
        return replace(self, arguments=keys, aggregated=with_arguments(self.aggregated, change))


#: The place of a row in a frame of ROWS.
PLACE: Final = RowPlace(pa.binary())


@dataclass(frozen=True, slots=True)
class OverFrame(Call):
    """An expression over aggregates of the frame of a row. Its arguments are the partition, and the
    values of the order.

    Attributes:
        aggregated: the expression. frame: its rows.
        keys: the number of keys of the partition.
        descending, nulls_first: of each value of the order.
        node: where it is written.
    """

    aggregated: Expr
    frame: FrameOf
    keys: int
    descending: tuple[bool, ...]
    nulls_first: tuple[bool, ...]
    node: exp.Window | None = field(compare=False)

    @property
    def partition(self) -> tuple[Expr, ...]:
        """What rows of the partition agree on."""
        return self.arguments[: self.keys]

    @property
    def order(self) -> tuple[Ordering, ...]:
        """The order of rows in the partition."""
        flags = zip(self.arguments[self.keys :], self.descending, self.nulls_first, strict=True)
        return tuple(Ordering(*f) for f in flags)

    @property
    def place(self) -> tuple[tuple[Expr, ...], tuple[Ordering, ...]]:
        """The partition and the order."""
        return self.partition, self.order

    def rewritten(self, change: Callable[[Expr], Expr | None]) -> OverFrame:
        """The same with the keys, the order and the arguments of the aggregates rewritten."""
        arguments = tuple(rewrite(a, change) for a in self.arguments)
        return replace(
            self, arguments=arguments, aggregated=with_arguments(self.aggregated, change)
        )


def with_arguments(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """An expression over aggregates with their arguments and conditions rewritten."""

    def aggregate(e: Expr) -> Expr | None:
        if not isinstance(e, AggregateCall):
            return None
        of = e.aggregate
        argument, where = (x and rewrite(x, change) for x in (of.argument, of.where))
        return replace(e, aggregate=replace(of, argument=argument, where=where))

    return rewrite(expr, aggregate)


def as_frame(call: OverCall | OverFrame) -> OverFrame | None:
    """The call as an aggregate of a frame; None if it is about places of rows."""
    if isinstance(call, OverFrame):
        return call
    if not call.ignores_nulls:
        return None
    function = call.row_function
    assert function.argument is not None, "it takes the value of a row"
    if function.offset:
        back = function.function == "known_before"
        place = (Ordering(PLACE),)
        value = value_of_place(function.argument, function.offset, place, back=back, ignore=True)
    else:
        which = "first" if function.function == "first_known" else "last"
        value = value_at_end(which, function.argument, (Ordering(PLACE),), ignore=True)
    end = -1 if function.function == "known_before" else 0
    frame = FrameOf(None, 0, Bounds("rows", None, end))
    order = tuple(o.value for o in call.order)
    arguments = (*call.partition, *order)
    flags = (call.keys, call.descending, call.nulls_first)
    return OverFrame(value.type, "over", arguments, value, frame, *flags, None)


def value_at_end(function: str, value: Expr, order: tuple[Ordering, ...], *, ignore: bool) -> Expr:
    """The first or the last value in an order, as an aggregate."""
    request = functions.Request(function, (value,), order=order, ignore_nulls=ignore)
    return functions.resolve_aggregate(request)


def value_of_place(
    value: Expr, number: int, order: tuple[Ordering, ...], *, back: bool, ignore: bool
) -> Expr:
    """The value of the row of a number in an order, counted from 1, with ``back`` from the end on;
    NULL if there are fewer.
    """
    return nth_in_order("NTH_VALUE", value, number, order, back=back, ignore=ignore)


def is_over(expr: Expr) -> bool:
    """Whether an expression is a call with OVER."""
    return isinstance(expr, (OverCall, OverFrame, OverGroup))


def require_order(ordering: Ordering, node: exp.Expr, context: Context) -> None:
    """Raise an error if values of ORDER BY have no order."""
    type_ = ordering.value.type
    if not has_order(type_):
        message = f"ORDER BY needs values with an order, not {sql_type(type_)}"
        raise context.error(node, message)


def frame_of(spec: exp.Expr | None) -> tuple[str, str, str] | None:
    """The frame as written: its unit, where it begins and where it ends."""
    if spec is None:
        return None
    return (
        str(spec.args.get("kind") or "").upper(),
        _bound(spec.args.get("start"), spec.args.get("start_side")),
        _bound(spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side")),
    )


def _bound(at: exp.Expr | str | None, side: str | None) -> str:
    text = at if isinstance(at, str) else ("" if at is None else at.sql("spark"))
    return " ".join(filter(None, (text.upper(), (side or "").upper())))


def called_over(node: exp.Window) -> exp.Expr:
    """The call in front of OVER, without its FILTER."""
    called = node.this.this if isinstance(node.this, exp.Filter) else node.this
    return read_call(called).call


def is_called_over(node: exp.Expr) -> bool:
    """Whether OVER is behind a call with its clauses."""
    while isinstance(node.parent, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        node = node.parent
    return isinstance(node.parent, exp.Window) and node.arg_key == "this"


def written_calls(nodes: Sequence[exp.Expr]) -> list[exp.Window]:
    """The calls with OVER in some nodes."""
    return [w for node in nodes for w in node.find_all(exp.Window)]


def is_of_time(frame: tuple[str, str, str] | None, *, ends: bool) -> bool:
    """Whether a frame has a part of the rows up to the current time: RANGE from a time on; of its
    end, also RANGE from the beginning on.
    """
    if frame is None:
        return False
    unit, start, end = frame
    return unit == "RANGE" and end == "CURRENT ROW" and (ends or start != "UNBOUNDED PRECEDING")

"""Calls of functions of rows' places, as written: which value they have, over which frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.types as pt
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr, Literal
from eddyline.algebra.functions import Ordering
from eddyline.algebra.nodes.over import Bounds, RowFunction
from eddyline.errors import UnsupportedError, did_you_mean
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.frames import FrameOf, read_frame
from eddyline.sql.binder.over_calls import (
    PLACE,
    OverCall,
    OverFrame,
    value_at_end,
    value_of_place,
)

#: What an ORDER BY without a frame has.
_RUNNING: Final = ("RANGE", "UNBOUNDED PRECEDING", "CURRENT ROW")
_ALL_BEFORE: Final = ("ROWS", "UNBOUNDED PRECEDING", "CURRENT ROW")
_WHOLE: Final = ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING")
_SHORT: Final = {"first": "first_value", "any_value": "first_value", "last": "last_value"}
_RANKS: Final = ("row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist")
_OF_ROWS: Final = ("lag", "lead", "first_value", "last_value", "nth_value")
#: With this frame a row has the last value of those that tie with it.
_TIED: Final = ("last_value", None)
#: With IGNORE NULLS.
_KNOWN: Final = {"lag": "known_before", "first_value": "first_known", "last_value": "last_known"}
#: The functions of a row's place; some are aggregates elsewhere.
ROW_FUNCTIONS: Final = frozenset((*_RANKS, *_OF_ROWS, *_SHORT))


@dataclass(frozen=True)
class WindowCall:
    """A call with OVER as written, with its parts bound.

    ``frame``: unit, start and end; None if it is not written.
    """

    node: exp.Window
    name: str
    arguments: tuple[Expr, ...]
    partition: tuple[Expr, ...]
    order: tuple[Ordering, ...]
    frame: tuple[str, str, str] | None
    context: Context

    def bound(self) -> Expr:
        """The value of the call.

        Raises:
            SqlError, UnsupportedError: it has no such value.
        """
        name = _SHORT.get(self.name, self.name)
        if name not in (*_RANKS, *_OF_ROWS):
            known = did_you_mean(name, [*_RANKS, *_OF_ROWS])
            message = f"{self.name} is not a function that takes OVER here; {known}"
            raise self._fail(message)
        if not self.order and name not in ("first_value", "last_value"):
            raise self._fail(f"{self.name} needs ORDER BY in OVER (...)")
        return _FUNCTIONS[name](self)

    def ignoring_nulls(self) -> Expr:
        """The value of the call with IGNORE NULLS.

        Raises:
            SqlError, UnsupportedError: as :meth:`bound`; NULLs are ignored in values up to the
                current row only.
        """
        name = _SHORT.get(self.name, self.name)
        if name not in (*_KNOWN, "lead", "nth_value"):
            raise self._fail(f"IGNORE NULLS with {self.name} and OVER is not supported")
        if not self.order:
            raise self._fail(f"{self.name} needs ORDER BY in OVER (...)")
        if name in ("lag", "lead"):
            return self._known_neighbour(name)
        if name == "nth_value":
            self.takes(2, 2)
            return self.nth_of_frame(self.number(1, 1), ignore=True)
        self.takes(1, 1)
        given = self.frame or _RUNNING
        up_to_here = given in (_RUNNING, _ALL_BEFORE)
        if not up_to_here or self.excludes or (name, self.frame) == _TIED:
            return self.end_of_frame(name.removesuffix("_value"), ignore=True)
        return self.call(_KNOWN[name], self.arguments[0])

    def _known_neighbour(self, name: str) -> Expr:
        """The value a number of rows with a value before or behind; else a default."""
        self.takes(1, 3)
        value = self.arguments[0]
        offset = self.number(1, 1) if len(self.arguments) > 1 else 1
        if name == "lag":
            found = self.call("known_before", value, 0 if offset == 1 else offset)
        else:
            behind = FrameOf(None, 0, Bounds("rows", 1, None))
            found = (
                self._end_of(behind, "first", ignore=True)
                if offset == 1
                else self._nth_of(behind, offset, ignore=True)
            )
        if len(self.arguments) < 3:
            return found
        return functions.resolve("coalesce", (found, self.arguments[2]))

    def nth_of_frame(self, number: int, *, ignore: bool) -> Expr:
        """The value of the row of a number in the frame; with ``ignore`` of those with a value."""
        if ignore and not self.excludes and self.frame == _ALL_BEFORE:
            return self.call("nth_known", self.arguments[0], number)
        frame = read_frame(self.node.args.get("spec"), self.context)
        return self._nth_of(frame, number, ignore=ignore)

    def _nth_of(self, frame: FrameOf, number: int, *, ignore: bool) -> Expr:
        order, value = self._order_in(frame), self.arguments[0]
        return self._of_frame(
            frame, value_of_place(value, number, order, back=False, ignore=ignore)
        )

    def _order_in(self, frame: FrameOf) -> tuple[Ordering, ...]:
        """The order of the rows of a frame: of ROWS all have places, of others those that tie are
        in the order of their values.
        """
        return (Ordering(PLACE),) if frame.bounds.unit == "rows" else self.order

    @property
    def excludes(self) -> bool:
        """Whether the frame leaves out rows around the current one."""
        spec = self.node.args.get("spec")
        return spec is not None and bool(spec.args.get("exclude"))

    @property
    def reaches_here(self) -> bool:
        """Whether the frame has the current row and, if it has others, all between them."""
        _, start, end = self.frame or _RUNNING
        return not (
            self.excludes
            or (end != "CURRENT ROW" and not end.endswith("FOLLOWING"))
            or (start != "CURRENT ROW" and not start.endswith("PRECEDING"))
        )

    def end_of_frame(self, function: str, *, ignore: bool = False) -> Expr:
        """The value of the first or the last row of the frame; with ``ignore`` that is not NULL."""
        if not self.order:
            raise self._fail("ROWS and RANGE need ORDER BY in OVER (...)")
        return self._end_of(
            read_frame(self.node.args.get("spec"), self.context), function, ignore=ignore
        )

    def _end_of(self, frame: FrameOf, function: str, *, ignore: bool) -> Expr:
        value = value_at_end(function, self.arguments[0], self._order_in(frame), ignore=ignore)
        return self._of_frame(frame, value)

    def _of_frame(self, frame: FrameOf, value: Expr) -> Expr:
        """A value over aggregates of a frame."""
        return OverFrame(
            value.type,
            "over",
            (*self.partition, *(o.value for o in self.order)),
            value,
            frame,
            len(self.partition),
            tuple(o.descending for o in self.order),
            tuple(o.nulls_first for o in self.order),
            self.node,
        )

    def call(self, function: str, argument: Expr | None = None, offset: int = 0) -> Expr:
        """The value of a function."""
        computed = RowFunction(function, argument, offset)
        first = () if argument is None else (argument,)
        return OverCall(
            computed.type,
            "over",
            (*first, *self.partition, *(o.value for o in self.order)),
            replace(computed, argument=None),
            len(self.partition),
            tuple(o.descending for o in self.order),
            tuple(o.nulls_first for o in self.order),
        )

    def takes(self, least: int, most: int) -> None:
        """Check the number of arguments."""
        if not least <= len(self.arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            plural = "" if wanted == "1" else "s"
            raise self._fail(f"{self.name} takes {wanted} argument{plural}")

    def number(self, place: int, least: int) -> int:
        """A constant whole number among the arguments."""
        given = self.arguments[place]
        value = given.value if isinstance(given, Literal) and pt.is_integer(given.type) else None
        if value is None or value < least:
            raise self._fail(f"{self.name} takes a constant whole number from {least} on")
        return int(value)

    def _fail(self, message: str, kind: type = UnsupportedError) -> UnsupportedError:
        error = self.context.error(self.node, message, kind)
        assert isinstance(error, UnsupportedError)
        return error


def _rank(call: WindowCall) -> Expr:
    call.takes(0, 0)
    return call.call(call.name)


def _ntile(call: WindowCall) -> Expr:
    call.takes(1, 1)
    return call.call("ntile", offset=call.number(0, 1))


def _percent_rank(call: WindowCall) -> Expr:
    """(rank - 1) / (rows - 1), 0 for one row."""
    call.takes(0, 0)
    one, zero = (functions.literal(float(n), pa.float64()) for n in (1, 0))
    rank, rows = (functions.cast(call.call(f), pa.float64()) for f in ("rank", "rows"))
    less = [functions.resolve("-", (n, one)) for n in (rank, rows)]
    alone = functions.resolve("<=", (rows, one))
    return functions.resolve("case", (alone, zero, functions.resolve("/", tuple(less))))


def _cume_dist(call: WindowCall) -> Expr:
    """The share of rows up to the last one that ties: all but those before it, backwards."""
    call.takes(0, 0)
    backwards = (Ordering(o.value, not o.descending, not o.nulls_first) for o in call.order)
    back = replace(call, order=tuple(backwards)).call("rank")
    rows, behind = (functions.cast(e, pa.float64()) for e in (call.call("rows"), back))
    one = functions.literal(1.0, pa.float64())
    up_to = functions.resolve("+", (functions.resolve("-", (rows, behind)), one))
    return functions.resolve("/", (up_to, rows))


def _neighbour(function: str) -> Callable[[WindowCall], Expr]:
    def bound(call: WindowCall) -> Expr:
        call.takes(1, 3)
        offset = call.number(1, 0) if len(call.arguments) > 1 else 1
        value = call.call(function, call.arguments[0], offset)
        if len(call.arguments) < 3:
            return value
        here = call.call(function, functions.literal(True, pa.bool_()), offset)
        found = functions.resolve("is_not_null", (here,))
        return functions.resolve("case", (found, value, call.arguments[2]))

    return bound


def _first_value(call: WindowCall) -> Expr:
    call.takes(1, 1)
    _, start, _ = call.frame or _RUNNING
    rows = _preceding(call)
    if call.reaches_here and start == _WHOLE[0]:
        return call.call("first_value", call.arguments[0])
    if call.reaches_here and rows is not None:
        return call.call("from", call.arguments[0], rows)
    return call.end_of_frame("first")


def _last_value(call: WindowCall) -> Expr:
    call.takes(1, 1)
    unit, _, end = call.frame or (_RUNNING if call.order else ("RANGE", *_WHOLE))
    if call.reaches_here and end == _WHOLE[1]:
        return call.call("last_value", call.arguments[0])
    if not call.order and call.frame is None:
        return call.call("last_value", call.arguments[0])
    if call.reaches_here and unit == "ROWS" and end == "CURRENT ROW":
        return call.arguments[0]
    return call.end_of_frame("last")


def _nth_value(call: WindowCall) -> Expr:
    call.takes(2, 2)
    value, place, rows = call.arguments[0], call.number(1, 1), _preceding(call)
    if call.frame == _ALL_BEFORE and not call.excludes:
        return call.call("nth_value", value, place)
    if rows is None or call.excludes:
        return call.nth_of_frame(place, ignore=False)
    if place > rows + 1:
        return functions.literal(None, value.type)
    few = functions.literal(rows, pa.int64())
    has_all = functions.resolve(">", (call.call("row_number"), few))
    among_few = call.call("nth_value", value, place)
    return functions.resolve(
        "case", (has_all, call.call("lag", value, rows + 1 - place), among_few)
    )


def _preceding(call: WindowCall) -> int | None:
    """The number of rows of ROWS BETWEEN n PRECEDING AND CURRENT ROW; None of other frames."""
    unit, start, end = call.frame or _RUNNING
    count, _, side = start.partition(" ")
    found = unit == "ROWS" and side == "PRECEDING" and end == "CURRENT ROW" and count.isdigit()
    return int(count) if found else None


_FUNCTIONS: Final[dict[str, Callable[[WindowCall], Expr]]] = {
    **dict.fromkeys(("row_number", "rank", "dense_rank"), _rank),
    "ntile": _ntile,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "lag": _neighbour("lag"),
    "lead": _neighbour("lead"),
    "first_value": _first_value,
    "last_value": _last_value,
    "nth_value": _nth_value,
}

"""Frames of OVER: the part of a partition that an aggregate of a row is computed of."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlglot import exp

from eddyline.algebra.nodes.running_over import Frame
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.intervals import interval_of
from eddyline.sql.numbers import whole_number

_MOST_ROWS: Final = 1 << 20
_WHOLE: Final = "UNBOUNDED"
_CURRENT: Final = "CURRENT ROW"


class FrameOf(NamedTuple):
    """A frame, and how many rows before the current one it ends."""

    frame: Frame
    before: int


def read_frame(spec: exp.Expr | None, context: Context) -> FrameOf:
    """The frame of an aggregate with ORDER BY; without a text it has all rows up to the current
    one and those that tie with it.

    Raises:
        SqlError, UnsupportedError: it has rows behind the current one, or is of another kind.
    """
    if spec is None:
        return FrameOf(Frame("range", None), 0)
    return _Reader(spec, context).read()


class _Reader:
    def __init__(self, spec: exp.Expr, context: Context) -> None:
        self._spec, self._context = spec, context

    def read(self) -> FrameOf:
        """The frame."""
        kind = str(self._spec.args.get("kind") or "").upper()
        if kind == "GROUPS":
            raise self._refused("GROUPS is not supported: write ROWS or RANGE")
        if self._spec.args.get("exclude"):
            raise self._refused(
                "EXCLUDE is not supported: end the frame before the current row, as in ROWS "
                "BETWEEN 10 PRECEDING AND 1 PRECEDING"
            )
        for side in ("start_side", "end_side"):
            if str(self._spec.args.get(side) or "").upper() == "FOLLOWING":
                raise self._refused(
                    "rows behind the current one are not there when it comes: end the frame at "
                    "CURRENT ROW"
                )
        start, end = self._spec.args.get("start"), self._spec.args.get("end") or _CURRENT
        return self._of_rows(start, end) if kind == "ROWS" else self._of_time(start, end)

    def _of_rows(self, start: exp.Expr | str | None, end: exp.Expr | str) -> FrameOf:
        before = self._rows(end, 0)
        assert before is not None, "a frame cannot end at UNBOUNDED PRECEDING"
        first = self._rows(start, 0)
        if first is None:
            return FrameOf(Frame("rows", None), before)
        if first < before:
            raise self._context.error(self._spec, "the frame ends before it starts")
        return FrameOf(Frame("rows", first - before), before)

    def _rows(self, bound: exp.Expr | str | None, at_current: int) -> int | None:
        if isinstance(bound, exp.Literal) and not bound.is_string and bound.name.isdigit():
            count = whole_number(bound.name, _MOST_ROWS)
            if count is None:
                message = f"ROWS takes at most {_MOST_ROWS - 1} rows"
                raise self._context.error(bound, message)
            return count
        if self._is(bound, _CURRENT):
            return at_current
        if self._is(bound, _WHOLE):
            return None
        raise self._context.error(
            self._at(bound), "ROWS takes a constant whole number of rows, as in ROWS 10 PRECEDING"
        )

    def _of_time(self, start: exp.Expr | str | None, end: exp.Expr | str) -> FrameOf:
        if not self._is(end, _CURRENT):
            raise self._refused(
                "RANGE up to a time before that of the current row is not supported: end the frame "
                "at CURRENT ROW, or write ROWS"
            )
        if self._is(start, _WHOLE):
            return FrameOf(Frame("range", None), 0)
        if self._is(start, _CURRENT):
            return FrameOf(Frame("range", 0), 0)
        length = None
        if isinstance(start, exp.Expr):
            try:
                length = interval_of(start)
                us = None if length is None else length.fixed_us(start.sql("spark"))
            except (SqlError, ValueError) as e:
                raise self._context.error(start, str(getattr(e, "message", e))) from None
            if us is not None and us >= 0:
                return FrameOf(Frame("range", us), 0)
        raise self._context.error(
            self._at(start),
            "RANGE takes a constant length of time, as in RANGE BETWEEN INTERVAL '5' MINUTE "
            "PRECEDING AND CURRENT ROW",
        )

    def _is(self, bound: exp.Expr | str | None, word: str) -> bool:
        return isinstance(bound, str) and bound.upper() == word

    def _at(self, bound: exp.Expr | str | None) -> exp.Expr:
        return bound if isinstance(bound, exp.Expr) else self._spec

    def _refused(self, message: str) -> SqlError:
        return self._context.error(self._spec, message, UnsupportedError)

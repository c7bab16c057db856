"""Frames of OVER: the part of a partition that an aggregate of a row is computed of."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlglot import exp

from eddyline.algebra.nodes.over import Bounds, Unit
from eddyline.algebra.nodes.running_over import Excluded, Frame
from eddyline.errors import SqlError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.intervals import interval_of
from eddyline.sql.durations import parse_interval
from eddyline.sql.numbers import whole_number

_MOST_ROWS: Final = 1 << 20
_WHOLE: Final = "UNBOUNDED"
_CURRENT: Final = "CURRENT ROW"

_EXCLUDED: Final[tuple[Excluded, ...]] = ("CURRENT ROW", "GROUP", "TIES")


class FrameOf(NamedTuple):
    """A frame.

    Attributes:
        frame: the same as rows up to the current one that come one by one, in the order of their
            event times; None: it is none of these. before: how many rows before the current one
            that frame of ROWS ends, of which no row is left out.
        bounds: the frame as written.
    """

    frame: Frame | None
    before: int
    bounds: Bounds


def read_frame(spec: exp.Expr | None, context: Context) -> FrameOf:
    """The frame of an aggregate with ORDER BY; without a text it has all rows up to the current
    one and those that tie with it.

    Raises:
        SqlError: it ends before it starts.
    """
    if spec is None:
        return FrameOf(Frame("range", None), 0, Bounds("range", None, 0))
    return _Reader(spec, context).read()


class _Reader:
    def __init__(self, spec: exp.Expr, context: Context) -> None:
        self._spec, self._context = spec, context

    def read(self) -> FrameOf:
        """The frame."""
        kind = str(self._spec.args.get("kind") or "").upper()
        start = self._bound(kind, "start")
        end = self._bound(kind, "end")
        if start is not None and end is not None and end < start:
            raise self._context.error(self._spec, "the frame ends before it starts")
        unit: Unit = "rows" if kind == "ROWS" else "groups" if kind == "GROUPS" else "range"
        bounds = Bounds(unit, start, end, self._has_interval, self._excluded())
        return FrameOf(*_running(bounds), bounds)

    @property
    def _has_interval(self) -> bool:
        places = map(self._spec.args.get, ("start", "end"))
        return any(isinstance(p, exp.Expr) and _length(p) is not None for p in places)

    def _bound(self, kind: str, name: str) -> int | None:
        at: exp.Expr | str | None = self._spec.args.get(name)
        side = str(self._spec.args.get(f"{name}_side") or "").upper()
        if at is None or _is(at, _CURRENT):
            return 0
        if _is(at, _WHOLE):
            return None
        count = self._distance(at) if kind == "RANGE" else self._rows(kind, at)
        return count if side == "FOLLOWING" else -count

    def _rows(self, kind: str, at: exp.Expr | str) -> int:
        if isinstance(at, exp.Literal) and not at.is_string and at.name.isdigit():
            count = whole_number(at.name, _MOST_ROWS)
            if count is None:
                raise self._context.error(at, f"{kind} takes at most {_MOST_ROWS - 1}")
            return count
        message = f"{kind} takes a constant whole number, as in {kind} 10 PRECEDING"
        raise self._context.error(self._at(at), message)

    def _distance(self, at: exp.Expr | str) -> int:
        if isinstance(at, exp.Literal) and not at.is_string and at.name.isdigit():
            number = whole_number(at.name, 1 << 62)
            if number is not None:
                return number
        if isinstance(at, exp.Expr):
            try:
                us = _length(at)
            except (SqlError, ValueError) as e:
                raise self._context.error(at, str(getattr(e, "message", e))) from None
            if us is not None and us >= 0:
                return us
        raise self._context.error(
            self._at(at),
            "RANGE takes a constant length of time, as in RANGE BETWEEN INTERVAL '5' MINUTE "
            "PRECEDING AND CURRENT ROW, or a whole number, of what ORDER BY is of",
        )

    def _excluded(self) -> Excluded:
        written = str(self._spec.args.get("exclude") or "").upper()
        return next((e for e in _EXCLUDED if e == written), "")  # EXCLUDE NO OTHERS: none

    def _at(self, bound: exp.Expr | str) -> exp.Expr:
        return bound if isinstance(bound, exp.Expr) else self._spec


def _running(bounds: Bounds) -> tuple[Frame | None, int]:
    """The frame of rows that come one by one, and how many rows before the current one it ends."""
    start, end = bounds.start, bounds.end
    if end is None or (end > 0 and bounds.unit != "range"):
        return None, 0
    if bounds.unit == "range" and (start or end) and not bounds.of_time:
        return None, 0
    if bounds.unit == "rows":
        return _of_rows(bounds, end)
    exclude = bounds.exclude if end >= 0 and (start is None or start <= 0) else ""
    if exclude == "GROUP" and end == 0 and start != 0:  # it ends just before the current time
        exclude, end = "", -1
    if bounds.unit == "groups" and not end and not start:  # all times, or the current one
        return Frame("range", start, 0, exclude), 0
    return Frame(bounds.unit, None if start is None else -start, -end, exclude), 0


def _of_rows(bounds: Bounds, end: int) -> tuple[Frame, int]:
    """The same of ROWS: those that no row is left out of are of rows that have come before."""
    start, exclude = bounds.start, bounds.exclude
    if exclude == "CURRENT ROW" and end == 0 and start != 0:
        end = -1
    if exclude == "CURRENT ROW" and end < 0:
        exclude = ""
    if exclude:
        return Frame("rows", None if start is None else -start, -end, exclude), 0
    return Frame("rows", None if start is None else end - start), -end


def _is(bound: exp.Expr | str, word: str) -> bool:
    return isinstance(bound, str) and bound.upper() == word


def _length(at: exp.Expr) -> int | None:
    """The length of an INTERVAL in microseconds, also written as a text; None for others."""
    if isinstance(at, exp.Literal) and at.is_string:
        return parse_interval(at.name).fixed_us(at.name)
    length = interval_of(at)
    return None if length is None else length.fixed_us(at.sql("spark"))

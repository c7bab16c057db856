"""The order of rows that ORDER BY leaves open, written out for DuckDB: of the rows of a stream that
of arrival, of groups that of their keys. Rows that tie have one rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from eddyline.testing.excluded_ties import leaves_out_ties, list_frame

_RANKS: Final = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
_OF_PLACES: Final = (
    *_RANKS,
    exp.RowNumber,
    exp.Ntile,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
)
_OF_PARTITIONS: Final = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead)
_UNITS: Final = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000}


def waits_for_ties(select: exp.Select) -> bool:
    """Whether values of a row need all rows that tie with it: at the time of these, not all may
    have come.
    """
    return any(w.parent_select is select and _of_ties(w) for w in select.find_all(exp.Window))


def _of_ties(window: exp.Window) -> bool:
    """Whether a value is an aggregate over a frame that ends with the rows that tie."""
    if window.args.get("order") is None:
        return False
    if isinstance(_called(window), _OF_PLACES):
        return _is_of_values(window)
    spec = window.args.get("spec")
    return spec is None or str(spec.args.get("kind")).upper() in ("RANGE", "GROUPS")


def waits_us(select: exp.Select) -> int:
    """How long rows wait for those that their frames of RANGE have behind them: of each partition
    for the longest time, of several one after the other.
    """
    longest: dict[str, int] = {}
    for window in select.find_all(exp.Window):
        spec = window.args.get("spec")
        if window.parent_select is not select or spec is None:
            continue
        end, side = spec.args.get("end"), str(spec.args.get("end_side") or "")
        if isinstance(end, exp.Interval) and side.upper() == "FOLLOWING":
            by = repr([p.sql() for p in window.args.get("partition_by") or ()])
            longest[by] = max(longest.get(by, 0), _us(end))
    return sum(longest.values())


def _us(interval: exp.Interval) -> int:
    unit = str(interval.args["unit"]).upper().removesuffix("S")
    return int(interval.this.name) * _UNITS[unit]


def without_frames_of_places(select: exp.Select) -> None:
    """Remove frames of functions that are about places in the whole partition, as in PostgreSQL."""
    for window in select.find_all(exp.Window):
        if isinstance(_called(window), (*_RANKS, *_OF_PARTITIONS)):
            window.set("spec", None)


def _called(window: exp.Window) -> exp.Expr:
    called: exp.Expr = window.this
    while isinstance(called, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        called = called.this
    return called


def _is_of_values(window: exp.Window) -> bool:
    """Whether a value is of the first, the last or the n-th row of a frame of RANGE or GROUPS, in
    which rows that tie are in the order of their values: those at the ends of the partition are in
    the order of arrival.
    """
    called, spec = _called(window), window.args.get("spec")
    if window.args.get("order") is None:
        return False
    if not isinstance(called, (exp.FirstValue, exp.LastValue, exp.NthValue)):
        return False
    if spec is None:
        return not isinstance(called, exp.FirstValue)
    if str(spec.args.get("kind")).upper() not in ("RANGE", "GROUPS"):
        return False
    start, start_side = (str(spec.args.get(n) or "").upper() for n in ("start", "start_side"))
    end, end_side = (str(spec.args.get(n) or "").upper() for n in ("end", "end_side"))
    reaches_here = not (
        spec.args.get("exclude") or start_side == "FOLLOWING" or end_side == "PRECEDING"
    )
    whole = {exp.FirstValue: (start, start_side), exp.LastValue: (end, end_side)}
    at_end = whole.get(type(called), ("", ""))[0] == "UNBOUNDED"
    return not (reaches_here and at_end)


def order_ties(select: exp.Select, stamps: Callable[[], Sequence[exp.Expr]]) -> None:
    """Complete the orders of a SELECT.

    Args:
        stamps: the columns that order the rows of the stream that it reads; none of other inputs.
    """
    windows = [w for w in select.find_all(exp.Window) if w.parent_select is select]
    numbered = [w for w in windows if not isinstance(w.this, _RANKS) and not _of_ties(w)]
    ends = [w for w in windows if _is_of_values(w)]
    listed = [w for w in numbered if leaves_out_ties(w)]
    written = [w.args.get("order") for w in numbered if w not in listed]
    orders = [o for o in (*written, select.args.get("order")) if o is not None]
    if not orders and not ends and not listed:
        return
    group = select.args.get("group")
    ties = stamps() if group is None else group.expressions
    for order in orders:
        for tie in ties:
            order.append("expressions", exp.Ordered(this=tie.copy(), nulls_first=True))
    for window in ends:
        _order_by_values(window)
    for window in listed:
        list_frame(window, ties)


def _order_by_values(window: exp.Window) -> None:
    """Write a value of a row of a frame as the value in the greatest, the least or the n-th of the
    places and values in the frame.
    """
    called, ignores = _called(window), isinstance(window.this, exp.IgnoreNulls)
    value = called.this
    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    parts = [p for e in window.args["order"].expressions for p in _place(e)]
    row = exp.Anonymous(this="row", expressions=[*parts, known, value.copy()])
    call: exp.Expr
    if isinstance(called, exp.NthValue):
        call = exp.Anonymous(this="list", expressions=[row])
    else:
        name = "arg_max_null" if isinstance(called, exp.LastValue) else "arg_min_null"
        call = exp.Anonymous(this=name, expressions=[value.copy(), row])
    if ignores:
        call = exp.Filter(this=call, expression=exp.Where(this=known.copy()))
    window.set("this", call)
    if isinstance(called, exp.NthValue):
        place = exp.Literal.number(len(parts) + 2)
        listed = exp.Anonymous(this="list_sort", expressions=[window.copy()])
        found = exp.Anonymous(this="list_extract", expressions=[listed, called.args["offset"]])
        window.replace(exp.Anonymous(this="struct_extract", expressions=[found, place]))


def _place(ordered: exp.Expr) -> list[exp.Expr]:
    """What ascends with the place of a row; NULLs are first, or last of a number that descends."""
    value = ordered.this
    missing = exp.Is(this=value.copy(), expression=exp.Null())
    if ordered.args.get("desc"):
        return [missing, exp.Neg(this=value.copy())]
    return [exp.Not(this=missing), value.copy()]

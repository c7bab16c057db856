"""The order of rows that ORDER BY leaves open, written out for DuckDB: of the rows of a stream that
of arrival, of groups that of their keys. Rows that tie have one rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

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


def waits_for_ties(select: exp.Select) -> bool:
    """Whether values of a row need all rows that tie with it: at the time of these, not all may
    have come.
    """
    return any(w.parent_select is select and _of_ties(w) for w in select.find_all(exp.Window))


def _of_ties(window: exp.Window) -> bool:
    """Whether a value is an aggregate over a frame that ends with the rows that tie."""
    called = window.this
    while isinstance(called, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        called = called.this
    if window.args.get("order") is None:
        return False
    if isinstance(called, _OF_PLACES):
        return _end_of_time(window) is not None
    spec = window.args.get("spec")
    return spec is None or str(spec.args.get("kind")).upper() in ("RANGE", "GROUPS")


def _end_of_time(window: exp.Window) -> str | None:
    """DuckDB's aggregate for the first or last value of a frame of the rows from a time on, up to
    those that tie, which are in the order of their values; None for other values.
    """
    called = window.this.this if isinstance(window.this, exp.IgnoreNulls) else window.this
    spec = window.args.get("spec")
    if spec is None:
        return (
            "arg_max_null"
            if isinstance(called, exp.LastValue) and window.args.get("order")
            else None
        )
    if str(spec.args.get("kind")).upper() != "RANGE":
        return None
    if str(spec.args.get("end") or "CURRENT ROW") != "CURRENT ROW":
        return None
    if isinstance(called, exp.LastValue):
        return "arg_max_null"
    is_part = str(spec.args.get("start")) != "UNBOUNDED"
    return "arg_min_null" if isinstance(called, exp.FirstValue) and is_part else None


def order_ties(select: exp.Select, stamps: Callable[[], Sequence[exp.Expr]]) -> None:
    """Complete the orders of a SELECT.

    Args:
        stamps: the columns that order the rows of the stream that it reads; none of other inputs.
    """
    windows = [w for w in select.find_all(exp.Window) if w.parent_select is select]
    numbered = [w for w in windows if not isinstance(w.this, _RANKS) and not _of_ties(w)]
    ends = [(w, name) for w in windows if (name := _end_of_time(w)) is not None]
    written = [w.args.get("order") for w in numbered]
    orders = [o for o in (*written, select.args.get("order")) if o is not None]
    if not orders and not ends:
        return
    group = select.args.get("group")
    ties = stamps() if group is None else group.expressions
    for order in orders:
        for tie in ties:
            order.append("expressions", exp.Ordered(this=tie.copy(), nulls_first=True))
    for window, name in ends:
        ignores = isinstance(window.this, exp.IgnoreNulls)
        value = (window.this.this if ignores else window.this).this
        known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
        place = [e.this.copy() for e in window.args["order"].expressions]
        row = exp.Anonymous(this="row", expressions=[*place, known, value.copy()])
        call: exp.Expr = exp.Anonymous(this=name, expressions=[value.copy(), row])
        if ignores:
            call = exp.Filter(this=call, expression=exp.Where(this=known.copy()))
        window.set("this", call)

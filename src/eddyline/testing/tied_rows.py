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
    if isinstance(called, _OF_PLACES) or window.args.get("order") is None:
        return False
    spec = window.args.get("spec")
    return spec is None or str(spec.args.get("kind")).upper() == "RANGE"


def order_ties(select: exp.Select, stamps: Callable[[], Sequence[exp.Expr]]) -> None:
    """Complete the orders of a SELECT.

    Args:
        stamps: the columns that order the rows of the stream that it reads; none of other inputs.
    """
    windows = [w for w in select.find_all(exp.Window) if w.parent_select is select]
    numbered = [w for w in windows if not isinstance(w.this, _RANKS) and not _of_ties(w)]
    written = [w.args.get("order") for w in numbered]
    orders = [o for o in (*written, select.args.get("order")) if o is not None]
    if not orders:
        return
    group = select.args.get("group")
    ties = stamps() if group is None else group.expressions
    for order in orders:
        for tie in ties:
            order.append("expressions", exp.Ordered(this=tie.copy(), nulls_first=True))

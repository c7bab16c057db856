"""The order of rows that ORDER BY leaves open, written out for DuckDB: of the rows of a stream that
of arrival, of groups that of their keys. Rows that tie have one rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

_RANKS: Final = (exp.Rank, exp.DenseRank, exp.PercentRank)


def order_ties(select: exp.Select, stamps: Callable[[], Sequence[exp.Expr]]) -> None:
    """Complete the orders of a SELECT.

    Args:
        stamps: the columns that order the rows of the stream that it reads; none of other inputs.
    """
    windows = [w for w in select.find_all(exp.Window) if w.parent_select is select]
    written = [w.args.get("order") for w in windows if not isinstance(w.this, _RANKS)]
    orders = [o for o in (*written, select.args.get("order")) if o is not None]
    if not orders:
        return
    group = select.args.get("group")
    ties = stamps() if group is None else group.expressions
    for order in orders:
        for tie in ties:
            order.append("expressions", exp.Ordered(this=tie.copy(), nulls_first=True))

"""Random queries over one stream, or over streams and tables that are joined on one key.

Their rows can be divided by that key, mostly also if they are grouped by something else.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from eddyline.testing.strategies.expressions import ScopeColumn, predicates
from eddyline.testing.strategies.queries import EMITS, flat_over, grouped_over
from eddyline.testing.strategies.sets import GeneratedSelect
from eddyline.testing.strategies.sources import From, contents, window

_KEYS: Final = (ScopeColumn("k", "int"), ScopeColumn("k", "int"), ScopeColumn("s", "str"))
_JOINS: Final = (*["JOIN"] * 6, "LEFT JOIN", "FULL JOIN")
_TABLES: Final = (*[""] * 4, "dim", "dim", "live", "live")


@st.composite
def keyed_queries(draw: st.DrawFn) -> str:
    """The text of such a query, with or without an EMIT clause."""
    key = draw(st.sampled_from(_KEYS))
    source = draw(_joined(key.sql))
    shape = draw(st.sampled_from(["flat", "flat", "by key", "grouped", "grouped"]))
    select: GeneratedSelect
    if shape == "flat":
        select = draw(flat_over(source))
    elif shape == "by key":
        select = draw(grouped_over(source, [(f"r0.{key.sql}", key.kind)]))
    else:
        select = draw(grouped_over(source))
    return f"{select.sql} {draw(EMITS)}".strip()


@st.composite
def _joined(draw: st.DrawFn, key: str) -> From:
    """One to three windows, in some cases with a table, joined with the first; and filters, in some
    cases by NOT EXISTS.
    """
    source = draw(window("r0"))
    others = [draw(window(f"r{i}")) for i in range(1, draw(st.sampled_from([1, 2, 2, 3])))]
    names = [f"r{i + 1}" for i in range(len(others))]
    if table := draw(st.sampled_from(_TABLES)):
        others.append(contents(table, "t"))
        names.append("t")
    for name, other in zip(names, others, strict=True):
        join = draw(st.sampled_from(_JOINS))
        sql = f"{source.sql} {join} {other.sql} ON r0.{key} = {name}.{key}"
        source = From(sql, (), (*source.scope, *other.scope))
    count = draw(st.sampled_from([0, 0, 1]))
    conditions = [draw(predicates(source.scope)) for _ in range(count)]
    if draw(st.integers(0, 6)) == 6:
        looked_up = draw(window("e0"))
        inside = f"SELECT 1 FROM {looked_up.sql} WHERE e0.{key} = r0.{key}"
        conditions.append(f"NOT EXISTS ({inside})")
    return From(source.sql, tuple(conditions), source.scope)

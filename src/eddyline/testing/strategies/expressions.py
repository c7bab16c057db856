"""Random scalar expressions and predicates over what is in scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

Kind = Literal["int", "double", "str", "time"]


@dataclass(frozen=True)
class Column:
    """A column that an expression may read, as it is written (``a.k``), and its kind."""

    sql: str
    kind: Kind


Scope = Sequence[Column]


def columns(scope: Scope, kind: Kind) -> list[str]:
    """The columns of a kind; a constant where the scope has none, so that there is a choice."""
    constant = {"int": "1", "double": "0.5D", "str": "'x'", "time": "TIMESTAMP '1970-01-01'"}
    return [c.sql for c in scope if c.kind == kind] or [constant[kind]]


@st.composite
def integers(draw: st.DrawFn, scope: Scope) -> str:
    """An expression of an integer type."""
    x = st.sampled_from(columns(scope, "int"))
    form = draw(
        st.sampled_from(["{0}", "{0}", "{0} + {1}", "{0} - {1}", "{0} * 2", "-{0}"] + _MORE)
    )
    return form.format(draw(x), draw(x), draw(st.sampled_from(columns(scope, "double"))))


_MORE = [
    "ABS({0})",
    "{0} % 3",
    "COALESCE({0}, {1})",
    "COALESCE({0}, 7)",
    "NULLIF({0}, {1})",
    "CASE WHEN {0} > {1} THEN {0} ELSE {1} END",
    "CASE WHEN {0} > 0 THEN {1} END",
    "CASE {0} WHEN 1 THEN 10 WHEN 2 THEN {1} ELSE -1 END",
    "CAST({2} AS BIGINT)",
]


@st.composite
def doubles(draw: st.DrawFn, scope: Scope) -> str:
    """An expression of type double."""
    x = draw(st.sampled_from(columns(scope, "double")))
    i = draw(st.sampled_from(columns(scope, "int")))
    form = draw(
        st.sampled_from(
            ["{0}", "{0}", "{0} * 2", "{0} + {1}", "{1} / 2", "{0} / {1}", "ABS({0})"]
            + ["COALESCE({0}, 0.25D)", "CAST({1} AS DOUBLE)", "FLOOR({0} / 2D) + 0D"]
        )
    )
    return form.format(x, i)


@st.composite
def strings(draw: st.DrawFn, scope: Scope) -> str:
    """An expression of type string."""
    s = draw(st.sampled_from(columns(scope, "str")))
    form = draw(
        st.sampled_from(
            ["{0}", "{0}", "UPPER({0})", "COALESCE({0}, '-')", "CONCAT({0}, '!')", "{0} || 'z'"]
            + ["CASE WHEN {0} = 'x' THEN 'y' ELSE {0} END"]
        )
    )
    return form.format(s)


def values(scope: Scope, kind: Kind) -> st.SearchStrategy[str]:
    """An expression of a kind."""
    makers = {"int": integers, "double": doubles, "str": strings}
    return makers[kind](scope) if kind in makers else st.sampled_from(columns(scope, kind))


@st.composite
def comparisons(draw: st.DrawFn, scope: Scope) -> str:
    """A predicate without connectives."""
    i = draw(st.sampled_from(columns(scope, "int")))
    form = draw(
        st.sampled_from(
            ["{0} > 0", "{0} <= {1}", "{0} <> {1}", "{0} IS NULL", "{0} IS NOT NULL"]
            + ["{0} IN (0, 2, 5)", "{0} NOT IN (1, 3)", "{0} BETWEEN 0 AND 2", "{2} LIKE '%y'"]
            + ["{2} >= 'x'", "{2} IN ('x', 'yy')", "{3} < 1", "{3} >= {0}", "{2} IS NULL"]
        )
    )
    return form.format(
        i,
        draw(values(scope, "int")),
        draw(st.sampled_from(columns(scope, "str"))),
        draw(st.sampled_from(columns(scope, "double"))),
    )


@st.composite
def predicates(draw: st.DrawFn, scope: Scope) -> str:
    """A predicate, with AND, OR and NOT."""
    p, q = draw(comparisons(scope)), draw(comparisons(scope))
    form = draw(
        st.sampled_from(["{0}", "{0}", "{0}", "({0} OR {1})", "NOT ({0})", "({0} AND {1})"])
    )
    return form.format(p, q)

"""Random scalar expressions and predicates over what is in scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hypothesis import strategies as st

Kind = Literal["int", "double", "str", "time"]


@dataclass(frozen=True)
class Column:
    """A column that an expression may read, as it is written (``a.k``), and its kind."""

    sql: str
    kind: Kind


Scope = Sequence[Column]


def _kinds(*kinds: Kind) -> tuple[Kind, ...]:
    return kinds


def columns(scope: Scope, kind: Kind) -> list[str]:
    """The columns of a kind; a constant where the scope has none, so that there is a choice."""
    constant = {"int": "1", "double": "0.5D", "str": "'x'", "time": "TIMESTAMP '1970-01-01'"}
    return [c.sql for c in scope if c.kind == kind] or [constant[kind]]


_INTEGERS: Final = (  # 0 and 1: integers, 2: a double
    *("{0}", "{0}", "{0}", "{0}", "{0} + {1}", "{0} - {1}", "{0} * 2", "-{0}"),
    *(
        "ABS({0})",
        "{0} % 3",
        "{0} % {1}",
        "{0} DIV 2",
        "CAST(NULLIF({2}, CAST('NaN' AS DOUBLE)) AS BIGINT)",
    ),
    *("COALESCE({0}, {1})", "COALESCE({0}, 7)", "NULLIF({0}, {1})"),
    "CASE WHEN {0} > {1} THEN {0} ELSE {1} END",
    "CASE WHEN {0} > 0 THEN {1} END",
    "CASE {0} WHEN 1 THEN 10 WHEN 2 THEN {1} ELSE -1 END",
)
_DOUBLES: Final = (  # 0: a double, 1: an integer
    *("{0}", "{0}", "{0}", "{0} * 2", "{0} + {1}", "{1} / 2", "{0} / {1}", "ABS({0})"),
    *(
        "COALESCE({0}, 0.25D)",
        "CAST({1} AS DOUBLE)",
        "FLOOR(NULLIF({0}, CAST('NaN' AS DOUBLE)) / 2D) + 0D",
    ),
)
_STRINGS: Final = (
    *("{0}", "{0}", "{0}", "UPPER({0})", "COALESCE({0}, '-')", "CONCAT({0}, '!')", "{0} || 'z'"),
    "CASE WHEN {0} = 'x' THEN 'y' ELSE {0} END",
)
_COMPARISONS: Final = (  # 0: an integer, 1: an expression of that type, 2: a string, 3: a double
    *("{0} > 0", "{0} <= {1}", "{0} <> {1}", "{0} IS NULL", "{0} IS NOT NULL"),
    *("{0} IN (0, 2, 5)", "{0} NOT IN (1, 3)", "{0} IN (1, NULL)", "{0} BETWEEN 0 AND 2"),
    *("{2} LIKE '%y'", "{2} >= 'x'", "{2} IN ('x', 'yy')", "{2} IS NULL"),
    *("{3} < 1", "{3} >= {0}", "{0} <=> {1}"),
)
_CONNECTED: Final = ("{0}", "{0}", "{0}", "({0} OR {1})", "NOT ({0})", "({0} AND {1})")


@st.composite
def integers(draw: st.DrawFn, scope: Scope) -> str:
    """An expression of an integer type."""
    x, d = (st.sampled_from(columns(scope, kind)) for kind in _kinds("int", "double"))
    return draw(st.sampled_from(_INTEGERS)).format(draw(x), draw(x), draw(d))


@st.composite
def doubles(draw: st.DrawFn, scope: Scope) -> str:
    """An expression of type double."""
    d, i = (st.sampled_from(columns(scope, kind)) for kind in _kinds("double", "int"))
    return draw(st.sampled_from(_DOUBLES)).format(draw(d), draw(i))


@st.composite
def strings(draw: st.DrawFn, scope: Scope) -> str:
    """An expression of type string."""
    return draw(st.sampled_from(_STRINGS)).format(draw(st.sampled_from(columns(scope, "str"))))


def values(scope: Scope, kind: Kind) -> st.SearchStrategy[str]:
    """An expression of a kind."""
    makers = {"int": integers, "double": doubles, "str": strings}
    return makers[kind](scope) if kind in makers else st.sampled_from(columns(scope, kind))


@st.composite
def comparisons(draw: st.DrawFn, scope: Scope) -> str:
    """A predicate without connectives."""
    i, s, d = (st.sampled_from(columns(scope, kind)) for kind in _kinds("int", "str", "double"))
    expression = draw(values(scope, "int"))
    return draw(st.sampled_from(_COMPARISONS)).format(draw(i), expression, draw(s), draw(d))


@st.composite
def predicates(draw: st.DrawFn, scope: Scope) -> str:
    """A predicate, with AND, OR and NOT."""
    p, q = draw(comparisons(scope)), draw(comparisons(scope))
    return draw(st.sampled_from(_CONNECTED)).format(p, q)

"""Random scalar expressions and predicates over the columns in scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hypothesis import strategies as st

ColumnKind = Literal["int", "double", "str", "time"]


@dataclass(frozen=True)
class ScopeColumn:
    """A column in scope: its SQL (``a.k``) and its kind."""

    sql: str
    kind: ColumnKind


Scope = Sequence[ScopeColumn]


def _kinds(*kinds: ColumnKind) -> tuple[ColumnKind, ...]:
    return kinds


def columns(scope: Scope, kind: ColumnKind) -> list[str]:
    """The columns of a kind; a constant if there are none."""
    constant = {"int": "1", "double": "0.5D", "str": "'7'", "time": "TIMESTAMP '1970-01-01'"}
    return [c.sql for c in scope if c.kind == kind] or [constant[kind]]


_INTEGERS: Final = (  # 0 and 1: integers, 2: a double
    *("{0}", "{0}", "{0}", "{0}", "{0} + {1}", "{0} - {1}", "{0} * 2", "-{0}"),
    *("ABS({0})", "{0} % 3", "{0} % NULLIF({1}, 0)", "{0} DIV 2"),
    "CAST(NULLIF({2}, CAST('NaN' AS DOUBLE)) AS BIGINT)",
    *("COALESCE({0}, {1})", "COALESCE({0}, 7)", "NULLIF({0}, {1})"),
    "CASE WHEN {0} > {1} THEN {0} ELSE {1} END",
    "CASE WHEN {0} > 0 THEN {1} END",
    "CASE {0} WHEN 1 THEN 10 WHEN 2 THEN {1} ELSE -1 END",
)
_DOUBLES: Final = (  # 0: a double, 1: an integer
    *("{0}", "{0}", "{0}", "{0} * 2", "{0} + {1}", "{1} / 2", "{0} / NULLIF({1}, 0)", "ABS({0})"),
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
    *("{2} LIKE ANY ('%y', 'x%')", "{2} NOT LIKE ALL ('x%', 'yy')", "CONTAINS({2}, 'y')"),
    "INSTR('xyy', {2}) > 1",
    *("{3} < 1", "{3} >= {0}", "{0} <=> {1}"),
)
#: Expressions that fail for some rows; 0 to 3 as in comparisons.
_FALLIBLE: Final[dict[ColumnKind, tuple[str, ...]]] = {
    "int": (
        *("{0} % {1}", "{0} DIV {1}", "{0} + 9223372036854775806", "{0} * 4611686018427387904"),
        *("CAST({3} AS BIGINT)", "CAST({2} AS BIGINT)", "-({0} - 9223372036854775807 - 2)"),
        *("CASE WHEN {0} <> 0 THEN {1} DIV {0} END", "COALESCE({0}, {1} % 0)"),
        *("CASE WHEN {0} > 1 THEN 7 DIV ({0} - 2) ELSE {1} END", "NULLIF({0}, {1} DIV {0})"),
        *("try_add({0}, 9223372036854775806)", "TRY_CAST({2} AS BIGINT)"),
    ),
    "double": ("{3} / {0}", "{0} / {1}", "try_divide({3}, {0})", "{3} / {3}", "1D / ({0} - 1)"),
    "str": ("CONCAT({2}, CAST(5 DIV {0} AS STRING))",),
    "time": (),
}
_FALLIBLE_TESTS: Final = (
    *("{0} / {1} > 1", "{0} % {1} = 0", "CAST({2} AS BIGINT) > 0", "10 DIV {0} IN ({0}, 5)"),
    *("{0} * 4611686018427387904 > 0", "try_divide({0}, {1}) IS NULL", "1 / {0} IS NULL"),
    "CASE WHEN {0} <> 0 THEN 10 / {0} > 3 ELSE {1} > 0 END",
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


def values(scope: Scope, kind: ColumnKind) -> st.SearchStrategy[str]:
    """An expression of a kind."""
    makers = {"int": integers, "double": doubles, "str": strings}
    return makers[kind](scope) if kind in makers else st.sampled_from(columns(scope, kind))


@st.composite
def fallible(draw: st.DrawFn, scope: Scope, kind: ColumnKind) -> str:
    """An expression of a kind that fails for some rows."""
    i, s, d = (st.sampled_from(columns(scope, kind)) for kind in _kinds("int", "str", "double"))
    form = draw(st.sampled_from(_FALLIBLE[kind]))
    return form.format(draw(i), draw(i), draw(s), draw(d))


@st.composite
def comparisons(draw: st.DrawFn, scope: Scope) -> str:
    """A predicate without connectives; it may fail for some rows."""
    i, s, d = (st.sampled_from(columns(scope, kind)) for kind in _kinds("int", "str", "double"))
    expression = draw(values(scope, "int"))
    forms = _FALLIBLE_TESTS if draw(st.integers(0, 4)) == 4 else _COMPARISONS
    return draw(st.sampled_from(forms)).format(draw(i), f"({expression})", draw(s), draw(d))


@st.composite
def predicates(draw: st.DrawFn, scope: Scope) -> str:
    """A predicate, with AND, OR and NOT."""
    p, q = draw(comparisons(scope)), draw(comparisons(scope))
    return draw(st.sampled_from(_CONNECTED)).format(p, q)

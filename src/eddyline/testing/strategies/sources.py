"""Random FROM clauses with their conditions: windows, inner and outer joins, tables, EXISTS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from eddyline.testing.strategies.expressions import (
    ColumnKind,
    Scope,
    ScopeColumn,
    columns,
    predicates,
)

STREAM_COLUMNS: Final[dict[str, ColumnKind]] = {"k": "int", "s": "str", "d": "double", "v": "int"}
TABLE_COLUMNS: Final[dict[str, ColumnKind]] = {"k": "int", "s": "str", "w": "int"}

#: Windows whose rows expire at an instant that is known at arrival.
RANGES: Final = (
    *(f"[RANGE {n} SECONDS]" for n in (5, 10, 3, 2, 1, 10)),
    "[RANGE 1500 MILLISECONDS]",
    "[RANGE 2000001 MICROSECONDS]",
    "[NOW]",
    "[UNBOUNDED]",
)
WINDOWS: Final = (
    *RANGES,
    *(f"[ROWS {n}]" for n in (1, 2, 4)),
    "[PARTITION BY k ROWS 1]",
    "[PARTITION BY k, s ROWS 2]",
)
_TABLES: Final = (*[""] * 9, "dim", "dim", "dim", "live", "live", "nrr")
_JOINS: Final = (*["JOIN"] * 6, "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN")
_KEYS: Final[tuple[list[ColumnKind], ...]] = (
    ["int"],
    ["int"],
    ["str"],
    ["str"],
    ["double"],
    ["int", "str"],
)


@dataclass(frozen=True)
class From:
    """A FROM clause with its conditions and the columns in scope.

    ``commas``: it joins by comma; the ON of a later outer join could not name the items before it.
    """

    sql: str
    conditions: tuple[str, ...]
    scope: tuple[ScopeColumn, ...]
    commas: bool = False


@st.composite
def sources(draw: st.DrawFn) -> From:
    """One to four windows joined, in some cases with a table, and filters, in some cases by EXISTS.

    A non-retroactive table is joined with RANGE windows only, without outer joins and EXISTS: its
    results must not be withdrawn.
    """
    count = draw(st.sampled_from([1, 1, 2, 2, 2, 3, 3, 4]))
    table = draw(st.sampled_from(_TABLES))
    plain = table == "nrr"
    windows = RANGES if plain else WINDOWS
    source = draw(joined(draw(window("r0", windows)), count - 1, plain=plain))
    if table:
        source = draw(_joined_with_table(source, table))
    count = draw(st.sampled_from([0, 0, 0, 1, 1, 2]))
    extra = [draw(predicates(source.scope)) for _ in range(count)]
    if not plain and draw(st.integers(0, 6)) == 6:
        extra.append(draw(existence(source.scope)))
    return From(source.sql, (*source.conditions, *extra), source.scope)


@st.composite
def window(
    draw: st.DrawFn, alias: str, windows: Sequence[str] = WINDOWS, streams: Sequence[str] = "abcd"
) -> From:
    """One of these streams with a window."""
    stream = draw(st.sampled_from(streams))
    scope = tuple(ScopeColumn(f"{alias}.{c}", kind) for c, kind in STREAM_COLUMNS.items())
    return From(f"{stream} {draw(st.sampled_from(windows))} AS {alias}", (), scope)


def contents(table: str, alias: str) -> From:
    """A table alone."""
    scope = tuple(ScopeColumn(f"{alias}.{c}", kind) for c, kind in TABLE_COLUMNS.items())
    return From(f"{table} AS {alias}", (), scope)


@st.composite
def joined(
    draw: st.DrawFn, source: From, more: int, *, plain: bool = False, alias: str = "r"
) -> From:
    """The source joined with more windows, by comma or JOIN ... ON; ``plain``: RANGE windows only,
    and no outer joins. Some of them are in parentheses, joined with each other.
    """
    number = 1
    while number <= more:
        other = draw(window(f"{alias}{number}", RANGES if plain else WINDOWS))
        number += 1
        if number <= more and draw(st.booleans()):
            other = draw(in_parentheses(other, f"{alias}{number}", plain=plain))
            number += 1
        condition = draw(_join_condition(source.scope, other.scope, product=more == 1))
        scope = (*source.scope, *other.scope)
        if condition and draw(st.booleans()):
            join = "JOIN" if plain or source.commas else draw(st.sampled_from(_JOINS))
            sql = f"{source.sql} {join} {other.sql} ON {condition}"
            source = From(sql, source.conditions, scope, source.commas)
        else:
            commas = " JOIN " not in source.sql and draw(st.booleans())
            sql = f"{source.sql}{',' if commas else ' CROSS JOIN'} {other.sql}"
            conditions = (*source.conditions, condition) if condition else source.conditions
            source = From(sql, conditions, scope, commas or source.commas)
    return source


@st.composite
def in_parentheses(draw: st.DrawFn, source: From, alias: str, *, plain: bool) -> From:
    """The source joined with one more window, in parentheses."""
    other = draw(window(alias, RANGES if plain else WINDOWS))
    join = "JOIN" if plain else draw(st.sampled_from(_JOINS))
    condition = draw(_join_condition(source.scope, other.scope, product=False))
    sql = f"({source.sql} {join} {other.sql} ON {condition})"
    return From(sql, source.conditions, (*source.scope, *other.scope))


@st.composite
def existence(draw: st.DrawFn, scope: Scope) -> str:
    """[NOT] EXISTS (SELECT ...), on one or two keys or none, in some cases with more conditions; or
    IN (SELECT ...).
    """
    inner = draw(_looked_up())
    conditions = list(inner.conditions)
    shape = draw(st.sampled_from(["EXISTS", "NOT EXISTS", "NOT EXISTS", "IN"]))
    kinds = draw(st.sampled_from(_KEYS))
    pairs = [draw(_equal_columns(scope, inner.scope, kind)) for kind in kinds]
    more = draw(st.sampled_from(["", "", "", "inner", "both"]))
    if more:
        read = inner.scope if more == "inner" else (*scope, *inner.scope)
        conditions.append(draw(predicates(read)))
    if shape == "IN":
        (outside, inside), *pairs = pairs
        item, head = inside, f"{outside} IN"
    else:
        item, head = draw(st.sampled_from(["1", "*"])), shape
        if draw(st.integers(0, 9)) == 9:
            pairs = []
    conditions += [f"{outside} = {inside}" for outside, inside in pairs]
    return f"{head} (SELECT {item} FROM {inner.sql}{where(conditions)})"


@st.composite
def _looked_up(draw: st.DrawFn) -> From:
    """The FROM clause of an EXISTS: mostly one window."""
    shape = draw(st.sampled_from(["one", "one", "one", "one", "two", "live", "dim"]))
    if shape in ("live", "dim"):
        return contents(shape, "e0")
    source = draw(window("e0"))
    return source if shape == "one" else draw(joined(source, 1, alias="e"))


@st.composite
def _joined_with_table(draw: st.DrawFn, source: From, table: str) -> From:
    other = contents(table, "t")
    condition = draw(_join_condition(source.scope, other.scope, product=False))
    outer = table != "nrr" and not source.commas and draw(st.integers(0, 4)) == 4
    sql = f"{source.sql} {'LEFT JOIN' if outer else 'JOIN'} {other.sql} ON {condition}"
    return From(sql, source.conditions, (*source.scope, *other.scope), source.commas)


@st.composite
def _join_condition(draw: st.DrawFn, left: Scope, right: Scope, product: bool) -> str:
    """Equal keys of one or several columns and sometimes more; none for some products."""
    if product and draw(st.integers(0, 9)) == 9:
        return ""
    kinds = draw(st.sampled_from(_KEYS))
    parts = [" = ".join(draw(_equal_columns(left, right, kind))) for kind in kinds]
    if draw(st.integers(0, 5)) == 5:
        parts.append(draw(predicates((*left, *right))))
    return " AND ".join(parts)


@st.composite
def _equal_columns(draw: st.DrawFn, left: Scope, right: Scope, kind: ColumnKind) -> tuple[str, str]:
    one, other = columns(left, kind), columns(right, kind)
    return draw(st.sampled_from(one)), draw(st.sampled_from(other))


def where(conditions: Sequence[str]) -> str:
    """The WHERE clause after a blank; empty without conditions."""
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""

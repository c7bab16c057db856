"""Random queries: joins of one to four windows, GROUP BY, DISTINCT, UNION ALL, sub-queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from eddyline.testing.strategies.expressions import (
    Column,
    Kind,
    Scope,
    columns,
    predicates,
    values,
)

_STREAM_COLUMNS: Final[dict[str, Kind]] = {"k": "int", "s": "str", "d": "double", "v": "int"}
_DIM_COLUMNS: Final[dict[str, Kind]] = {"k": "int", "s": "str", "w": "int"}

WINDOWS: Final = st.sampled_from(
    [
        *(f"[RANGE {n} SECONDS]" for n in (5, 10, 3, 2, 1, 10)),
        "[RANGE 1500 MILLISECONDS]",
        "[RANGE 2000001 MICROSECONDS]",
        *(f"[ROWS {n}]" for n in (1, 2, 4)),
        "[PARTITION BY k ROWS 1]",
        "[PARTITION BY k, s ROWS 2]",
        "[NOW]",
        "[UNBOUNDED]",
    ]
)
_STRING_AGGREGATES: Final = ("MIN({})", "MAX({})", "COUNT({})", "COUNT(DISTINCT {})")
_NUMBER_AGGREGATES: Final = (
    *("COUNT(*)", "SUM({})", "AVG({})", "MIN({})", "MAX({})", "COUNT({})", "STDDEV({})"),
    *(
        "COUNT(DISTINCT {})",
        "SUM({0}) FILTER (WHERE {0} > 1)",
        "SUM({}) + 1",
        "COUNT(*) FILTER (WHERE {0} > 1)",
    ),
)
EMITS: Final = st.sampled_from(
    ["", "EMIT INSERTS", "EMIT CHANGES", "EMIT SNAPSHOT EVERY 2 SECONDS"]
)


@dataclass(frozen=True)
class Select:
    """A SELECT as text, with the names and kinds of its columns."""

    sql: str
    columns: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class From:
    """A FROM clause with the conditions that belong to it, and what it brings into scope."""

    sql: str
    conditions: tuple[str, ...]
    scope: tuple[Column, ...]


@st.composite
def queries(draw: st.DrawFn) -> str:
    """The text of a query, with or without an EMIT clause."""
    return f"{draw(selects()).sql} {draw(EMITS)}".strip()


@st.composite
def selects(draw: st.DrawFn, depth: int = 1) -> Select:
    """Any SELECT; ``depth`` sub-queries may stand in each other."""
    shapes = [flat(), flat(), grouped(), grouped(), unions()]
    if depth:
        shapes += [over_subquery(depth - 1), over_subquery(depth - 1)]
    chosen: Select = draw(st.one_of(*shapes))
    return chosen


@st.composite
def flat(draw: st.DrawFn, kinds: tuple[Kind, ...] | None = None) -> Select:
    """SELECT [DISTINCT] ... FROM windows WHERE ..., of given column kinds or any."""
    source = draw(sources())
    distinct = draw(st.sampled_from(["", "", "DISTINCT "]))
    chosen: tuple[Kind, ...] = kinds or tuple(
        draw(st.lists(st.sampled_from(["int", "str", "double", "int"]), min_size=1, max_size=3))
    )
    items = [draw(values(source.scope, kind)) for kind in chosen]
    return Select(
        f"SELECT {distinct}{_list(items)} FROM {source.sql}{_where(source.conditions)}",
        tuple((f"c{i}", kind) for i, kind in enumerate(chosen)),
    )


@st.composite
def grouped(draw: st.DrawFn) -> Select:
    """SELECT keys, aggregates ... GROUP BY keys [HAVING ...]; no key at all is possible, too."""
    return draw(grouped_over(draw(sources())))


@st.composite
def grouped_over(draw: st.DrawFn, source: From) -> Select:
    """GROUP BY over a FROM clause."""
    keys = draw(st.lists(_keys(source.scope), max_size=2, unique=True))
    aggregates = draw(st.lists(_aggregates(source.scope), min_size=1, max_size=3))
    items = [*keys, *aggregates] if draw(st.booleans()) else [*aggregates, *keys]
    sql = f"SELECT {_list([i for i, _ in items])} FROM {source.sql}{_where(source.conditions)}"
    if keys:
        sql += f" GROUP BY {', '.join(k for k, _ in keys)}"
        if draw(st.integers(0, 2)) == 2:
            sql += f" HAVING {draw(_having(source.scope))}"
    return Select(sql, tuple((f"c{i}", kind) for i, (_, kind) in enumerate(items)))


@st.composite
def unions(draw: st.DrawFn) -> Select:
    """UNION ALL of two or three SELECTs."""
    kinds: tuple[Kind, ...] = tuple(
        draw(st.lists(st.sampled_from(["int", "str", "double"]), min_size=1, max_size=2))
    )
    parts = draw(st.lists(flat(kinds), min_size=2, max_size=3))
    return Select(" UNION ALL ".join(p.sql for p in parts), parts[0].columns)


@st.composite
def over_subquery(draw: st.DrawFn, depth: int) -> Select:
    """A SELECT over a sub-query: alone, joined with a stream, or grouped again."""
    inner = draw(selects(depth))
    scope = tuple(Column(f"q.{name}", kind) for name, kind in inner.columns)
    source = From(f"({inner.sql}) AS q", (), scope)
    shape = draw(st.sampled_from(["filter", "join", "group", "distinct"]))
    if shape == "join":
        source = draw(_joined(source, 1))
    conditions = [*source.conditions]
    if draw(st.integers(0, 2)) == 2:
        conditions.append(draw(predicates(source.scope)))
    if shape == "group":
        return draw(grouped_over(From(source.sql, tuple(conditions), source.scope)))
    items = [c.sql for c in scope]
    distinct = "DISTINCT " if shape == "distinct" else ""
    sql = f"SELECT {distinct}{_list(items)} FROM {source.sql}{_where(tuple(conditions))}"
    return Select(sql, inner.columns)


@st.composite
def sources(draw: st.DrawFn) -> From:
    """One to four windows joined, perhaps with the static table, and filters."""
    count = draw(st.sampled_from([1, 1, 2, 2, 2, 3, 3, 4]))
    source = draw(_joined(draw(_window(0)), count - 1))
    if draw(st.integers(0, 4)) == 4:
        source = draw(_joined_with_table(source))
    count = draw(st.sampled_from([0, 0, 0, 1, 1, 2]))
    extra = [draw(predicates(source.scope)) for _ in range(count)]
    return From(source.sql, (*source.conditions, *extra), source.scope)


@st.composite
def _window(draw: st.DrawFn, number: int) -> From:
    stream, alias = draw(st.sampled_from("abcd")), f"r{number}"
    scope = tuple(Column(f"{alias}.{c}", kind) for c, kind in _STREAM_COLUMNS.items())
    return From(f"{stream} {draw(WINDOWS)} AS {alias}", (), scope)


@st.composite
def _joined(draw: st.DrawFn, source: From, more: int) -> From:
    """The source joined with more windows, by comma or JOIN ... ON."""
    for number in range(1, more + 1):
        other = draw(_window(number))
        condition = draw(_join_condition(source.scope, other.scope, product=more == 1))
        scope = (*source.scope, *other.scope)
        if condition and draw(st.booleans()):
            sql = f"{source.sql} JOIN {other.sql} ON {condition}"
            source = From(sql, source.conditions, scope)
        else:
            sql = f"{source.sql} CROSS JOIN {other.sql}"
            if draw(st.booleans()) and " JOIN " not in source.sql:
                sql = f"{source.sql}, {other.sql}"
            conditions = (*source.conditions, condition) if condition else source.conditions
            source = From(sql, conditions, scope)
    return source


@st.composite
def _joined_with_table(draw: st.DrawFn, source: From) -> From:
    scope = tuple(Column(f"t.{c}", kind) for c, kind in _DIM_COLUMNS.items())
    condition = draw(_join_condition(source.scope, scope, product=False))
    sql = f"{source.sql} JOIN dim AS t ON {condition}"
    return From(sql, source.conditions, (*source.scope, *scope))


@st.composite
def _join_condition(draw: st.DrawFn, left: Scope, right: Scope, product: bool) -> str:
    """Equal keys of one or several columns and perhaps more; or none, when products are wanted."""
    if product and draw(st.integers(0, 9)) == 9:
        return ""
    kinds: list[Kind] = draw(
        st.sampled_from([["int"], ["int"], ["str"], ["str"], ["double"], ["int", "str"]])
    )
    parts = []
    for kind in kinds:
        one, other = columns(left, kind), columns(right, kind)
        parts.append(f"{draw(st.sampled_from(one))} = {draw(st.sampled_from(other))}")
    if draw(st.integers(0, 5)) == 5:
        parts.append(draw(predicates((*left, *right))))
    return " AND ".join(parts)


@st.composite
def _keys(draw: st.DrawFn, scope: Scope) -> tuple[str, Kind]:
    column = draw(st.sampled_from([c for c in scope if c.kind != "time"]))
    if column.kind == "int" and draw(st.integers(0, 3)) == 3:
        return f"{column.sql} % 2", "int"
    return column.sql, column.kind


@st.composite
def _aggregates(draw: st.DrawFn, scope: Scope) -> tuple[str, Kind]:
    kind: Kind = draw(st.sampled_from(["int", "int", "double", "str"]))
    form = draw(st.sampled_from(_STRING_AGGREGATES if kind == "str" else _NUMBER_AGGREGATES))
    if "COUNT" in form:
        result: Kind = "int"
    else:
        result = "double" if "AVG" in form or "STDDEV" in form else kind
    argument = draw(values(scope, kind))
    return form.format(argument, argument), result


@st.composite
def _having(draw: st.DrawFn, scope: Scope) -> str:
    aggregate, kind = draw(_aggregates(scope))
    bound = "'x'" if kind == "str" else draw(st.sampled_from(["0", "1", "2"]))
    return draw(st.sampled_from([f"{aggregate} > {bound}", f"{aggregate} IS NOT NULL"]))


def _list(items: list[str]) -> str:
    return ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))


def _where(conditions: tuple[str, ...]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""

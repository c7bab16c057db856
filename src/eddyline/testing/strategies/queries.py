"""Random queries: SELECTs over joins, GROUP BY, DISTINCT, set operations, sub-queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from eddyline.testing.strategies import expressions
from eddyline.testing.strategies.expressions import (
    ColumnKind,
    Scope,
    ScopeColumn,
    predicates,
    values,
)
from eddyline.testing.strategies.sets import GeneratedSelect, Kinds, select_list, set_operations
from eddyline.testing.strategies.sources import From, existence, joined, sources, where

_STRING_AGGREGATES: Final = ("MIN({})", "MAX({})", "COUNT({})", "COUNT(DISTINCT {})")
_NUMBER_AGGREGATES: Final = (
    *("COUNT(*)", "SUM({})", "AVG({})", "MIN({})", "MAX({})", "COUNT({})", "STDDEV({})"),
    *(
        "COUNT(DISTINCT {})",
        "SUM(DISTINCT {})",
        "MEDIAN({})",
        "VAR_POP({0}) FILTER (WHERE {0} > 1)",
        "SUM({0}) FILTER (WHERE {0} > 1)",
        "SUM({}) + 1",
        "COUNT(*) FILTER (WHERE {0} > 1)",
        "COUNT(DISTINCT {0}) FILTER (WHERE {0} > 1)",
    ),
)
_DOUBLES: Final = ("AVG", "STDDEV", "MEDIAN", "VAR_POP")
EMITS: Final = st.sampled_from(
    [
        *("", "EMIT INSERTS", "EMIT CHANGES", "EMIT SNAPSHOT EVERY 2 SECONDS"),
        "EMIT SNAPSHOT EVERY 2 SECONDS OFFSET 500 MILLISECONDS",
    ]
)


@st.composite
def queries(draw: st.DrawFn) -> str:
    """The text of a query that reads more than a static table, with or without an EMIT clause."""
    return f"{draw(selects().filter(_changes)).sql} {draw(EMITS)}".strip()


def _changes(select: GeneratedSelect) -> bool:
    """Whether the answer may change: it has a window, or reads the changing table ``live``."""
    return "[" in select.sql or " live AS " in select.sql


@st.composite
def selects(draw: st.DrawFn, depth: int = 1) -> GeneratedSelect:
    """Any SELECT with up to ``depth`` levels of sub-queries."""
    shapes = [flat(), flat(fallible=depth > 0), grouped(), grouped(), unions()]
    shapes.append(set_operations(flat))
    if depth:
        shapes += [over_subquery(depth - 1), over_subquery(depth - 1)]
    chosen: GeneratedSelect = draw(st.one_of(*shapes))
    return chosen


@st.composite
def flat(draw: st.DrawFn, kinds: Kinds | None = None, *, fallible: bool = False) -> GeneratedSelect:
    """SELECT [DISTINCT] ... FROM windows WHERE ..., of given column kinds or any.

    ``fallible``: a column may fail for some rows. Not in sub-queries: columns without readers may
    not be evaluated.
    """
    return draw(flat_over(draw(sources()), kinds, fallible=fallible))


@st.composite
def flat_over(
    draw: st.DrawFn, source: From, kinds: Kinds | None = None, *, fallible: bool = False
) -> GeneratedSelect:
    """``flat`` over a FROM clause."""
    distinct = draw(st.sampled_from(["", "", "DISTINCT "]))
    chosen: Kinds = kinds or tuple(
        draw(st.lists(st.sampled_from(["int", "str", "double", "int"]), min_size=1, max_size=3))
    )
    makers = [values, values, expressions.fallible] if fallible else [values]
    items = [draw(draw(st.sampled_from(makers))(source.scope, kind)) for kind in chosen]
    return GeneratedSelect(
        f"SELECT {distinct}{select_list(items)} FROM {source.sql}{where(source.conditions)}",
        tuple((f"c{i}", kind) for i, kind in enumerate(chosen)),
    )


@st.composite
def grouped(draw: st.DrawFn) -> GeneratedSelect:
    """SELECT keys, aggregates ... GROUP BY keys [HAVING ...]; also without keys."""
    return draw(grouped_over(draw(sources())))


@st.composite
def grouped_over(
    draw: st.DrawFn, source: From, by: Sequence[tuple[str, ColumnKind]] | None = None
) -> GeneratedSelect:
    """GROUP BY over a FROM clause; ``by``: these keys, or any."""
    any_keys = st.lists(_keys(source.scope), max_size=2, unique=True)
    keys = draw(any_keys) if by is None else by
    aggregates = draw(st.lists(_aggregates(source.scope), min_size=1, max_size=3))
    items = [*keys, *aggregates] if draw(st.booleans()) else [*aggregates, *keys]
    sql = f"SELECT {select_list([i for i, _ in items])} FROM {source.sql}{where(source.conditions)}"
    if keys:
        sql += f" GROUP BY {', '.join(k for k, _ in keys)}"
        if draw(st.integers(0, 2)) == 2:
            sql += f" HAVING {draw(_having(source.scope))}"
    return GeneratedSelect(sql, tuple((f"c{i}", kind) for i, (_, kind) in enumerate(items)))


@st.composite
def unions(draw: st.DrawFn) -> GeneratedSelect:
    """UNION ALL of two or three SELECTs."""
    kinds: Kinds = tuple(
        draw(st.lists(st.sampled_from(["int", "str", "double"]), min_size=1, max_size=2))
    )
    parts = draw(st.lists(flat(kinds), min_size=2, max_size=3))
    return GeneratedSelect(" UNION ALL ".join(p.sql for p in parts), parts[0].columns)


@st.composite
def over_subquery(draw: st.DrawFn, depth: int) -> GeneratedSelect:
    """A SELECT over a sub-query: alone, joined with a stream, or grouped again."""
    inner = draw(selects(depth))
    scope = tuple(ScopeColumn(f"q.{name}", kind) for name, kind in inner.columns)
    source = From(f"({inner.sql}) AS q", (), scope)
    shape = draw(st.sampled_from(["filter", "join", "group", "distinct"]))
    if shape == "join":
        source = draw(joined(source, 1))
    conditions = [*source.conditions]
    if draw(st.integers(0, 2)) == 2:
        conditions.append(draw(predicates(source.scope)))
    if draw(st.integers(0, 7)) == 7:
        conditions.append(draw(existence(source.scope)))
    if shape == "group":
        return draw(grouped_over(From(source.sql, tuple(conditions), source.scope)))
    items = [c.sql for c in scope]
    distinct = "DISTINCT " if shape == "distinct" else ""
    sql = f"SELECT {distinct}{select_list(items)} FROM {source.sql}{where(tuple(conditions))}"
    return GeneratedSelect(sql, inner.columns)


@st.composite
def _keys(draw: st.DrawFn, scope: Scope) -> tuple[str, ColumnKind]:
    column = draw(st.sampled_from([c for c in scope if c.kind != "time"]))
    if column.kind == "int" and draw(st.integers(0, 3)) == 3:
        return f"{column.sql} % 2", "int"
    return column.sql, column.kind


@st.composite
def _aggregates(draw: st.DrawFn, scope: Scope) -> tuple[str, ColumnKind]:
    kind: ColumnKind = draw(st.sampled_from(["int", "int", "double", "str"]))
    form = draw(st.sampled_from(_STRING_AGGREGATES if kind == "str" else _NUMBER_AGGREGATES))
    if "COUNT" in form:
        result: ColumnKind = "int"
    else:
        result = "double" if form.startswith(_DOUBLES) else kind
    argument = draw(values(scope, kind))
    return form.format(argument, argument), result


@st.composite
def _having(draw: st.DrawFn, scope: Scope) -> str:
    aggregate, kind = draw(_aggregates(scope))
    bound = "'x'" if kind == "str" else draw(st.sampled_from(["0", "1", "2"]))
    return draw(st.sampled_from([f"{aggregate} > {bound}", f"{aggregate} IS NOT NULL"]))

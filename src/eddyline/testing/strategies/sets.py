"""Random set operations: with and without ALL, nested, and EXCEPT ALL ON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from eddyline.testing.strategies.expressions import ColumnKind, predicates
from eddyline.testing.strategies.sources import TABLE_COLUMNS, contents, where, window

Kinds = tuple[ColumnKind, ...]

_OPERATIONS: Final = (
    *("EXCEPT ALL", "EXCEPT ALL", "EXCEPT ALL", "EXCEPT", "EXCEPT"),
    *("INTERSECT", "INTERSECT ALL", "UNION ALL", "UNION"),
)
#: Columns, those that two operands have in common more often.
_COLUMNS: Final[dict[ColumnKind, tuple[str, ...]]] = {
    "int": ("k", "k", "k", "v"),
    "str": ("s",),
    "double": ("d",),
}


@dataclass(frozen=True)
class GeneratedSelect:
    """A query as text, with the names and kinds of its columns."""

    sql: str
    columns: tuple[tuple[str, ColumnKind], ...]


#: Generates SELECTs with columns of given kinds.
Selects = Callable[[Kinds], st.SearchStrategy[GeneratedSelect]]


@st.composite
def set_operations(
    draw: st.DrawFn, others: Selects, kinds: Kinds | None = None, depth: int = 1
) -> GeneratedSelect:
    """One or two set operations, of columns of given kinds or any.

    ``others`` generates operands beside those of this module; ``depth``: levels of operations in
    parentheses.
    """
    chosen: Kinds = kinds or tuple(
        draw(st.lists(st.sampled_from(["int", "int", "str", "double"]), min_size=1, max_size=2))
    )
    if draw(st.integers(0, 4)) == 4:
        return draw(_keyed_negation(others, chosen))
    sql = draw(_operand(others, chosen, depth)).sql
    for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
        operand = draw(_operand(others, chosen, depth)).sql
        sql = f"{sql} {draw(st.sampled_from(_OPERATIONS))} {operand}"
    return GeneratedSelect(sql, _named(chosen))


@st.composite
def _keyed_negation(draw: st.DrawFn, others: Selects, kinds: Kinds) -> GeneratedSelect:
    """EXCEPT ALL ON some of the columns; the left rows are those of one window."""
    keys = draw(st.sets(st.sampled_from([n for n, _ in _named(kinds)]), min_size=1))
    left, right = draw(_narrow(kinds, distinct=False)).sql, draw(_operand(others, kinds, 0)).sql
    return GeneratedSelect(
        f"{left} EXCEPT ALL ON ({', '.join(sorted(keys))}) {right}", _named(kinds)
    )


@st.composite
def _operand(draw: st.DrawFn, others: Selects, kinds: Kinds, depth: int) -> GeneratedSelect:
    shapes = [_narrow(kinds), _narrow(kinds), _narrow(kinds), others(kinds)]
    if kinds == ("int", "int"):
        shapes.append(_counts())
    if set(kinds) <= set(TABLE_COLUMNS.values()):
        shapes.append(_live_rows(kinds))
    if depth:
        shapes.append(set_operations(others, kinds, depth - 1).map(_in_parentheses))
    chosen: GeneratedSelect = draw(st.one_of(*shapes))
    return chosen


@st.composite
def _narrow(draw: st.DrawFn, kinds: Kinds, *, distinct: bool = True) -> GeneratedSelect:
    """SELECT [DISTINCT] columns FROM one window [WHERE ...]."""
    source = draw(window("r0"))
    items = [f"r0.{draw(st.sampled_from(_COLUMNS[kind]))}" for kind in kinds]
    word = draw(st.sampled_from(["", "", "", "DISTINCT "])) if distinct else ""
    conditions = [draw(predicates(source.scope))] if draw(st.integers(0, 2)) == 2 else []
    sql = f"SELECT {word}{select_list(items)} FROM {source.sql}{where(conditions)}"
    return GeneratedSelect(sql, _named(kinds))


@st.composite
def _counts(draw: st.DrawFn) -> GeneratedSelect:
    source = draw(window("r0"))
    sql = f"SELECT r0.k AS c0, COUNT(*) AS c1 FROM {source.sql} GROUP BY r0.k"
    return GeneratedSelect(sql, _named(("int", "int")))


@st.composite
def _live_rows(draw: st.DrawFn, kinds: Kinds) -> GeneratedSelect:
    table = draw(st.sampled_from(["live", "live", "dim"]))
    items = ["t.s" if kind == "str" else draw(st.sampled_from(["t.k", "t.w"])) for kind in kinds]
    return GeneratedSelect(
        f"SELECT {select_list(items)} FROM {contents(table, 't').sql}", _named(kinds)
    )


def _in_parentheses(select: GeneratedSelect) -> GeneratedSelect:
    return GeneratedSelect(f"({select.sql})", select.columns)


def _named(kinds: Kinds) -> tuple[tuple[str, ColumnKind], ...]:
    return tuple((f"c{i}", kind) for i, kind in enumerate(kinds))


def select_list(items: Sequence[str]) -> str:
    """The items, named c0, c1, ..."""
    return ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))

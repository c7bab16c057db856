"""``_kept`` for the oracle: streams have it as a column, as given with their rows; in a query it is
the product of those of the items of FROM. And the aggregates that are scaled by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Final

from sqlglot import exp

from eddyline.testing.reading import read_query, stream_of

KEPT: Final = "_kept"
_ONE: Final = exp.cast(exp.Literal.number(1), "double")


def with_products(
    query: exp.Expr, streams: Mapping[str, Sequence[str]], views: Mapping[str, str]
) -> None:
    """Make products of plain ``_kept``, in place.

    Args:
        streams: by name, their columns. views: by name, their SELECT.
    """
    for call in list(query.find_all(exp.Anonymous)):
        if call.name.lower() in _ESTIMATES:
            call.replace(_ESTIMATES[call.name.lower()](call.expressions[0]))
    selects = {name: read_query(text).select for name, text in views.items()}
    columns = {name: q.named_selects for name, q in selects.items() if isinstance(q, exp.Query)}
    sources = {**streams, **columns}
    for column in list(query.find_all(exp.Column)):
        if column.name.lower() != KEPT or column.table:
            continue
        select = column.parent_select
        assert isinstance(select, exp.Select), "a column is part of a SELECT"
        factors: list[exp.Expr] = [exp.column(KEPT, table=name) for name in _items(select, sources)]
        product = reduce(lambda a, b: exp.Mul(this=a, expression=b), factors or [_ONE.copy()])
        named = isinstance(column.parent, exp.Select)
        column.replace(
            exp.alias_(exp.Paren(this=product), KEPT) if named else exp.Paren(this=product)
        )


def _weight() -> exp.Expr:
    return exp.Div(this=_ONE.copy(), expression=exp.column(KEPT))


def _sum(value: exp.Expr) -> exp.Expr:
    return exp.Sum(this=exp.Mul(this=exp.Paren(this=value.copy()), expression=_weight()))


def _count(value: exp.Expr) -> exp.Expr:
    if isinstance(value, exp.Star):
        return exp.Sum(this=_weight())
    known = exp.If(this=exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())))
    known.set("true", _weight())
    return exp.Sum(this=exp.Case(ifs=[known]))


_ESTIMATES: Final[dict[str, Callable[[exp.Expr], exp.Expr]]] = {
    "scaled_count": lambda value: exp.Coalesce(
        this=_count(value), expressions=[exp.Literal.number(0)]
    ),
    "scaled_sum": _sum,
    "scaled_avg": lambda value: exp.Div(this=_sum(value), expression=_count(value)),
}


def _items(select: exp.Select, sources: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The names of the items of FROM that have the column."""
    from_ = select.args["from_"]
    for item in (from_.this, *(join.this for join in select.args.get("joins") or ())):
        if isinstance(item, exp.Table):
            name, _ = stream_of(item)
            if KEPT in sources.get(name, ()):
                yield item.alias or name
        elif isinstance(item, exp.Subquery) and KEPT in item.this.named_selects:
            yield item.alias

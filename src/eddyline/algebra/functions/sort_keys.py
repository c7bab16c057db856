"""Values as one BINARY that compares as they do, for aggregates that choose rows by an order.

SQL does not know these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.aggregate_arguments import NARROW_DIGITS
from eddyline.algebra.functions.coercion import kind, literal
from eddyline.errors import SqlError
from eddyline.types import sql_type

_SORTED: Final = (
    *("integer", "float", "decimal", "string", "binary", "date", "timestamp", "bool", "duration"),
)


@dataclass(frozen=True, slots=True)
class Ordering:
    """A value of ORDER BY."""

    value: Expr
    descending: bool = False
    nulls_first: bool = True

    def __str__(self) -> str:
        nulls = (
            ""
            if self.nulls_first != self.descending
            else (f" NULLS {'FIRST' if self.nulls_first else 'LAST'}")
        )
        return f"{self.value}{' DESC' if self.descending else ''}{nulls}"


def has_order(type_: pa.DataType) -> bool:
    """Whether values of a type have an order."""
    return kind(type_) in _SORTED


def sort_key(name: str, *orderings: Ordering) -> Expr:
    """The values as a BINARY. ``name`` is the aggregate, for errors.

    Raises:
        SqlError: values have no order.
    """
    for ordering in orderings:
        type_ = ordering.value.type
        if not has_order(type_):
            raise SqlError(f"{name} needs ordered values, not {sql_type(type_)}")
    letters = "".join(
        ("d" if o.descending else "a") if o.nulls_first else ("D" if o.descending else "A")
        for o in orderings
    )
    return Call(
        pa.binary(), "sort_key", (literal(letters, pa.string()), *(o.value for o in orderings))
    )


def last_value(key: Expr, orderings: Sequence[Ordering]) -> Expr:
    """The last value of a sort key, which is ascending."""
    return Call(orderings[-1].value.type, "last_of_sort_key", (key, _letters(orderings)))


def all_values(keys: Expr, orderings: Sequence[Ordering], *, empty: bool = False) -> Expr:
    """The last values of a list of sort keys. ``empty``: of NULL an empty list."""
    type_ = pa.list_(orderings[-1].value.type)
    arguments = (keys, _letters(orderings), literal(empty, pa.bool_()))
    return Call(type_, "values_of_sort_keys", arguments)


def _letters(orderings: Sequence[Ordering]) -> Literal:
    """How the values of a key are written, in capitals where the order is descending."""
    letters = (_letter(o.value.type) for o in orderings)
    pairs = zip(letters, orderings, strict=True)
    return literal("".join(x.upper() if o.descending else x for x, o in pairs), pa.string())


def where_known(values: Sequence[Expr], result: Expr) -> Expr:
    """The result, NULL where a value is NULL."""
    tests = [Call(pa.bool_(), "is_not_null", (v,)) for v in values]
    known = reduce(lambda a, b: Call(pa.bool_(), "and", (a, b)), tests)
    return Call(result.type, "case", (known, result, Literal(result.type, None)))


def _letter(type_: pa.DataType) -> str:
    """Of how its values are written: ``n`` in 8 bytes, ``w`` in 16, ``t`` as a text."""
    if pt.is_string(type_) or pt.is_binary(type_):
        return "t"
    return "w" if pt.is_decimal(type_) and type_.precision > NARROW_DIGITS else "n"

"""Values as one BINARY that compares as they do, for aggregates that choose rows by an order.

SQL does not know these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.aggregate_arguments import NARROW_DIGITS
from eddyline.algebra.functions.coercion import kind, literal
from eddyline.algebra.orderings import Ordering
from eddyline.errors import SqlError
from eddyline.types import sql_type

_SORTED: Final = (
    *("integer", "float", "decimal", "string", "binary", "date", "timestamp", "bool", "duration"),
)


def has_order(type_: pa.DataType) -> bool:
    """Whether values of a type have an order."""
    return kind(type_) in _SORTED


def sort_key(name: str, *orderings: Ordering) -> Expr:
    """The values as a BINARY; structures field by field. ``name`` is the aggregate, for errors.

    Raises:
        SqlError: values have no order.
    """
    parts = _parts(orderings)
    for part in parts:
        type_ = part.value.type
        if not has_order(type_):
            raise SqlError(f"{name} needs ordered values, not {sql_type(type_)}")
    letters = "".join(
        ("d" if o.descending else "a") if o.nulls_first else ("D" if o.descending else "A")
        for o in parts
    )
    return Call(pa.binary(), "sort_key", (literal(letters, pa.string()), *(o.value for o in parts)))


def _parts(orderings: Sequence[Ordering]) -> list[Ordering]:
    """Of each structure, whether it is there and its fields, NULL being less than any value."""
    found = []
    for ordering in orderings:
        if pt.is_struct(ordering.value.type):
            found += _parts(_fields(ordering))
        else:
            found.append(ordering)
    return found


def _fields(ordering: Ordering) -> list[Ordering]:
    value, descending = ordering.value, ordering.descending
    is_there = Call(pa.bool_(), "is_not_null", (value,))
    fields = (Call(f.type, "field", (value, literal(f.name, pa.string()))) for f in value.type)
    return [Ordering(e, descending, not descending) for e in (is_there, *fields)]


def last_value(key: Expr, orderings: Sequence[Ordering]) -> Expr:
    """The last value of a sort key, which is ascending."""
    *before, last = orderings
    if not pt.is_struct(last.value.type):
        return Call(last.value.type, "last_of_sort_key", (key, _letters(orderings)))
    fields = _fields(last)
    is_there, *values = (last_value(key, (*before, *fields[: i + 1])) for i in range(len(fields)))
    type_ = last.value.type
    whole = Call(type_, "named_struct", tuple(values))
    return Call(type_, "case", (is_there, whole, Literal(type_, None)))


def all_values(keys: Expr, orderings: Sequence[Ordering], *, empty: bool = False) -> Expr:
    """The last values of a list of sort keys, none of which is NULL if they are structures.
    ``empty``: of NULL an empty list.
    """
    *before, last = orderings
    type_ = pa.list_(last.value.type)
    if pt.is_struct(last.value.type):
        fields = _fields(last)
        lists = (
            all_values(keys, (*before, *fields[: i + 1]), empty=empty)
            for i in range(1, len(fields))
        )
        return Call(type_, "arrays_zip", tuple(lists))
    arguments = (keys, _letters(orderings), literal(empty, pa.bool_()))
    return Call(type_, "values_of_sort_keys", arguments)


def _letters(orderings: Sequence[Ordering]) -> Literal:
    """How the values of a key are written, in capitals where the order is descending."""
    parts = _parts(orderings)
    pairs = ((_letter(o.value.type), o) for o in parts)
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

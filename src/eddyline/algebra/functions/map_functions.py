"""Functions that make lists and maps of others, and sequences."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal
from eddyline.algebra.functions.coercion import implicit, kind, literal, unify
from eddyline.algebra.functions.registry import define
from eddyline.errors import SqlError

_FAMILY: Final = "Structures, lists and maps"
_DAY_US: Final = 86_400_000_000


@define(
    _FAMILY,
    "map",
    "map(key, value, ...)",
    "The map of keys, which differ and are not NULL, and values.",
)
def _map(args: tuple[Expr, ...]) -> Expr | None:
    if not args or len(args) % 2:
        return None
    keys, values = unify(args[::2]), unify(args[1::2])
    return Call(_map_type(keys[0].type, values[0].type), "map", (*keys, *values))


def _map_type(key: pa.DataType, value: pa.DataType) -> pa.DataType:
    if pt.is_nested(key) or pt.is_null(key):
        raise SqlError("the keys of a map are numbers, texts, times or truth values")
    if pt.is_null(value):
        raise SqlError("the type of the values is not known: CAST the NULL")
    return pa.map_(key, value)


@define(
    _FAMILY,
    "map_from_arrays",
    "map_from_arrays(keys, values)",
    "The map of two lists of the same length.",
)
def _map_from_arrays(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not all(pt.is_list(a.type) for a in args):
        return None
    key, value = (a.type.value_type for a in args)
    return Call(_map_type(key, value), "map_from_arrays", args)


@define(
    _FAMILY,
    "map_from_entries",
    "map_from_entries(list of structures)",
    "The map of a list of structures of two fields, a key and a value.",
)
def _map_from_entries(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not pt.is_list(args[0].type):
        return None
    entry = args[0].type.value_type
    if not pt.is_struct(entry) or entry.num_fields != 2:
        return None
    key, value = (f.type for f in entry)
    return Call(_map_type(key, value), "map_from_entries", args)


@define(
    _FAMILY,
    "map_entries",
    "map_entries(map)",
    "The list of the entries, structures of key and value.",
)
def _map_entries(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not pt.is_map(args[0].type):
        return None
    entry = pa.struct([("key", args[0].type.key_type), ("value", args[0].type.item_type)])
    return Call(pa.list_(entry), "map_entries", args)


@define(_FAMILY, "map_concat", "map_concat(map, ...)", "The entries of all maps; keys differ.")
def _map_concat(args: tuple[Expr, ...]) -> Expr | None:
    if not args or not all(pt.is_map(a.type) for a in args):
        return None
    maps = unify(args)
    return maps[0] if len(maps) == 1 else Call(maps[0].type, "map_concat", maps)


@define(
    _FAMILY,
    "str_to_map",
    ["str_to_map(text)", "str_to_map(text, ',')", "str_to_map(text, ',', ':')"],
    "The map of a text of keys and values, between which are matches of the last pattern; between "
    "pairs are those of the first, both constants. A key without a value has NULL.",
)
def _str_to_map(args: tuple[Expr, ...]) -> Expr | None:
    text = pa.string()
    if not 1 <= len(args) <= 3:
        return None
    found = [implicit(a, text) for a in args]
    found += [literal(given, text) for given in (",", ":")[len(args) - 1 :]]
    if None in found:
        return None
    for separator in found[1:]:
        if not isinstance(separator, Literal) or not separator.value:
            raise SqlError("the separators of str_to_map are constants that are not empty")
    return Call(pa.map_(text, text), "str_to_map", tuple(f for f in found if f is not None))


@define(
    _FAMILY,
    "arrays_zip",
    "arrays_zip(list, ...)",
    "The list of structures of the elements at the same places, with the names of the columns, or "
    "0, 1, ...; NULL stands for those of shorter lists.",
)
def _arrays_zip(args: tuple[Expr, ...]) -> Expr | None:
    if not args or not all(pt.is_list(a.type) for a in args):
        return None
    names = [_name(a, i) for i, a in enumerate(args)]
    if len({n.lower() for n in names}) < len(names):
        names = [str(i) for i in range(len(args))]
    fields = [(n, a.type.value_type) for n, a in zip(names, args, strict=True)]
    return Call(pa.list_(pa.struct(fields)), "arrays_zip", args)


def _name(expr: Expr, number: int) -> str:
    """The name of a column or a field; else a number."""
    if isinstance(expr, ColumnRef):
        return expr.name.rpartition(".")[2]
    if isinstance(expr, Call) and expr.function == "field":
        name = expr.args[1]
        assert isinstance(name, Literal), "the binder makes it"
        return str(name.value)
    return str(number)


@define(
    _FAMILY,
    "sequence",
    [
        "sequence(first, last)",
        "sequence(first, last, step)",
        "sequence(timestamp, timestamp, INTERVAL '1' HOUR)",
    ],
    "The list of the integers, dates or timestamps from the first up to the last, at most 10,000. "
    "The step is by default 1, or 1 day, or as much down.",
)
def _sequence(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (2, 3):
        return None
    if kind(args[0].type) == "integer":
        numbers = unify(args)
        is_integer = kind(numbers[0].type) == "integer"
        return Call(pa.list_(numbers[0].type), "sequence", numbers) if is_integer else None
    first, last = unify(args[:2])
    if kind(first.type) not in ("date", "timestamp"):
        return None
    if len(args) == 2:
        return Call(pa.list_(first.type), "sequence", (first, last))
    step = args[2]
    if kind(step.type) != "duration":
        return None
    if pt.is_date(first.type):
        if not isinstance(step, Literal) or step.value is None or _us(step) % _DAY_US:
            raise SqlError("the step of dates is an INTERVAL of whole days or months, a constant")
        step = literal(_us(step) // _DAY_US, pa.int64())
    return Call(pa.list_(first.type), "sequence", (first, last, step))


def _us(step: Literal) -> int:
    return int(pa.scalar(step.value, step.type).cast(pa.int64()).as_py())


def sequence_of_months(first: Expr, last: Expr, months: int) -> Expr:
    """``sequence(first, last, INTERVAL '1' MONTH)``.

    Raises:
        SqlError: the bounds are no dates or timestamps.
    """
    bounds = unify((first, last))
    if kind(bounds[0].type) not in ("date", "timestamp"):
        raise SqlError("sequence with an INTERVAL takes dates or timestamps")
    steps = (*bounds, literal(months, pa.int64()))
    return Call(pa.list_(bounds[0].type), "sequence_of_months", steps)

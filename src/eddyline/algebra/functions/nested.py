"""Parts of structures, lists and maps, and functions of lists and maps."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.coercion import cast, implicit, kind, literal, unify, with_element
from eddyline.algebra.functions.registry import define
from eddyline.errors import SqlError, did_you_mean
from eddyline.types import is_list, sql_type

_FAMILY = "Structures, lists and maps"
_BIGINT = pa.int64()


def field(value: Expr, name: str) -> Expr:
    """The field of a structure, or of each structure of a list.

    Raises:
        SqlError: there is no such field.
    """
    structure = value.type.value_type if pt.is_list(value.type) else value.type
    if not pt.is_struct(structure):
        hint = ": write m['key']" if pt.is_map(structure) else ""
        raise SqlError(f"{value} is {sql_type(value.type)}, which has no fields{hint}")
    found = next((f for f in structure if f.name.lower() == name.lower()), None)
    if found is None:
        names = [f.name for f in structure]
        raise SqlError(f"{value} has no field '{name}'; {did_you_mean(name, names)}")
    type_ = pa.list_(found.type) if pt.is_list(value.type) else found.type
    return Call(type_, "field", (value, literal(found.name, pa.string())))


@define(
    _FAMILY,
    "field",
    "structure.name",
    "A field of a structure; of a list of structures, the list of this field.",
)
def _field(args: tuple[Expr, ...]) -> Expr | None:
    return None  # the name is not an argument: the binder calls field


@define(
    _FAMILY,
    "element",
    ["list[position]", "map[key]"],
    "An element of a list, counted from 0, which must have it; or the value of a key, NULL if "
    "there is none.",
)
def _element(args: tuple[Expr, ...]) -> Expr | None:
    return _part("element", args)


@define(
    _FAMILY,
    "element_at",
    ["element_at(list, position)", "element_at(map, key)"],
    "The same, but counted from 1, or from the end with a negative position.",
)
def _element_at(args: tuple[Expr, ...]) -> Expr | None:
    return _part("element_at", args)


@define(
    _FAMILY,
    "try_element_at",
    ["try_element_at(list, position)", "try_element_at(map, key)"],
    "The same; NULL if a list has no such element, but 0 is no position.",
)
def _try_element_at(args: tuple[Expr, ...]) -> Expr | None:
    return _part("try_element_at", args)


@define(
    _FAMILY,
    "get",
    "get(list, position)",
    "An element of a list, counted from 0; NULL if there is none.",
)
def _get(args: tuple[Expr, ...]) -> Expr | None:
    return _part("get", args) if args and pt.is_list(args[0].type) else None


def _part(function: str, args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    whole, place = args
    if pt.is_map(whole.type):
        key = implicit(place, whole.type.key_type)
        return key and Call(whole.type.item_type, "value_of_key", (whole, key))
    if not pt.is_list(whole.type) or kind(place.type) != "integer":
        return None
    position = implicit(place, _BIGINT)
    return position and Call(whole.type.value_type, function, (whole, position))


@define(_FAMILY, "size cardinality array_size", "size(list or map)", "The number of elements.")
def _size(args: tuple[Expr, ...]) -> Expr | None:
    return Call(pa.int32(), "size", args) if len(args) == 1 and is_list(args[0].type) else None


@define(
    _FAMILY,
    "array_contains",
    "array_contains(list, value)",
    "Whether an element is equal; NULL if none is and one is NULL.",
)
def _array_contains(args: tuple[Expr, ...]) -> Expr | None:
    found = with_element(args)
    if found is None or pt.is_nested(found[1].type):
        return None
    return Call(pa.bool_(), "array_contains", found)


@define(_FAMILY, "map_contains_key", "map_contains_key(map, key)", "Whether the map has the key.")
def _map_contains_key(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not pt.is_map(args[0].type):
        return None
    keys = Call(pa.list_(args[0].type.key_type), "map_keys", (args[0],))
    return _array_contains((keys, args[1]))


@define(
    _FAMILY,
    "array_join array_to_string",
    ["array_join(list, separator)", "array_join(list, separator, null)"],
    "The texts of a list with a constant between them; without those that are NULL, or with "
    "another text in their place.",
)
def _array_join(args: tuple[Expr, ...]) -> Expr | None:
    text = pa.string()
    if len(args) not in (2, 3) or not pt.is_list(args[0].type):
        return None
    texts = cast(args[0], pa.list_(text))
    others = [implicit(a, text) for a in args[1:]]
    if None in others:
        return None
    return Call(text, "array_join", (texts, *(o for o in others if o is not None)))


@define(_FAMILY, "map_keys", "map_keys(map)", "The list of the keys.")
def _map_keys(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not pt.is_map(args[0].type):
        return None
    return Call(pa.list_(args[0].type.key_type), "map_keys", args)


@define(_FAMILY, "map_values", "map_values(map)", "The list of the values.")
def _map_values(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not pt.is_map(args[0].type):
        return None
    return Call(pa.list_(args[0].type.item_type), "map_values", args)


@define(_FAMILY, "array", "array(value, ...)", "The list of the values.")
def _array(args: tuple[Expr, ...]) -> Expr | None:
    if not args:
        return None
    values = unify(args)
    return None if pt.is_null(values[0].type) else Call(pa.list_(values[0].type), "array", values)


@define(
    _FAMILY,
    "named_struct",
    "named_struct(name, value, ...)",
    "The structure of the values; names are constants.",
)
def _named_struct(args: tuple[Expr, ...]) -> Expr | None:
    names = [getattr(a, "value", None) for a in args[::2]]
    values = args[1::2]
    if not args or len(args) % 2 or not all(isinstance(n, str) for n in names):
        return None
    if any(pt.is_null(v.type) for v in values):
        raise SqlError("the type of a field is not known: CAST its NULL")
    if len({str(n).lower() for n in names}) < len(names):
        raise SqlError("the fields of a structure need different names")
    fields = [(n, v.type) for n, v in zip(names, values, strict=True)]
    return Call(pa.struct(fields), "named_struct", values)

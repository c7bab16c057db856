"""Values in texts that are JSON."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.catalog import JsonPath
from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, literal
from eddyline.algebra.functions.registry import define, define_plain
from eddyline.algebra.json_paths import parse_path
from eddyline.errors import SqlError
from eddyline.types import sql_type

_FAMILY = "JSON in texts"
_STRING = pa.string()


def path_of(call: Call) -> JsonPath:
    """The path of a call of a function of this family."""
    steps = call.args[1]
    assert isinstance(steps, Literal), "the rules make it"
    return tuple(json.loads(steps.value))


def _call(function: str, text: Expr, path: JsonPath) -> Call:
    return Call(_STRING, function, (text, literal(json.dumps(path), _STRING)))


def _at_path(function: str, args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not pt.is_string(args[0].type):
        return None
    path = args[1]
    if not isinstance(path, Literal) or not isinstance(path.value, str):
        return None
    return _call(function, args[0], _parsed(path.value))


def _parsed(text: str) -> JsonPath:
    try:
        return parse_path(text)
    except ValueError as e:
        raise SqlError(str(e)) from None


def _arrow(function: str, args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not pt.is_string(args[0].type) or not isinstance(args[1], Literal):
        return None
    text, key = args[0], args[1].value
    if isinstance(key, bool) or not isinstance(key, (str, int)):
        return None
    path: JsonPath = (key,)
    if isinstance(key, str) and key[:2] in ("$.", "$["):
        path = _parsed(key)
    if isinstance(text, Call) and text.function == "->":  # text -> 'a' ->> 'b'
        return _call(function, text.args[0], (*path_of(text), *path))
    return _call(function, text, path)


@define(
    _FAMILY,
    "->>",
    ["text ->> 'name'", "text ->> position", "text ->> '$.path'"],
    "The value of a field, or of an element from 0, as text; NULL if there is none, if it is null, "
    "or if the text is no JSON.",
)
def _text(args: tuple[Expr, ...]) -> Expr | None:
    return _arrow("->>", args)


@define(
    _FAMILY,
    "->",
    ["text -> 'name'", "text -> position", "text -> '$.path'"],
    "The same as JSON: strings have quotes, null is null.",
)
def _json(args: tuple[Expr, ...]) -> Expr | None:
    return _arrow("->", args)


@define(
    _FAMILY,
    "json_value",
    [
        "json_value(text, '$.path')",
        "json_value(text, '$.path' RETURNING type)",
        "json_value(text, '$.path' RETURNING type DEFAULT value ON EMPTY)",
    ],
    "The string, number or boolean at a path, as text or another type; NULL if there is none or it "
    "is no value of the type. DEFAULT ON EMPTY is the value where there is none.",
)
def _json_value(args: tuple[Expr, ...]) -> Expr | None:
    return _at_path("json_value", args)


@define(
    _FAMILY,
    "get_json_object",
    "get_json_object(text, '$.path')",
    "The value at a path as text, objects and arrays as they are written; NULL if there is none, "
    "or if it is null.",
)
def _get_json_object(args: tuple[Expr, ...]) -> Expr | None:
    return _at_path("->>", args)


@define(
    _FAMILY,
    "json_query",
    "json_query(text, '$.path')",
    "The object or array at a path, as JSON; NULL if there is none.",
)
def _json_query(args: tuple[Expr, ...]) -> Expr | None:
    return _at_path("json_query", args)


@define(
    _FAMILY,
    "from_json",
    ["from_json(text, 'a INT, b STRING')", "from_json(text, 'ARRAY<INT>')"],
    "The structure, list or map that the JSON says, of a type that is a constant; parts that are "
    "missing, or of another type, are NULL.",
)
def _from_json(args: tuple[Expr, ...]) -> Expr | None:
    raise SqlError("the type of from_json is a constant text, as 'a INT, b ARRAY<STRING>'")


def from_json(text: Expr, type_: pa.DataType) -> Expr:
    """The value of a text that is JSON, of a nested type."""
    if not (pt.is_string(text.type) or pt.is_null(text.type)):
        raise SqlError(f"from_json reads texts, not {sql_type(text.type)}")
    if _has_no_json(type_):
        raise SqlError(f"from_json makes no BINARY and no INTERVAL: {sql_type(type_)}")
    if _has_other_keys(type_):
        raise SqlError("names of fields in JSON are texts: MAP<STRING, ...>")
    return Call(type_, "from_json", (cast(text, _STRING), literal(sql_type(type_), _STRING)))


def _has_other_keys(type_: pa.DataType) -> bool:
    if pt.is_map(type_) and not pt.is_string(type_.key_type):
        return True
    parts = (type_.field(i).type for i in range(type_.num_fields)) if pt.is_nested(type_) else ()
    return any(map(_has_other_keys, parts))


define_plain(
    _FAMILY,
    "json_array_length(text)",
    (_STRING,),
    pa.int32(),
    "The number of elements of an array; NULL of other texts.",
)
define_plain(
    _FAMILY,
    "json_object_keys(text)",
    (_STRING,),
    pa.list_(_STRING),
    "The list of the names of an object's fields; NULL of other texts.",
)


@define(
    _FAMILY,
    "to_json",
    "to_json(structure, list or map)",
    "The value as JSON, as `to_json(struct(*))`; fields that are NULL are left out.",
)
def _to_json(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not pt.is_nested(args[0].type):
        return None
    if _has_no_json(args[0].type):
        raise SqlError(f"to_json takes no BINARY and no INTERVAL: {sql_type(args[0].type)}")
    return Call(_STRING, "to_json", args)


def _has_no_json(type_: pa.DataType) -> bool:
    if pt.is_nested(type_):
        return any(_has_no_json(type_.field(i).type) for i in range(type_.num_fields))
    return bool(pt.is_binary(type_) or pt.is_duration(type_))

"""Schemas of Avro: whether they have what columns read, and the schema of the rows of a query."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from eddyline.algebra.catalog import JsonPath
from eddyline.errors import DataError, did_you_mean
from eddyline.types import sql_type

#: Unions that Spark reads as their second type.
_WIDER: Final = (("int", "long"), ("float", "double"))
_PRIMITIVES: Final = frozenset(
    ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Of Arrow's types, those without parameters.
_OF_ARROW: Final[Mapping[pa.DataType, Any]] = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
    pa.timestamp("us", "UTC"): {"type": "long", "logicalType": "timestamp-micros"},
    pa.timestamp("us"): {"type": "long", "logicalType": "local-timestamp-micros"},
}


class AvroSchema:
    """The schema of records, from its JSON.

    Raises:
        DataError: it is no JSON, or not the schema of a record.
    """

    def __init__(self, text: str) -> None:
        try:
            self._root = json.loads(text)
        except (ValueError, RecursionError) as e:
            raise DataError(f"the schema is no JSON: {e}") from None
        self._named: dict[str, Any] = {}
        try:
            self._find_named(self._root, "")
        except (KeyError, TypeError, AttributeError, RecursionError):
            raise DataError("the schema is not one of Avro") from None
        if not isinstance(self._root, dict) or self._root.get("type") != "record":
            raise DataError("the schema is not that of a record: its type is 'record'")
        self.text = text

    @property
    def fields(self) -> list[str]:
        """The names of the fields of a record."""
        return [field["name"] for field in self._root["fields"]]

    def check(self, path: JsonPath) -> None:
        """Check that a value is there to read.

        Raises:
            DataError: it is not.
        """
        type_, shown = self._root, "a record"
        for step in path:
            type_ = self._below(type_, step, shown)
            shown = f"'{step}'" if isinstance(step, str) else f"element {step}"

    def with_mark(self) -> tuple[str, str]:
        """A schema to read with that has one more field, which is true in each record that is read;
        and the name of this field.
        """
        mark = "eddyline_read"
        while mark.lower() in (name.lower() for name in self.fields):
            mark += "_"
        field = {"name": mark, "type": "boolean", "default": True}
        return json.dumps({**self._root, "fields": [*self._root["fields"], field]}), mark

    def _find_named(self, type_: Any, space: str) -> None:
        """Note the definitions of named types, with and without their namespace."""
        if isinstance(type_, list):
            for branch in type_:
                self._find_named(branch, space)
        elif isinstance(type_, dict):
            kind = type_["type"]
            if kind in ("record", "enum", "fixed"):
                space, _, name = _full_name(type_, space).rpartition(".")
                self._named[name] = self._named[f"{space}.{name}"] = type_
            for field in type_["fields"] if kind == "record" else ():
                if not isinstance(field["name"], str):
                    raise TypeError(field)
                self._find_named(field["type"], space)
            for key in ("items", "values"):
                self._find_named(type_.get(key), space)
            if not isinstance(kind, str):
                self._find_named(kind, space)

    def _below(self, type_: Any, step: str | int, shown: str) -> Any:
        type_ = self._plain(type_)
        kind = type_["type"] if isinstance(type_, dict) else type_
        if isinstance(type_, list):
            members = {f"member{n}": member for n, member in enumerate(type_)}
            return _chosen(members, step, f"{shown} is a union")
        if kind == "record" and isinstance(step, str):
            fields = {field["name"]: field["type"] for field in type_["fields"]}
            return _chosen(fields, step, shown)
        if kind == "map" and isinstance(step, str):
            return type_["values"]
        if kind == "array" and isinstance(step, int):
            return type_["items"]
        part = f"field '{step}'" if isinstance(step, str) else f"element {step}"
        raise DataError(f"{shown} is of the type {kind}, which has no {part}")

    def _plain(self, type_: Any) -> Any:
        """A type as Spark reads it: names as what they name, and of a union what is not null."""
        while True:
            if isinstance(type_, str) and type_ not in _PRIMITIVES:
                if type_ not in self._named and type_.rpartition(".")[2] not in self._named:
                    raise DataError(f"the schema has no type '{type_}'")
                type_ = self._named.get(type_) or self._named[type_.rpartition(".")[2]]
            elif isinstance(type_, dict) and not isinstance(type_["type"], str):
                type_ = type_["type"]
            elif isinstance(type_, list):
                rest = [branch for branch in type_ if branch != "null"]
                if len(rest) != 1:
                    names = [branch for branch in rest if isinstance(branch, str)]
                    same = len(names) == len(rest)
                    wide = (w for w in _WIDER if same and {*names} == {*w})
                    return next((w[1] for w in wide), rest)
                type_ = rest[0]
            else:
                return type_


def _full_name(type_: Mapping[str, Any], space: str) -> str:
    name = str(type_["name"])
    return name if "." in name else f"{type_.get('namespace', space)}.{name}"


def _chosen(fields: Mapping[str, Any], step: str | int, shown: str) -> Any:
    if not isinstance(step, str):
        raise DataError(f"{shown} has fields, and no element {step}; valid: {', '.join(fields)}")
    if step not in fields:
        raise DataError(f"{shown} has no field '{step}'; {did_you_mean(step, fields)}")
    return fields[step]


def schema_of_rows(rows: pa.Schema) -> str:
    """The schema of rows as records: each field is null or a value.

    Raises:
        DataError: a name, or a type, is none of Avro.
    """
    fields = [_field(f, f.name) for f in rows]
    record = {"type": "record", "name": "row", "namespace": "eddyline", "fields": fields}
    return json.dumps(record)


def _field(field: pa.Field, place: str) -> dict[str, Any]:
    if not _NAME.fullmatch(field.name):
        raise DataError(
            f"no field of Avro can have the name '{field.name}': use AS; names have letters, "
            "digits and _, and begin without a digit"
        )
    return {"name": field.name, "type": ["null", _type(field.type, place)], "default": None}


def _type(type_: pa.DataType, place: str) -> Any:
    """A type of Avro.

    Args:
        place: names of fields down to the value: no two records have the same name.
    """
    if type_ in _OF_ARROW:
        return _OF_ARROW[type_]
    if pa.types.is_decimal(type_):
        digits = {"precision": type_.precision, "scale": type_.scale}
        return {"type": "bytes", "logicalType": "decimal", **digits}
    if pa.types.is_list(type_):
        return {"type": "array", "items": ["null", _type(type_.value_type, f"{place}.item")]}
    if pa.types.is_struct(type_):
        fields = [_field(f, f"{place}.{f.name}") for f in type_]
        space, _, name = f"eddyline.{place}".rpartition(".")
        return {"type": "record", "name": name, "namespace": f"{space}_of", "fields": fields}
    if pa.types.is_map(type_) and type_.key_type == pa.string():
        return {"type": "map", "values": ["null", _type(type_.item_type, f"{place}.value")]}
    raise DataError(f"Avro has no type for {sql_type(type_)}, the type of '{place}'")

"""Types written in SQL (sqlglot's nodes) as Arrow types."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from eddyline.errors import did_you_mean
from eddyline.sql.numbers import shortened, whole_number
from eddyline.types import SQL_TYPES, TIMESTAMP, sql_type

_ARROW: Final[dict[exp.DType, pa.DataType]] = {
    exp.DType.BOOLEAN: pa.bool_(),
    exp.DType.TINYINT: pa.int8(),
    exp.DType.SMALLINT: pa.int16(),
    exp.DType.INT: pa.int32(),
    exp.DType.BIGINT: pa.int64(),
    exp.DType.FLOAT: pa.float32(),
    exp.DType.DOUBLE: pa.float64(),
    exp.DType.TEXT: pa.string(),
    exp.DType.VARCHAR: pa.string(),
    exp.DType.CHAR: pa.string(),
    exp.DType.JSON: pa.string(),
    exp.DType.JSONB: pa.string(),
    exp.DType.BINARY: pa.binary(),
    exp.DType.DATE: pa.date32(),
    exp.DType.TIMESTAMPTZ: TIMESTAMP,
}

#: Spark's DECIMAL without arguments.
_DECIMAL_DEFAULT: Final = (10, 0)


def arrow_type(node: exp.DataType) -> pa.DataType:
    """The Arrow type of a SQL type.

    Raises:
        ValueError: columns cannot have this type; the message lists those they can have.
    """
    if node.is_type(exp.DType.DECIMAL):
        return _decimal(node)
    if node.args.get("nested"):
        return _nested(node)
    found = _ARROW.get(node.this)
    if found is None:
        name = node.sql("spark")
        name = node.this.value if name in SQL_TYPES else name  # Spark has none of this name
        raise ValueError(f"unknown type {name}; {did_you_mean(name, type_names())}")
    return found


def type_named(name: str) -> pa.DataType:
    """The Arrow type of a SQL type's name, as in ``DECIMAL(10, 2)``.

    Raises:
        ValueError: as :func:`arrow_type`.
    """
    try:
        node = exp.DataType.build(name, dialect="spark")
    except SqlglotError:
        raise ValueError(
            f"unknown type {name!r}; {did_you_mean(name.upper(), type_names())}"
        ) from None
    return arrow_type(node)


def type_names() -> list[str]:
    """The SQL names of the column types."""
    return [*SQL_TYPES, "DECIMAL", "ARRAY", "MAP", "STRUCT"]


def _nested(node: exp.DataType) -> pa.DataType:
    parts = node.expressions
    if node.is_type(exp.DType.STRUCT):
        named = {p.name: p for p in parts if isinstance(p, exp.ColumnDef)}
        if parts and len({n.lower() for n in named}) == len(parts):
            return pa.struct([(n, arrow_type(p.args["kind"])) for n, p in named.items()])
        raise ValueError("STRUCT takes fields of different names, as in STRUCT<a: INT, b: STRING>")
    if node.is_type(exp.DType.ARRAY) and len(parts) == 1:
        return pa.list_(arrow_type(parts[0]))
    if node.is_type(exp.DType.MAP) and len(parts) == 2:
        key, value = map(arrow_type, parts)
        if not pa.types.is_nested(key):
            return pa.map_(key, value)
        raise ValueError(f"the keys of a MAP cannot be of type {sql_type(key)}")
    valid = "ARRAY<INT>, MAP<STRING, INT> or STRUCT<a: INT, b: STRING>"
    raise ValueError(f"unknown type {node.sql('spark')}; nested types are written as {valid}")


def _decimal(node: exp.DataType) -> pa.DataType:
    given = [p.name for p in node.expressions]
    if len(given) > 2 or any(
        p.args.get("expression") or not p.name.isdigit() for p in node.expressions
    ):
        raise ValueError("DECIMAL takes a precision and a scale, as in DECIMAL(10, 2)")
    numbers = [whole_number(digits, 39) for digits in given]
    numbers += _DECIMAL_DEFAULT[len(given) :]
    precision, scale = numbers
    if not precision or scale is None or scale > precision:
        shown = ",".join(map(shortened, given))
        raise ValueError(
            f"DECIMAL({shown}) is out of range: precision is 1 to 38, scale 0 to the precision"
        )
    return pa.decimal128(precision, scale)

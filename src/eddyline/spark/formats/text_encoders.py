"""Encoders of CSV and JSON files, column by column. Spark reads from them what it reads from files
of its own writers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.types import TIMESTAMP

#: Characters that JSON escapes in a string, and their form; backslash first.
_JSON_ESCAPES: Final = {
    "\\": "\\\\",
    '"': '\\"',
    **{chr(i): f"\\u{i:04x}" for i in range(32)},
}
_NEEDS_JSON_ESCAPE: Final = r'[\x00-\x1f"\\]'
#: Spark removes these at both ends of a string of CSV.
_CSV_SPACE: Final = "".join(map(chr, range(33)))
#: Separators of CSV that no number, date or truth value contains.
_CSV_SEPARATORS: Final = (",", ";", "|")
#: The texts of numbers that are not finite, in Arrow and in Spark.
_NOT_FINITE: Final = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
#: The first instant and day of year 10,000: from there on Spark writes a plus sign.
_LONG_YEAR_US: Final = 253_402_300_800_000_000
_LONG_YEAR_DAY: Final = 2_932_897

_TextEncoder = Callable[[pa.Table], bytes]


def csv_encoder(options: Mapping[str, str], schema: pa.Schema) -> _TextEncoder | None:
    """The encoder of CSV files; None if only Spark's writer knows an option or type.

    Args:
        options: by name in lower case; known: ``header``, and ``sep``, one of ``, ; |``.
    """
    sep = options.get("sep", ",")
    header = options.get("header", "false").lower()
    if (
        not options.keys() <= {"sep", "header"}
        or sep not in _CSV_SEPARATORS
        or header not in ("true", "false")
        or len(schema) < 2  # Spark leaves out lines that are empty
        or not all(_is_flat(field.type) for field in schema)
    ):
        return None

    def encode(table: pa.Table) -> bytes:
        columns = [_csv_column(c.combine_chunks(), sep) for c in table.columns]
        names = _csv_strings(pa.array(table.column_names), sep).to_pylist()
        top = f"{sep.join(names)}\n" if header == "true" else ""
        return _joined(top, pc.binary_join_element_wise(*columns, sep))

    return encode


def json_encoder(options: Mapping[str, str], schema: pa.Schema) -> _TextEncoder | None:
    """The encoder of files of JSON lines; None if only Spark's writer knows an option or type.
    Fields that are null are left out, as by Spark.

    Args:
        options: none is known.
    """
    if options or not all(_is_flat(field.type) for field in schema):
        return None

    def encode(table: pa.Table) -> bytes:
        fields = [_json_fields(n, table[n].combine_chunks()) for n in table.column_names]
        inner = pc.utf8_ltrim(pc.binary_join_element_wise(*fields, ""), ",")
        return _joined("", pc.binary_join_element_wise("{", inner, "}", ""))

    return encode


def _is_flat(type_: pa.DataType) -> bool:
    return (
        pa.types.is_boolean(type_)
        or pa.types.is_signed_integer(type_)
        or pa.types.is_decimal128(type_)
        or type_ in (pa.float32(), pa.float64(), pa.string(), pa.date32(), TIMESTAMP)
    )


def _csv_column(values: pa.Array, sep: str) -> pa.Array:
    """The texts of a column; the empty text for null."""
    strings = pa.types.is_string(values.type)
    return pc.fill_null(_csv_strings(values, sep) if strings else _text(values), "")


def _csv_strings(values: pa.Array, sep: str) -> pa.Array:
    """Strings, quoted where Spark's reader needs it."""
    trimmed = pc.utf8_trim(values, _CSV_SPACE)
    needs_quotes = pc.match_substring_regex(trimmed, rf'^$|["\r\n{sep}]')
    if not pc.any(needs_quotes).as_py():
        return trimmed
    escaped = pc.replace_substring_regex(trimmed, r'(["\\])', r"\\\1")
    return pc.if_else(needs_quotes, pc.binary_join_element_wise('"', escaped, '"', ""), trimmed)


def _json_fields(name: str, values: pa.Array) -> pa.Array:
    """A comma, the name and the value, for each row; the empty text for null."""
    prefix = f",{json.dumps(name, ensure_ascii=False)}:"
    if pa.types.is_string(values.type):
        text = _json_escaped(values)
        quoted = True
    else:
        text = _text(values)
        quoted = values.type in (TIMESTAMP, pa.date32())
        if pa.types.is_floating(values.type):
            finite = pc.is_finite(values)
            names = pc.binary_join_element_wise('"', text, '"', "")
            text = pc.if_else(finite, text, names)
    parts = (f'{prefix}"', text, '"') if quoted else (prefix, text)
    return pc.fill_null(pc.binary_join_element_wise(*parts, ""), "")


def _json_escaped(values: pa.Array) -> pa.Array:
    if pc.any(pc.match_substring_regex(values, _NEEDS_JSON_ESCAPE)).as_py():
        for character, escaped in _JSON_ESCAPES.items():
            values = pc.replace_substring(values, character, escaped)
    return values


def _text(values: pa.Array) -> pa.Array:
    """The texts of values that are not strings; null stays null."""
    if pa.types.is_floating(values.type):
        return _text_of_floats(values)
    if values.type == TIMESTAMP:
        ms = pc.floor_temporal(values, unit="millisecond").cast(pa.timestamp("ms"))
        text = pc.strftime(ms, format="%Y-%m-%dT%H:%M:%SZ")
        return _with_sign_of_year(values.cast(pa.int64()), _LONG_YEAR_US, text)
    if values.type == pa.date32():
        text = values.cast(pa.string())
        return _with_sign_of_year(values.cast(pa.int32()), _LONG_YEAR_DAY, text)
    return values.cast(pa.string())


def _text_of_floats(values: pa.Array) -> pa.Array:
    """A whole number is written with ``.0``: readers that infer types see that it is a float."""
    text = values.cast(pa.string())
    whole = pc.invert(pc.match_substring_regex(text, "[^0-9-]"))
    text = pc.if_else(whole, pc.binary_join_element_wise(text, ".0", ""), text)
    if pc.all(pc.is_finite(values)).as_py() is False:
        for ours, name in _NOT_FINITE.items():
            text = pc.if_else(pc.equal(text, ours), name, text)
    return text


def _with_sign_of_year(numbers: pa.Array, first: int, text: pa.Array) -> pa.Array:
    """A plus sign before years of more than four digits."""
    long = pc.greater_equal(numbers, first)
    if not pc.any(long).as_py():
        return text
    return pc.if_else(long, pc.binary_join_element_wise("+", text, ""), text)


def _joined(top: str, rows: pa.Array) -> bytes:
    """The texts as lines: the data buffer of an Arrow array has them one after the other."""
    lines = pc.binary_join_element_wise(rows, "\n", "")
    _, offsets, data = lines.buffers()
    ends = memoryview(offsets).cast("i")
    begin, end = ends[lines.offset], ends[lines.offset + len(lines)]
    return top.encode() + bytes(data[begin:end])

"""Tables as text: readable batches in tests, and change tables printed as text.

>>> print(pretty(batch('''
...     ts | x:int | s:str
...     1s | 3     | abc
...     2s | .     | ''
... ''')))
ts | x:int | s:str
1s | 3     | abc
2s | .     | ''
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from eddyline.types import TIMESTAMP

_UNIT_US: Final = {
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
_TIME: Final = re.compile(r"(-?)((?:\d+(?:ms|us|[dhms]))+)")
_PART: Final = re.compile(r"(\d+)(ms|us|[dhms])")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_US: Final = 365 * _UNIT_US["d"]
_FIRST_US: Final = -62_135_596_800_000_000  # the year 1
_LAST_US: Final = 253_402_300_799_999_999  # the end of 9999

#: Column types by short name; a type is printed by its first name.
_TYPES: Final[dict[str, pa.DataType]] = {
    "time": TIMESTAMP,
    "int": pa.int64(),
    "int32": pa.int32(),
    "int16": pa.int16(),
    "int8": pa.int8(),
    "double": pa.float64(),
    "float": pa.float32(),
    "str": pa.string(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "binary": pa.binary(),
    "bigint": pa.int64(),
    "string": pa.string(),
}
#: Types of columns by their names, if the header gives none.
_BY_NAME: Final[dict[str, pa.DataType]] = {
    "ts": TIMESTAMP,
    "_ts": TIMESTAMP,
    "_exp": TIMESTAMP,
    "_op": pa.string(),
}


def parse_time(text: str) -> int:
    """Microseconds since the epoch of ``1s``, ``250ms``, ``1m30s``, ``-2s``, ``0`` or ISO 8601.

    >>> parse_time("1m30s")
    90000000
    """
    match = _TIME.fullmatch(text)
    if match:
        total = sum(int(n) * _UNIT_US[unit] for n, unit in _PART.findall(match[2]))
        return -total if match[1] else total
    if text == "0":
        return 0
    try:
        return to_us(datetime.fromisoformat(text))
    except ValueError:
        raise ValueError(f"not a time: {text!r} (write 1s, 250ms, 1m30s or ISO 8601)") from None


def format_time(us: int) -> str:
    """The inverse of :func:`parse_time`; ISO 8601 beyond a year from the epoch, plain us beyond the
    range of the calendar.

    >>> format_time(90_000_000), format_time(0), format_time(1_000_001)
    ('1m30s', '0s', '1s1us')
    """
    if not _FIRST_US <= us <= _LAST_US:
        return f"{us}us"
    if abs(us) >= _YEAR_US:
        return (_EPOCH + timedelta(microseconds=us)).isoformat()
    parts, rest = [], abs(us)
    for unit, size in _UNIT_US.items():
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return ("-" if us < 0 else "") + ("".join(parts) or "0s")


def to_us(moment: datetime) -> int:
    """Microseconds since the epoch; a datetime without a zone counts as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def batch(text: str) -> pa.Table:
    """The table of a text: a header line, then one line per row, cells separated by ``|``.

    A header cell is ``name:type`` with type ``time int int32 double str bool date ...``. Without
    a type, ``ts``, ``_ts`` and ``_exp`` are times, and other columns are int, double or str,
    whichever fits all cells. ``.`` or ``null`` is NULL, ``''`` the empty string; other strings
    are quoted only when they need it.

    Raises:
        ValueError: a line has another number of cells than the header, or a cell does not fit.
    """
    lines = [line.strip() for line in text.strip().splitlines()]
    lines = [line for line in lines if line and not set(line) <= set("-+| ")]
    header, *rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} cells under {len(header)} headings: {' | '.join(row)}")
    names, columns = [], []
    for i, heading in enumerate(header):
        cells = [row[i] for row in rows]
        name, _, type_name = (part.strip() for part in heading.partition(":"))
        type_ = _named_type(type_name) if type_name else _BY_NAME.get(name) or _infer(cells)
        names.append(name)
        columns.append(_column(cells, type_))
    return pa.table(columns, names=names)


def pretty(table: pa.Table) -> str:
    """The table as text for :func:`batch`; ``_op`` of a change table is the first column."""
    order = sorted(range(table.num_columns), key=lambda i: table.column_names[i] != "_op")
    columns = []
    for i in order:
        field, values = table.schema.field(i), table.column(i)
        columns.append([_heading(field), *_cells(values)])
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = zip(*columns, strict=True)
    return "\n".join(
        " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _named_type(name: str) -> pa.DataType:
    if name not in _TYPES:
        raise ValueError(f"no column type {name!r}; valid: {', '.join(_TYPES)}")
    return _TYPES[name]


def _infer(cells: Sequence[str]) -> pa.DataType:
    known = [c for c in cells if not _is_null(c)]
    for type_, pattern in ((pa.int64(), r"-?\d+"), (pa.float64(), r"-?(\d+(\.\d*)?|nan|inf)")):
        if known and all(re.fullmatch(pattern, c) for c in known):
            return type_
    return pa.string()


def _column(cells: Iterable[str], type_: pa.DataType) -> pa.Array:
    parse = _parser(type_)
    return pa.array([None if _is_null(c) else parse(c) for c in cells], type_)


def _is_null(cell: str) -> bool:
    return cell in (".", "null", "NULL")


def _parser(type_: pa.DataType) -> Callable[[str], Any]:
    if pa.types.is_timestamp(type_):
        return parse_time
    if pa.types.is_boolean(type_):
        return lambda cell: {"true": True, "false": False}[cell]
    if pa.types.is_integer(type_):
        return int
    if pa.types.is_floating(type_):
        return float
    if pa.types.is_date(type_):
        return date.fromisoformat
    if pa.types.is_binary(type_):
        return lambda cell: _unquote(cell).encode()
    return _unquote


def _unquote(cell: str) -> str:
    return cell[1:-1] if len(cell) >= 2 and cell[0] == cell[-1] == "'" else cell


def _heading(field: pa.Field) -> str:
    if _BY_NAME.get(field.name) == field.type:
        return str(field.name)
    short = next((name for name, type_ in _TYPES.items() if type_ == field.type), str(field.type))
    return f"{field.name}:{short}"


def _cells(values: pa.ChunkedArray) -> list[str]:
    if pa.types.is_timestamp(values.type):
        us = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64()).to_pylist()
        return ["." if v is None else format_time(v) for v in us]
    return [_cell(v) for v in values.to_pylist()]


def _cell(value: Any) -> str:
    if value is None:
        return "."
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        value = value.decode(errors="backslashreplace")
    if isinstance(value, str):
        plain = value and value == value.strip() and "|" not in value and not _is_null(value)
        return value if plain else f"'{value}'"
    return str(value)

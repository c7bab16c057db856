"""Columns of a sample: their declared types, and which of them is the event time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.catalog import TimeUnit
from eddyline.algebra.functions.conversion import convert, failed
from eddyline.engine.ingest.arrow_values import flat
from eddyline.engine.ingest.event_times import event_times
from eddyline.runtime.stores.columns import Array
from eddyline.sql.naming import quoted_text
from eddyline.types import SQL_TYPES, TIMESTAMP

#: Text that can be a date, a timestamp, a truth value, or a number that is a code (``007``).
_DATES: Final = r"^\s*\d{4}-\d{1,2}-\d{1,2}\s*$"
_TIMES: Final = r"^\s*\d{4}-\d{1,2}-\d{1,2}[T ]"
_DATED: Final = r"^\s*\d{4}-\d{1,2}-\d{1,2}"
_TRUTH: Final = r"(?i)^\s*(true|false|yes|no)\s*$"
_CODES: Final = r"^\s*[-+]?0\d"
#: Words that stand for a missing value in text.
_NULL_WORDS: Final = ("NA", "N/A", "n/a", "NULL", "null", "None", "none", "\\N", "-", "?")
#: Names of event times, and of numbers that are a time.
_TIME_NAMES: Final = re.compile(
    r"(?i)^(ts|t|at|ms|us|time|date|datetime|when|epoch|.*time|.*date|.*timestamp|.*[_a-z]ts"
    r"|time.*|date.*|timestamp.*|ts_.*|event_?at|created.*|.*_at|.*_ms|.*_us)$"
)
#: The years 1990 to 2100, in seconds since 1970, in which numbers can be event times.
_PROBABLE_S: Final = (631_152_000, 4_102_444_800)
_UNITS: Final[tuple[TimeUnit, ...]] = get_args(TimeUnit)
_PER_SECOND: Final[dict[TimeUnit, int]] = {
    "s": 1,
    "ms": 1_000,
    "us": 1_000_000,
    "ns": 1_000_000_000,
}
#: Event times may be missing or unreadable in this share of the rows.
_MOST_MISSING: Final = 0.5


@dataclass(frozen=True)
class Column:
    """A column of a stream, as a sample shows it.

    Attributes:
        name: of the stream's column. type: to declare.
        values: of this type, but for lists and structures, which are as they came.
        clause: what is declared behind the type: where in a record its values are.
    """

    name: str
    type: pa.DataType
    values: pa.Array
    clause: str = ""


@dataclass(frozen=True)
class EventTime:
    """A column that can be the event time.

    Attributes:
        unit: of numbers; None: they are timestamps, dates or text.
        us: int64[n], the instants in the order of the rows, without missing ones.
        missing: number of rows without one.
    """

    column: str
    unit: TimeUnit | None
    us: Array
    missing: int


def disorder_of(us: Array) -> int:
    """By how much a row is behind an earlier one at most, in us.

    Args:
        us: int64[n], n > 0.
    """
    return int((np.maximum.accumulate(us) - us).max())


def columns_of(rows: pa.Table, *, parts: bool = False) -> tuple[list[Column], list[str]]:
    """The columns of a sample that a stream can have, fields at the top first, and the names of the
    others.

    Args:
        parts: whether fields of structures become columns of their own, with paths.
    """
    columns: list[Column] = []
    others: list[str] = []
    names: set[str] = set()
    for path, values in sorted(_leaves(rows, parts), key=lambda leaf: len(leaf[0]) > 1):
        type_, name = _type_of(values), "_".join(path)
        if type_ is None or (len(path) == 1 and name.lower() in names):
            others.append(".".join(path))
            continue
        while name.lower() in names:
            name += "_"
        names.add(name.lower())
        if not pt.is_nested(type_):
            values = _as_declared(values, type_)
        clause = f"PATH {quoted_text(_json_path(path))}" if len(path) > 1 else ""
        columns.append(Column(name, type_, values, clause))
    return columns, others


def null_word(rows: pa.Table) -> str | None:
    """The word that stands for missing values in columns of text that are otherwise numbers, times
    or truth values; None: there is none.

    >>> null_word(pa.table({"a": ["1", "NA"], "b": ["NA", "x"]}))
    'NA'
    """
    found: dict[str, int] = {}
    for values in map(flat, rows.columns):
        for word in _NULL_WORDS:
            is_word = pc.equal(values, word).fill_null(False)
            n = is_word.true_count
            if n and _type_of_text(values.filter(pc.invert(is_word)).drop_null()) is not None:
                found[word] = found.get(word, 0) + n
    return max(found, key=found.__getitem__, default=None)


def event_time_of(column: Column) -> EventTime | None:
    """A column as event time, numbers in the unit that makes most of them probable; None if it can
    be none.
    """
    values = column.values
    unit: TimeUnit | None = None
    if pt.is_integer(values.type) or pt.is_floating(values.type):
        unit = _unit_of(values)
        if unit is None:
            return None
    elif pt.is_string(values.type):
        dated = pc.match_substring_regex(values, _DATED).true_count
        if dated < (1 - _MOST_MISSING) * len(values):
            return None
    elif not (pt.is_timestamp(values.type) or pt.is_date(values.type)):
        return None
    times = event_times(values, unit, column.name)[0]
    if times.null_count == len(times) or times.null_count > _MOST_MISSING * len(times):
        return None
    us = np.asarray(times.drop_null().cast(pa.int64()))
    return EventTime(column.name, unit, us, times.null_count)


def event_times_in(columns: Sequence[Column]) -> list[EventTime]:
    """The columns that can be the event time, the most probable one first.

    Timestamps come before dates, numbers and text; then those named like a time, those without
    missing values, and those whose rows are in order. Numbers are event times only if they are
    named so or in order.
    """
    found: list[tuple[tuple[bool, ...], EventTime]] = []
    for column in columns:
        time = event_time_of(column)
        if time is None:
            continue
        named = _TIME_NAMES.match(column.name) is not None
        in_order = time.us.size > 1 and not disorder_of(time.us)
        if time.unit is not None and not (named or in_order):
            continue
        exact = pt.is_timestamp(column.type)
        found.append(((not exact, not named, time.missing > 0, not in_order), time))
    return [time for _, time in sorted(found, key=lambda f: f[0])]


def _leaves(rows: pa.Table, parts: bool) -> Iterator[tuple[tuple[str, ...], pa.Array]]:
    for name, values in zip(rows.column_names, rows.columns, strict=True):
        yield from _leaves_of((name,), flat(values), parts)


def _leaves_of(
    path: tuple[str, ...], values: pa.Array, parts: bool
) -> Iterator[tuple[tuple[str, ...], pa.Array]]:
    if not (parts and pt.is_struct(values.type)):
        yield path, values
        return
    for field, part in zip(values.type, values.flatten(), strict=True):
        yield from _leaves_of((*path, field.name), part, parts)


def _json_path(names: Sequence[str]) -> str:
    """A path to a field, as in ``PATH``.

    >>> _json_path(["order", "the price"])
    "$.order['the price']"
    """
    parts = (f".{n}" if n.isidentifier() and n.isascii() else f"['{n}']" for n in names)
    return f"${''.join(parts)}"


def _type_of(values: pa.Array) -> pa.DataType | None:
    """The type to declare for values; None if there is none."""
    if pt.is_string(values.type):
        return _type_of_text(values.drop_null()) or values.type
    return _declarable(values.type)


def _as_declared(values: pa.Array, type_: pa.DataType) -> pa.Array:
    if pt.is_string(values.type):
        return convert(values, type_)
    return values.cast(type_, safe=False)


def _type_of_text(texts: pa.Array) -> pa.DataType | None:
    """The type that all texts can be read as; None: they are text."""
    if not len(texts):
        return None

    def all_match(pattern: str) -> bool:
        return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())

    if all_match(_TRUTH):
        return pa.bool_()
    if all_match(_DATES):
        candidates = [pa.date32()]
    elif all_match(_TIMES):
        candidates = [TIMESTAMP]
    elif pc.any(pc.match_substring_regex(texts, _CODES)).as_py():
        return _read_as(texts, [pa.float64()]) if all_match(r"[.eE]") else None
    else:
        candidates = [pa.int64(), pa.float64()]
    return _read_as(texts, candidates)


def _read_as(texts: pa.Array, types: Sequence[pa.DataType]) -> pa.DataType | None:
    return next((t for t in types if failed(texts, convert(texts, t)) is None), None)


def _declarable(type_: pa.DataType) -> pa.DataType | None:
    """The type of SQL that holds the values of a type of Arrow; None if there is none."""
    if pt.is_unsigned_integer(type_):
        wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
        return wider[type_.bit_width]
    if pt.is_timestamp(type_):
        return TIMESTAMP
    if pt.is_date(type_):
        return pa.date32()
    if pt.is_float16(type_):
        return pa.float32()
    if pt.is_fixed_size_binary(type_):
        return pa.binary()
    if pt.is_decimal(type_):
        return pa.decimal128(type_.precision, type_.scale) if type_.precision <= 38 else None
    if pt.is_struct(type_):
        fields = [(f.name, _declarable(f.type)) for f in type_]
        return None if any(t is None for _, t in fields) else pa.struct(fields)
    if pt.is_map(type_):
        key, item = _declarable(type_.key_type), _declarable(type_.item_type)
        return None if key is None or item is None else pa.map_(key, item)
    if pt.is_list(type_) or pt.is_large_list(type_) or pt.is_fixed_size_list(type_):
        element = _declarable(type_.value_type)
        return None if element is None else pa.list_(element)
    if pt.is_null(type_) or pt.is_large_string(type_):
        return pa.string()
    return type_ if type_ in SQL_TYPES.values() else None


def _unit_of(values: pa.Array) -> TimeUnit | None:
    """The unit in which most numbers are probable event times."""
    known = values.drop_null().cast(pa.float64(), safe=False)
    for unit in _UNITS:
        low, high = (float(s * _PER_SECOND[unit]) for s in _PROBABLE_S)
        inside = pc.and_(pc.greater_equal(known, low), pc.less(known, high)).true_count
        if len(known) and inside >= (1 - _MOST_MISSING) * len(values):
            return unit
    return None

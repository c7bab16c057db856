"""Bags of rows as lists of tuples, compared up to the order and the last digits of floats."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from eddyline.testing.text import to_us

Row = tuple[Any, ...]

#: Tolerance for equal floats: relative, and absolute near zero.
TOLERANCE: Final = 1e-9
_NAN: Final = "NaN"  # equal to itself, unlike the float


def plain(value: Any) -> Any:
    """A value in the form of bags: times in us since the epoch, decimals as floats, structures and
    lists as tuples.
    """
    if isinstance(value, datetime):
        return to_us(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and math.isnan(value):
        return _NAN
    if isinstance(value, dict):
        return tuple((name, plain(part)) for name, part in value.items())
    return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value


def rows_of(table: pa.Table, columns: Sequence[int] | None = None) -> list[Row]:
    """The rows of a table, or of some of its columns (ordinals), as plain values."""
    indexes = range(table.num_columns) if columns is None else columns
    values = [_values(table.column(i)) for i in indexes]
    return list(zip(*values, strict=True)) if values else [()] * table.num_rows


def difference(expected: Iterable[Row], actual: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The rows that ``actual`` lacks, and those that it has in excess, as bags."""
    expected_bag, actual_bag = Counter(expected), Counter(actual)
    missing = list((expected_bag - actual_bag).elements())
    extra = list((actual_bag - expected_bag).elements())
    if missing and extra:
        return _pair_close(missing, extra)
    return missing, extra


def close(a: Any, b: Any) -> bool:
    """Whether two plain values are equal up to the tolerance of floats."""
    if isinstance(a, float) or isinstance(b, float):
        numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
        return numbers and math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(a == b)


def _pair_close(missing: list[Row], extra: list[Row]) -> tuple[list[Row], list[Row]]:
    """Remove pairs of rows that differ only within the tolerance of floats."""
    by_key: defaultdict[Row, list[Row]] = defaultdict(list)
    for row in extra:
        by_key[_without_numbers(row)].append(row)
    unpaired = []
    for row in missing:
        candidates = by_key[_without_numbers(row)]
        match = next((c for c in candidates if all(map(close, row, c))), None)
        if match is None:
            unpaired.append(row)
        else:
            candidates.remove(match)
    return unpaired, [row for rows in by_key.values() for row in rows]


def _without_numbers(row: Row) -> Row:
    return tuple(0 if isinstance(v, (int, float)) else v for v in row)


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        us = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
        return list(us.to_pylist())
    return [plain(v) for v in column.to_pylist()]

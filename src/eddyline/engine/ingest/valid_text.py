"""Text whose bytes are not UTF-8: found, and made readable, so that no reader chokes on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.engine.ingest.arrow_values import flat


def with_valid_text(
    table: pa.Table, names: Collection[str]
) -> tuple[pa.Table, dict[str, pa.Array]]:
    r"""The table with text that is UTF-8 throughout.

    Args:
        names: of the columns that count, in lower case.

    Returns:
        The table, in which bytes that are not UTF-8 are written as ``\xff``; and by column that
        had such bytes, for each row whether it had some.
    """
    broken: dict[str, pa.Array] = {}
    for place, field in enumerate(table.schema):
        if field.name.lower() not in names or not _is_text(field.type):
            continue
        rows = list(_invalid(values := flat(table.column(place)), 0))
        if rows:
            broken[field.name] = _flags(rows, len(values))
            table = table.set_column(place, field.name, _escaped(values, rows))
    return table, broken


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        return _is_text(type_.value_type)
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )


def _invalid(values: pa.Array, start: int) -> Iterator[int]:
    """The places of values that are not UTF-8: halves that have some are halved again."""
    try:
        values.validate(full=True)
        return
    except pa.ArrowInvalid:
        if len(values) == 1:
            yield start
            return
    middle = len(values) // 2
    yield from _invalid(values.slice(0, middle), start)
    yield from _invalid(values.slice(middle), start + middle)


def _flags(rows: list[int], count: int) -> pa.Array:
    flags = np.zeros(count, np.bool_)
    flags[rows] = True
    return pa.array(flags)


def _escaped(values: pa.Array, rows: list[int]) -> pa.Array:
    """The values with those of some rows made readable."""
    raw = values.view(pa.binary())
    readable = [raw[row].as_py().decode("utf-8", "backslashreplace") for row in rows]
    bytes_ = pa.array([text.encode() for text in readable], pa.binary())
    return pc.replace_with_mask(raw, _flags(rows, len(values)), bytes_).cast(pa.string())

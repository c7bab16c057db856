"""Texts that PostgreSQL cannot store: those with the character NUL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.engine.execution.bad_rows import BAD_ROWS, json_rows
from eddyline.spark.sinks.sequence import SEQ_COLUMN
from eddyline.types import TIMESTAMP

_OPERATION: Final = "_op"
_INSTANT: Final = "_ts"
_EXPIRY: Final = "_exp"
_REASON: Final = (
    "column '{}': a text has the character NUL, which PostgreSQL cannot store: "
    "select replace(...) of it without that character"
)


def refused_texts(rows: pa.Table) -> dict[str, pa.ChunkedArray]:
    """By column with such texts, bool[n]: the rows with one."""
    found = {}
    for field, column in zip(rows.schema, rows.columns, strict=True):
        if pa.types.is_string(field.type):
            has_nul = pc.fill_null(pc.match_substring(column, "\0"), False)
            if pc.any(has_nul).as_py():
                found[field.name] = has_nul
    return found


def as_bad_rows(rows: pa.Table, refused: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    """The refused rows as a table of ``BAD_ROWS``.

    Args:
        rows: changes of one query, or rows of a side output. refused: as of :func:`refused_texts`.
    """
    reasons = pa.nulls(rows.num_rows, pa.string())
    for name, has_nul in refused.items():
        reasons = pc.coalesce(reasons, pc.if_else(has_nul, _REASON.format(name), None))
    found, n = rows.filter(_any(refused)).combine_chunks(), pc.sum(_any(refused)).as_py()
    of_change = (_OPERATION, _INSTANT, _EXPIRY, SEQ_COLUMN.name)
    columns = (
        (name, column.combine_chunks())
        for name, column in zip(found.column_names, found.columns, strict=True)
        if name not in of_change
    )
    instants = found[_INSTANT] if _INSTANT in found.column_names else pa.nulls(n, TIMESTAMP)
    texts, own_reasons = json_rows(columns, n), reasons.filter(_any(refused))
    return pa.Table.from_arrays([instants.cast(TIMESTAMP), texts, own_reasons], schema=BAD_ROWS)


def without(
    rows: pa.Table, refused: Mapping[str, pa.ChunkedArray], key: Sequence[str] | None
) -> pa.Table:
    """The rows that can be stored.

    Args:
        refused: as of :func:`refused_texts`.
        key: columns by which a row replaces an older one, which must not stay in its place: a
            refused row with a key that can be stored becomes a deletion; None: no row does so.
    """
    if key is None:
        return rows.filter(pc.invert(_any(refused)))
    operations = pc.if_else(_any(refused), "-", rows[_OPERATION])
    changed = rows.set_column(rows.column_names.index(_OPERATION), _OPERATION, operations)
    for name, has_nul in refused.items():
        values = pc.if_else(has_nul, None, rows[name])
        changed = changed.set_column(rows.column_names.index(name), name, values)
    of_key = [has_nul for name, has_nul in refused.items() if name in key]
    if of_key:
        changed = changed.filter(pc.invert(reduce(pc.or_, of_key)))
    return changed.cast(rows.schema)


def _any(refused: Mapping[str, pa.ChunkedArray]) -> pa.ChunkedArray:
    return reduce(pc.or_, refused.values())

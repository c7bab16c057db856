"""From the last batch of a plan to the table of changes that a user gets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.columns import Array, bitmap
from eddyline.types import END_OF_TIME, TIMESTAMP, Schema, arrow_schema

#: The columns before the select list.
CHANGE_COLUMNS = (
    pa.field("_op", pa.string()),
    pa.field("_ts", TIMESTAMP),
    pa.field("_exp", TIMESTAMP),
)


def change_schema(schema: Schema) -> pa.Schema:
    """The schema of a query's changes: ``_op``, ``_ts``, ``_exp``, then the select list."""
    return pa.schema([*CHANGE_COLUMNS, *arrow_schema(schema)])


def to_changes(
    batch: Batch, schema: pa.Schema, columns: Sequence[pa.Array] | None = None
) -> pa.Table:
    """The changes as an Arrow table of ``change_schema``; ``columns`` if not those of the batch."""
    payload = batch.columns() if columns is None else columns
    arrays = [_signs(batch.sign), instants(batch.ts), instants(batch.exp), *payload]
    return pa.Table.from_arrays(arrays, schema=schema)


def to_rows(batch: Batch, schema: pa.Schema) -> pa.Table:
    """The rows themselves, as an Arrow table of the select list."""
    return pa.Table.from_arrays(batch.columns(), schema=schema)


def without_replaced(batch: Batch) -> Batch:
    """The changes without each '-' whose pair's '+' follows: the new row replaces the older one."""
    if batch.pair is None or len(batch) < 2:
        return batch
    replaced = np.zeros(len(batch), np.bool_)
    replaced[:-1] = (batch.sign[:-1] < 0) & (batch.pair[:-1] == batch.pair[1:])
    return batch.where(~replaced)


def concat_changes(parts: Sequence[pa.Table], schema: pa.Schema) -> pa.Table:
    """One table out of the chunks' tables, without copying them."""
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _signs(sign: Array) -> pa.Array:
    letters = np.int8(ord(",")) - sign  # which stands between '+' and '-'
    offsets = np.arange(sign.size + 1, dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.string(), sign.size, buffers)


def instants(us: Array) -> pa.Array:
    """int64[n] microseconds as timestamps; NULL behind the year 9999, which no clock reaches."""
    known = us < END_OF_TIME
    return pa.Array.from_buffers(
        TIMESTAMP, us.size, [bitmap(known), pa.py_buffer(np.ascontiguousarray(us))]
    )

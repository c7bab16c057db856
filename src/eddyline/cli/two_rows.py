"""Two generated rows of each stream, with which queries are tried before there are others."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.algebra.functions.conversion import convert
from eddyline.engine.ingest.table_changes import INSTANT, is_live
from eddyline.types import TIMESTAMP, Schema


def two_rows(
    streams: Mapping[str, StreamDef], tables: Mapping[str, TableDef]
) -> dict[str, pa.Table]:
    """Two rows of each stream and changing table."""
    rows = {name: _of(stream.schema) for name, stream in streams.items()}
    changes = {n: _of((INSTANT, *table.schema)) for n, table in tables.items() if is_live(table)}
    return rows | changes


def _of(schema: Schema) -> pa.Table:
    """Two rows with timestamps 0 and 1 us and otherwise equal values."""
    zeros = pa.array([0, 1], pa.int64())
    arrays = [_zeros(f.type) if f.type != TIMESTAMP else zeros.cast(TIMESTAMP) for f in schema]
    return pa.Table.from_arrays(arrays, names=[f.name for f in schema])


def _zeros(type_: pa.DataType) -> pa.Array:
    if pa.types.is_date(type_):
        return pa.array([0, 0], pa.int32()).cast(type_)
    if pa.types.is_nested(type_):
        return pa.nulls(2, type_)
    return convert(pa.array(["0", "0"]), type_)

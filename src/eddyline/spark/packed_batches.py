"""Fat rows: what crosses between the stages of the Spark job.

Thousands of stream rows travel as one Spark row whose ``blob`` is an Arrow IPC stream. Spark's cost
of handing rows between the JVM and Python is per row; this makes it per megabyte.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

#: Ingest to shard. ``kind`` is 'rows' or 'control'. (part, seq) order the pieces of one
#: stream within a batch, so that a replay hands them over in the same order. ``dropped``: rows that
#: came with these ``n`` and that a drop box did not keep; ``max_ts``: the largest timestamp of all
#: of them that are good, in us, where a drop box looked at them.
INPUT_SCHEMA: Final = (
    "shard BIGINT, kind STRING, name STRING, part BIGINT, seq BIGINT, "
    "n BIGINT, dropped BIGINT, max_ts BIGINT, blob BINARY"
)
INPUT_ARROW: Final = pa.schema(
    [
        ("shard", pa.int64()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("part", pa.int64()),
        ("seq", pa.int64()),
        ("n", pa.int64()),
        ("dropped", pa.int64()),
        ("max_ts", pa.int64()),
        ("blob", pa.binary()),
    ]
)

#: Shard to delivery. ``kind`` is 'changes' (name: the route), 'late' or 'bad' (name: the input) or
#: 'progress' or 'stats' (name: the shard), whose blob is JSON. ``n`` counts the rows in ``blob``.
OUTPUT_SCHEMA: Final = "shard BIGINT, kind STRING, name STRING, n BIGINT, blob BINARY"
OUTPUT_COLUMNS: Final = ("shard", "kind", "name", "n", "blob")

#: A blob is cut at about this size: large enough to make per-row costs vanish, small enough that
#: the copies which Spark keeps of a row stay small.
BLOB_BYTES: Final = 16 << 20


def pack(table: pa.Table) -> bytes:
    """The table as one Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    blob: bytes = sink.getvalue().to_pybytes()
    return blob


def unpack(blob: bytes | Any) -> pa.Table:
    """The table that :func:`pack` packed, without a copy. Takes bytes or an Arrow buffer."""
    with pa.ipc.open_stream(pa.py_buffer(blob)) as reader:
        return reader.read_all()


def pieces(table: pa.Table, limit: int = BLOB_BYTES) -> Iterator[pa.Table]:
    """The table cut into runs of rows of about ``limit`` bytes each; none for an empty table."""
    if table.num_rows == 0:
        return
    count = max(1, math.ceil(table.nbytes / limit))
    rows = math.ceil(table.num_rows / count)
    for start in range(0, table.num_rows, rows):
        yield table.slice(start, rows)

"""Packed batches: the rows that the stages of the Spark job exchange.

Thousands of stream rows are one Spark row whose ``blob`` is an Arrow IPC stream. Spark's cost of
moving rows between the JVM and Python is per row; this makes it per megabyte.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import pyarrow as pa

Compression: TypeAlias = Literal["lz4"] | None

#: Ingest to shard. ``kind`` is 'rows', 'file' (rows in a file; ``blob``: its reference), 'clock'
#: (``blob``: :class:`Arrivals`), 'keys' (``blob``: the counts of frequent keys, for the first shard
#: of a layout), 'control' or 'tick'. (part, seq): order of the pieces of one stream within a batch,
#: the same in a repetition. ``n``: number of rows.
INPUT_SCHEMA: Final = (
    "shard BIGINT, kind STRING, name STRING, part BIGINT, seq BIGINT, n BIGINT, blob BINARY"
)
INPUT_ARROW: Final = pa.schema(
    [
        ("shard", pa.int64()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("part", pa.int64()),
        ("seq", pa.int64()),
        ("n", pa.int64()),
        ("blob", pa.binary()),
    ]
)


@dataclass
class Arrivals:
    """What one task of ingest tells a shard about the rows of a stream.

    Attributes:
        rows: number of rows in the task; also of those that are sent to other shards, or dropped.
        covered: of these rows, how many a history has, and were left out.
        dropped: of the rows for this shard, how many a drop box dropped.
        newest, oldest: largest and smallest timestamp, in us, of all rows in the task that are
            good whatever rows were before; None if there is none, or if rows were not examined,
            because all of them are sent to one shard.
        lateness: how far a row may be behind those before it, in us, if that is judged row by row:
            then late rows count in ``oldest`` as if they came at the instant before which they are
            late. Otherwise None.
        ages: number of rows by bucket of their age, if the source says when they arrived; see
            ``result_ages.py``.
    """

    rows: int = 0
    dropped: int = 0
    covered: int = 0
    newest: int | None = None
    oldest: int | None = None
    lateness: int | None = None
    ages: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: Arrivals) -> Arrivals:
        """The rows of two tasks, of which those of ``other`` are after these."""
        rows, dropped = self.rows + other.rows, self.dropped + other.dropped
        ages = dict(self.ages)
        covered = self.covered + other.covered
        both = replace(
            self,
            rows=rows,
            dropped=dropped,
            covered=covered,
            lateness=other.lateness,
            ages=ages,
        )
        both.add_ages(other.ages)
        if other.newest is not None and other.oldest is not None:
            both.add_times(other.newest, other.oldest)
        return both

    def add_times(self, newest: int, oldest: int) -> None:
        """Good rows after these: their largest timestamp, and their smallest, if lateness is judged
        row by row with late rows at the limit.
        """
        if self.newest is None or self.oldest is None:
            self.newest, self.oldest = newest, oldest
            return
        if self.lateness is not None:
            oldest = max(oldest, self.newest - self.lateness)
        self.oldest = min(self.oldest, oldest)
        self.newest = max(self.newest, newest)

    def add_ages(self, ages: Mapping[str, int]) -> None:
        """Count rows by bucket of their age."""
        for bucket, n in ages.items():
            self.ages[bucket] = self.ages.get(bucket, 0) + n

    def packed(self) -> bytes:
        """As JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def read(cls, blob: bytes) -> Arrivals:
        """What :meth:`packed` wrote."""
        return cls(**json.loads(blob))


#: Shard to delivery. ``kind`` is 'changes' (name: the route), 'late' or 'bad' (name: the input),
#: PARTS or PARTS_BEFORE (name: the query; changes of the parts of its groups, and those that there
#: were before the first batch of a launch), TABLES (packed ``TableContents``, in pieces, that the
#: driver has asked for), ANSWERS (name: the question; the shard's part of an answer), or 'progress'
#: or 'stats' (name: the shard), whose blob is JSON. ``n`` counts the rows in ``blob``.
#: ``small``: whether the driver collects the blob with the reports.
OUTPUT_SCHEMA: Final = (
    "shard BIGINT, kind STRING, name STRING, n BIGINT, small BOOLEAN, blob BINARY"
)
OUTPUT_ARROW: Final = pa.schema(
    [
        ("shard", pa.int64()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("n", pa.int64()),
        ("small", pa.bool_()),
        ("blob", pa.binary()),
    ]
)
PARTS: Final = "parts"
PARTS_BEFORE: Final = "parts before"
TABLES: Final = "tables"
ANSWERS: Final = "answers"
OUTPUT_COLUMNS: Final = ("shard", "kind", "name", "n", "small", "blob")
#: Maximum size in bytes of the blobs of a batch that the driver takes with the reports, for all
#: shards together.
SMALL_BYTES: Final = 64 << 20

#: At the beginning of what names a file; Arrow IPC streams begin with other bytes.
_FILE: Final = b"file:"

#: Approximate maximum size of a blob: large enough that per-row costs are negligible, small enough
#: for the copies that Spark keeps of a row.
BLOB_BYTES: Final = 16 << 20
#: The same for the input of shards, of which Spark puts 2,048 rows at once into one batch.
INPUT_BLOB_BYTES: Final = 64 << 10


def pack(table: pa.Table) -> bytes:
    """The table as one Arrow IPC stream."""
    blob: bytes = packed(table).to_pybytes()
    return blob


def packed(table: pa.Table, compression: Compression = None) -> pa.Buffer:
    """The same as :func:`pack`, without a copy."""
    sink = pa.BufferOutputStream()
    write_packed(sink, table, compression)
    return sink.getvalue()


def write_packed(sink: Any, table: pa.Table, compression: Compression) -> None:
    """The same, to a file."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)


def packed_file(path: Path) -> bytes:
    """What :func:`unpack` reads the packed table in a file from."""
    return _FILE + bytes(path)


def unpack(blob: bytes | Any) -> pa.Table:
    """The table packed by :func:`pack`, without a copy, from bytes or an Arrow buffer; or that of
    :func:`packed_file`.
    """
    with pa.ipc.open_stream(packed_content(blob)) as reader:
        return reader.read_all()


def packed_content(blob: bytes | Any) -> pa.Buffer:
    """The Arrow IPC stream of a packed table, from the file if the blob names one."""
    content = pa.py_buffer(blob)
    if content.slice(0, len(_FILE)) != pa.py_buffer(_FILE):
        return content
    with pa.OSFile(content.slice(len(_FILE)).to_pybytes().decode()) as file:
        return file.read_buffer()


def pieces(table: pa.Table, limit: int = BLOB_BYTES) -> Iterator[pa.Table]:
    """Slices of the table of about ``limit`` bytes each; none for an empty table."""
    if table.num_rows == 0:
        return
    count = max(1, math.ceil(table.nbytes / limit))
    rows = math.ceil(table.num_rows / count)
    for start in range(0, table.num_rows, rows):
        yield table.slice(start, rows)

"""Parquet files on this machine's disk, read by Arrow where they are packed.

Spark still finds the files, logs which batch takes which, and hands out their names. But reading
them into its rows, and the rows into Arrow, is the most costly step of a job over Parquet; here
the file's columns become a stream's columns directly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from eddyline.algebra.catalog import StreamDef
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.errors import DataError

#: Options that say which files to take and when; any other is for Spark's own reader.
_FILE_OPTIONS: Final = frozenset(
    [
        "path",
        "maxfilespertrigger",
        "maxbytespertrigger",
        "latestfirst",
        "pathglobfilter",
        "recursivefilelookup",
        "maxfileage",
        "filenameonly",
        "cleansource",
        "sourcearchivedir",
    ]
)

#: What Spark passes over: files that are being written, and what is told of others.
HIDDEN: Final = ("_", ".")

#: The one schema that Spark allows for its source of whole files.
_BINARY_FILE: Final = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"

Reader = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def local_parquet(
    spark: SparkSession, stream: StreamDef, options: Mapping[str, str], kind: str = "stream"
) -> tuple[DataFrame, Reader] | None:
    """The names of a stream's files as they appear, and how to read them in a Python worker.

    None if this is not for it: a path elsewhere or with wild cards, options of Spark's reader, no
    file yet, or columns that only the names of directories have.

    Raises:
        DataError: the files lack a column, or its type does not convert.
    """
    first = _first_file(options["path"])
    if first is None or not {name.lower() for name in options} <= _FILE_OPTIONS:
        return None
    try:
        schema = pq.read_schema(first)
    except FileNotFoundError:  # taken away since
        return None
    except pa.ArrowInvalid as e:
        raise DataError(f"{kind} '{stream.name}': cannot read '{first}': {e}") from None
    if "=" in str(first.parent.relative_to(local_path(options["path"]) or first.parent)):
        return None
    RowReader(stream, kind).read(schema.empty_table())
    names = {name.lower(): name for name in schema.names}
    columns = [names[field.name.lower()] for field in stream.schema]
    files = spark.readStream.format("binaryFile").schema(_BINARY_FILE).options(**options)
    paths = files.load().select("path")  # so that Spark does not read the content
    return paths, _reader(columns, [field.name for field in stream.schema])


def _reader(columns: list[str], declared: list[str]) -> Reader:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name in batch.column(0).to_pylist():
                path = unquote(urlparse(name).path)
                with pq.ParquetFile(path) as file:
                    for rows in file.iter_batches(batch_size=1 << 17, columns=columns):
                        yield rows.select(columns).rename_columns(declared)

    return read


def local_path(path: str) -> Path | None:
    """The directory or file on this machine that a path names; None if it names anything else."""
    parsed = urlparse(path)
    if parsed.scheme not in ("", "file") or any(c in path for c in "*?[{"):
        return None
    return Path(unquote(parsed.path) if parsed.scheme else path)


def _first_file(path: str) -> Path | None:
    """One of the files that Spark would find."""
    place = local_path(path)
    if place is None or not place.exists():
        return None
    if place.is_file():
        return place
    found = []
    for directory, below, names in os.walk(place):
        below[:] = [name for name in below if not name.startswith(HIDDEN)]
        seen = (name for name in names if not name.startswith(HIDDEN))
        found += [Path(directory, name) for name in seen if name.endswith(".parquet")]
    return min(found, default=None)

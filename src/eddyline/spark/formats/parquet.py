"""Parquet files on a local disk, read by Arrow in the workers of ingest.

Spark finds the files, logs which batch reads which file, and distributes their names. Converting
them to Spark's rows and these to Arrow is the most costly step of a job over Parquet; here the
file's columns become the stream's columns directly.
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

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.errors import DataError
from eddyline.spark.storage.files import qualified

#: Options that select files; with any other option, Spark's reader is used.
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

#: First characters of files that Spark skips: incomplete files and metadata.
HIDDEN: Final = ("_", ".")

#: The schema required by Spark's source ``binaryFile``.
_BINARY_FILE: Final = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"

Reader = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def local_parquet(
    spark: SparkSession, stream: StreamDef, options: Mapping[str, str], kind: str = "stream"
) -> tuple[DataFrame, Reader] | None:
    """A streaming DataFrame of the names of a stream's files, and their reader in a worker.

    None if Spark's reader is needed: for a path on another file system (also a path without a
    scheme, if Spark's default file system is another one) or with wild cards, other options,
    partition columns, or if there is no file yet.

    Raises:
        DataError: the files lack a column, or its type does not convert.
    """
    if not qualified(spark, options["path"]).startswith("file:"):
        return None
    first = _first_file(options["path"])
    if first is None or not {name.lower() for name in options} <= _FILE_OPTIONS:
        return None
    try:
        schema = pq.read_schema(first)
    except FileNotFoundError:  # deleted meanwhile
        return None
    except pa.ArrowInvalid as e:
        raise DataError(f"{kind} '{stream.name}': cannot read '{first}': {e}") from None
    if "=" in str(first.parent.relative_to(local_path(options["path"]) or first.parent)):
        return None
    RowReader(stream, kind).read(schema.empty_table())
    names = {name.lower(): name for name in schema.names}
    declared = [field.name for field in stream.supplied]
    columns = [names[name.lower()] for name in declared]
    files = spark.readStream.format("binaryFile").schema(_BINARY_FILE).options(**options)
    paths = files.load().select("path")  # without the column ``content``, which Spark then skips
    return paths, _reader(columns, declared)


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
    """The local directory or file of a path; None for other file systems and wild cards."""
    parsed = urlparse(path)
    if parsed.scheme not in ("", "file") or any(c in path for c in "*?[{"):
        return None
    return Path(unquote(parsed.path) if parsed.scheme else path)


def local_rows(spark: SparkSession, table: TableDef, options: Mapping[str, str]) -> pa.Table | None:
    """The rows of a static table whose files are on a local disk and have the declared types.

    None if Spark's reader is needed, which also finds what is wrong with the files.
    """
    if set(options) != {"path"} or not qualified(spark, options["path"]).startswith("file:"):
        return None
    place, found = local_path(options["path"]), files_below(options["path"])
    if any(f != place and (f.suffix != ".parquet" or f.parent != place) for f in found):
        return None
    names = [field.name for field in table.schema]
    declared = pa.schema([pa.field(field.name, field.type) for field in table.schema])
    pieces = []
    for path in found:
        try:
            with pq.ParquetFile(path) as file:
                if file.schema_arrow.empty_table().select(names).schema.types != declared.types:
                    return None
                pieces.append(file.read(columns=names).select(names))
        except (OSError, KeyError, pa.ArrowInvalid):
            return None
    return pa.concat_tables([p.cast(declared) for p in pieces]) if pieces else None


def _first_file(path: str) -> Path | None:
    """One of the files that Spark would find."""
    place, found = local_path(path), files_below(path)
    return min((f for f in found if f == place or f.suffix == ".parquet"), default=None)


def files_below(path: str) -> list[Path]:
    """The files in a directory and below that Spark does not skip; or the file itself."""
    place = local_path(path)
    if place is None or not place.exists():
        return []
    if place.is_file():
        return [place]
    found = []
    for directory, below, names in os.walk(place):
        below[:] = [name for name in below if not name.startswith(HIDDEN)]
        found += [Path(directory, name) for name in names if not name.startswith(HIDDEN)]
    return found

"""Samples of declared sources: read by Arrow where possible, otherwise by Spark's streaming."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.errors import DataError
from eddyline.spark.formats.parquet import HIDDEN, Reader, local_path
from eddyline.spark.sources.sources import change_source, resolve_path, stream_source, table_source

#: Formats that Arrow reads as Spark does; also CSV with a header.
_BY_ARROW: Final = ("parquet", "orc", "json")
#: Options that do not affect the content of the first rows.
_IRRELEVANT: Final = frozenset(
    ["source", "updates", "path", "header", "maxfilespertrigger", "maxbytespertrigger"]
)
_POLL_S: Final = 0.1

D = TypeVar("D", StreamDef, TableDef)


@dataclass(frozen=True)
class Sampler:
    """Takes samples of sources.

    Attributes:
        spark: starts Spark, for sources that need it. base: directory of relative paths.
        limit: maximum number of rows. seconds: how long to wait for rows of a live source.
        present: whether only rows that are there now are read.
    """

    spark: Callable[[], SparkSession]
    base: Path | None
    limit: int
    seconds: float
    present: bool = False

    def stream(self, stream: StreamDef) -> pa.Table:
        """The first rows of a stream's source, or new ones of a live source.

        Raises:
            DataError: the source, or a column, is missing.
        """
        return self._first_rows(stream, stream_source)

    def changes(self, table: TableDef) -> pa.Table:
        """Changes of a table."""
        return self._first_rows(table, change_source)

    def table(self, table: TableDef) -> pa.Table:
        """All rows of a static table."""
        table = replace(table, options=resolve_path(table.options, self.base))
        local = None if table.columns.paths else _local_rows(table.options, None)
        return table_source(self.spark(), table) if local is None else local

    def _first_rows(
        self, declared: D, open_: Callable[[SparkSession, D], tuple[DataFrame, Reader | None]]
    ) -> pa.Table:
        declared = replace(declared, options=resolve_path(declared.options, self.base))
        local = None
        if not declared.columns.paths:
            local = _local_rows(declared.options, self.limit)
        return self._streamed(*open_(self.spark(), declared)) if local is None else local

    def _streamed(self, rows: DataFrame, read: Reader | None) -> pa.Table:
        taken: list[pa.Table] = []

        def left() -> int:
            rows_taken: int = sum(t.num_rows for t in taken)
            return self.limit - rows_taken

        def take(batch: DataFrame, number: int) -> None:
            if read is None and left() > 0:
                taken.append(batch.limit(left()).toArrow())
            elif read is not None and left() > 0:
                pieces = list(read(iter(batch.toArrow().to_batches())))
                taken.append(pa.Table.from_batches(pieces).slice(0, left()))

        with tempfile.TemporaryDirectory(prefix="eddyline-") as checkpoint:
            writer = rows.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint)
            query = (writer.trigger(availableNow=True) if self.present else writer).start()
            until = time.monotonic() + self.seconds
            while query.isActive and left() > 0 and time.monotonic() < until:
                time.sleep(_POLL_S)
            failed = query.exception()
            with suppress(StreamingQueryException):  # may be raised by the stop
                query.stop()
        if failed is not None:
            raise DataError(f"the source cannot be read: {str(failed).splitlines()[0]}")
        if not taken and self.present:
            raise DataError("it has no rows")
        if not taken:
            raise DataError(
                f"no row arrived within {self.seconds:g} seconds: wait longer with --seconds"
            )
        return pa.concat_tables(taken, promote_options="permissive")


def _local_rows(options: Any, limit: int | None) -> pa.Table | None:
    """Rows of files on a local disk; None if Arrow cannot read them as Spark does."""
    format_ = options.get("source", "").lower()
    headed = format_ == "csv" and options.get("header", "false").lower() == "true"
    if format_ not in _BY_ARROW and not headed:
        return None
    if "path" not in options or not {o.lower() for o in options} <= _IRRELEVANT:
        return None
    place = local_path(options["path"])
    if place is None or not place.exists():
        return None  # Spark reports the error
    files = source_files(place)
    if not files or "=" in str(files[0])[len(str(place)) :]:
        return None  # partition columns
    try:
        rows = ds.dataset([str(f) for f in files], format=format_)
        return rows.to_table() if limit is None else rows.head(limit)
    except (OSError, pa.ArrowInvalid) as e:
        raise DataError(f"cannot read '{place}': {str(e).splitlines()[0]}") from None


def source_files(place: Path) -> list[Path]:
    """The files that Spark would find at a path, in its order."""
    found = [place] if place.is_file() else []
    for directory, below, names in os.walk(place):
        below[:] = [name for name in below if not name.startswith(HIDDEN)]
        found += [Path(directory, name) for name in names if not name.startswith(HIDDEN)]
    return sorted(found, key=lambda f: (f.stat().st_mtime, f))

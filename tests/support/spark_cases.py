"""Streams and queries for which a job and an embedded engine must have the same results."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from eddyline import Engine
from eddyline.algebra.drains import drain_us
from eddyline.engine.changes import Changes
from eddyline.engine.query import Query
from eddyline.spark.run import Run
from eddyline.testing.bags import Row, plain, rows_of
from eddyline.types import BEGINNING

SECOND = 1_000_000
LATENESS = "LATENESS 5 SECONDS"

QUERIES = {
    "pairs": "SELECT a.k, a.v AS av, b.v AS bv FROM a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] "
    "WHERE a.k = b.k",
    "sums": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a [RANGE 6 SECONDS] GROUP BY k EMIT CHANGES",
    "last": "SELECT k, v FROM b [PARTITION BY k ROWS 2] WHERE v > 20",
    "named": "SELECT n.name, a.v FROM a [RANGE 5 SECONDS], names AS n WHERE a.k = n.k",
}


def stream_tables(seed: int, files: int, rows: int = 40) -> list[pa.Table]:
    """Rows out of order by less than the lateness; no two of a seed share a timestamp."""
    rng = np.random.default_rng(seed)
    ts = np.arange(files * rows) * 200_000 + 10 * seed
    arrival = np.argsort(ts + rng.integers(0, 4 * SECOND, ts.size), kind="stable")
    table = pa.table(
        {
            "ts": pa.array(ts[arrival]).cast(pa.timestamp("us", "UTC")),
            "k": pa.array(rng.integers(0, 6, ts.size)),
            "v": pa.array(rng.integers(0, 100, ts.size), mask=rng.random(ts.size) < 0.1),
        }
    )
    return [table.slice(i * rows, rows) for i in range(files)]


NAMES = pa.table({"k": [0, 1, 2], "name": ["zero", "one", "two"]})


def definitions(sources: Mapping[str, str], lateness: str = LATENESS) -> str:
    return "".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts {lateness} "
        f"WITH ({source});"
        for name, source in sources.items()
    )


def embedded(streams: Mapping[str, list[pa.Table]]) -> dict[str, list[tuple[Any, ...]]]:
    """All changes of the queries over whole streams."""
    engine = Engine()
    engine.sql(definitions(dict.fromkeys(streams, "source = 'none'")))
    engine.sql("CREATE TABLE names (k BIGINT, name STRING)")
    engine.table("names", NAMES)
    for name, sql in QUERIES.items():
        engine.query(sql, name=name)
    first = engine.process({name: pa.concat_tables(parts) for name, parts in streams.items()})
    then = engine.advance(10**12)
    return {name: bag(pa.concat_tables([first[name], then[name]])) for name in QUERIES}


class Twin:
    """An embedded engine with the input of a job, in the same order.

    Attributes:
        engine: to add and drop queries.
        queries: all that it has had, by name.
    """

    def __init__(self, engine: Engine, lateness_us: Mapping[str, int]) -> None:
        self.engine = engine
        self._lateness_us = lateness_us
        self._newest: dict[str, int] = {}
        self._changes: dict[str, list[pa.Table]] = {}
        self.queries: dict[str, Query] = {}

    def process(
        self, rows: Mapping[str, Sequence[pa.Table]], *, only_their_times: bool = False
    ) -> None:
        """Process all rows that the job has read, or of streams only their times, up to their
        watermark.
        """
        tables = {name: pa.concat_tables(parts) for name, parts in rows.items() if parts}
        for name, table in tables.items():
            if name not in self._lateness_us:  # a table, which does not affect the watermark
                continue
            latest = pc.max(table["ts"].cast(pa.int64())).as_py()
            if latest is not None:
                self._newest[name] = max(latest, self._newest.get(name, latest))
        bounds = [self._newest[n] - us for n, us in self._lateness_us.items() if n in self._newest]
        complete = len(bounds) == len(self._lateness_us)
        watermark = min(bounds) if complete else BEGINNING
        if only_their_times:
            tables = {n: rows for n, rows in tables.items() if n not in self._lateness_us}
        self._collect(self.engine.process(tables, watermark=watermark))

    def drains_us(self) -> int:
        """How long after the last row a query of the engine may have results."""
        return max((drain_us(q.plan) for q in self.engine.queries.values()), default=0)

    def end(self, drains_us: int | None = None) -> None:
        """End the input: advance until all windows are empty.

        Args:
            drains_us: of all queries of the job over these streams, where the engine has some.
        """
        longest = self.drains_us() if drains_us is None else drains_us
        self._collect(self.engine.advance(max(self._newest.values()) + longest + 1))

    def changes(self) -> dict[str, list[tuple[Any, ...]]]:
        """All changes by query."""
        return {name: bag(pa.concat_tables(parts)) for name, parts in self._changes.items()}

    def rows(self, name: str) -> list[Row]:
        """The changes of a query in the order in which they were emitted."""
        return rows_of(pa.concat_tables(self._changes[name])) if name in self._changes else []

    def _collect(self, changes: Changes) -> None:
        self.queries |= self.engine.queries
        for name in changes.active():
            self._changes.setdefault(name, []).append(changes[name])


def bag(rows: pa.Table | DataFrame) -> list[tuple[Any, ...]]:
    """The rows sorted, with NaN equal to itself, without the batch column of the sink."""
    table = rows if isinstance(rows, pa.Table) else rows.drop("eddyline_batch").toArrow()
    columns = [
        map(plain, (c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c).to_pylist())
        for c in table.columns
    ]
    return sorted(zip(*columns, strict=True), key=repr)


def in_order(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Changes of a query in a sink, in the order of time, without the batch column of the sink."""
    rows = rows.sort_by([("_ts", "ascending"), ("eddyline_batch", "ascending")])
    return rows_of(rows.drop_columns("eddyline_batch"))


class Feed:
    """A directory of Parquet files that a stream reads one per batch, in the order written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = 0
        path.mkdir()

    def write(self, *tables: pa.Table) -> None:
        for table in tables:
            file = self.path / f"_{self._files:03}.parquet"  # hidden until it is complete
            pq.write_table(table, file)
            self._files += 1
            os.utime(file, (self._files, self._files))  # Spark's order is that of these times
            file.rename(file.with_name(file.name[1:]))

    @property
    def source(self) -> str:
        return f"source = 'parquet', path = '{self.path}', maxFilesPerTrigger = 1"


def wait(run: Run, until: Callable[[], bool]) -> None:
    """Wait until something holds while a job runs, at most 90 seconds."""
    end = time.monotonic() + 90
    while not until():
        assert run.isActive, run.exception()
        assert time.monotonic() < end, run.shards()
        time.sleep(0.05)

"""``eddyline bench floor``: the cost of a trigger with few rows, beside a bare pipeline.

Ten queries with eight Parquet sinks over two streams, ten rows of each per trigger, against
:mod:`eddyline.bench.bare_pipeline`. Runs of both alternate; the first run of each, and the first
batches of each run, which start workers and compile, are left out.
"""

from __future__ import annotations

import json as json_
import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from rich.console import Console
from rich.table import Table

from eddyline.bench.bare_pipeline import start_bare_pipeline
from eddyline.bench.measure import machine
from eddyline.errors import StateError
from eddyline.spark.environment import local_session
from eddyline.spark.run import Run
from eddyline.spark.session import Session

#: The fixed cost of a trigger may be at most this many times that of the bare pipeline.
ASKED: Final = 1.2
_CORES: Final = 2
_QUERIES: Final = 10
_SINKS: Final = 8
_ROWS: Final = 10  # of one stream and trigger
_WARM_UP: Final = 4  # batches of a run that are left out
_TIMEOUT_S: Final = 300.0

#: Parts of a trigger by Spark's name.
PARTS: Final = {
    "triggerExecution": "whole trigger",
    "addBatch": "the batch: stateful stage, delivery",
    "queryPlanning": "planning",
    "latestOffset": "listing sources",
    "getBatch": "reading offsets",
    "walCommit": "writing the offset log",
    "commitOffsets": "writing the commit log",
}
#: Milliseconds of each batch, by part.
Durations = Sequence[Mapping[str, int]]


def run_floor(*, rounds: int = 3, batches: int = 20, json: bool = False) -> None:
    """Measure, and print a table and the verdict.

    Args:
        rounds: measured runs of each. batches: measured batches of a run.
        json: print one JSON object instead.

    Raises:
        SetupError: Java is missing.
    """
    if hasattr(os, "sched_setaffinity"):  # the JVM and the workers inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch:
        spark = local_session(_CORES, Path(scratch, "spark.log"))
        measured = measure(spark, Path(scratch), rounds, batches)
        spark.stop()
    if json:
        print(json_.dumps(report(*measured), indent=2))
    else:
        show(report(*measured), Console())


def measure(
    spark: SparkSession, scratch: Path, rounds: int, batches: int
) -> tuple[Durations, Durations, Mapping[str, float]]:
    """Durations of the bare pipeline and of Eddyline, and seconds in the shard by phase."""
    count = batches + _WARM_UP
    sources = [_write_source(scratch / name, count) for name in ("a", "b")]
    bare: list[Mapping[str, int]] = []
    ours: list[Mapping[str, int]] = []
    in_shard: Mapping[str, float] = {}
    for number in range(rounds + 1):
        place = scratch / str(number)
        query = start_bare_pipeline(spark, sources, place / "bare", _SINKS)
        of_bare = _durations(query, count)
        query.stop()
        run = eddyline_session(spark, sources, place).start()
        of_ours = _durations(run, count)
        in_shard = run.shards()[0]["seconds"]
        run.stop()
        if number:  # round 0 warms up the JVM
            bare += of_bare
            ours += of_ours
    return bare, ours, in_shard


def eddyline_session(spark: SparkSession, sources: Sequence[Path], place: Path) -> Session:
    """A session with ten queries, of which some share one of the eight sinks."""
    session = Session(spark, checkpoint=str(place / "checkpoint"))
    for path in sources:
        session.sql(
            f"CREATE STREAM {path.name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts "
            f"WITH (source = 'parquet', path = '{path}', maxFilesPerTrigger = 1)"
        )
    for i in range(_QUERIES):
        session.query(
            f"q{i}",
            f"SELECT a.k, a.v AS av, b.v AS bv FROM a [RANGE {i + 1} SECONDS], b [RANGE 5 SECONDS] "
            f"WHERE a.k = b.k AND a.v >= {i % 3}",
            sink="parquet",
            path=str(place / "sinks" / str(i % _SINKS)),
        )
    return session


def report(bare: Durations, ours: Durations, in_shard: Mapping[str, float]) -> dict[str, Any]:
    """Medians in milliseconds by part, and the ratio of whole triggers."""
    medians = {
        name: {part: statistics.median(b.get(part, 0) for b in runs) for part in PARTS}
        for name, runs in (("bare", bare), ("eddyline", ours))
    }
    ratio = medians["eddyline"]["triggerExecution"] / medians["bare"]["triggerExecution"]
    return {
        "machine": machine(),
        "batches": len(bare),
        "median_ms": medians,
        "in_shard_ms": {phase: round(1e3 * s, 1) for phase, s in in_shard.items()},
        "ratio": round(ratio, 2),
        "asked": ASKED,
    }


def show(figures: Mapping[str, Any], console: Console) -> None:
    """The table of parts and the verdict."""
    title = f"A trigger of {2 * _ROWS} rows, ms: {_QUERIES} queries, {_SINKS} Parquet sinks"
    table = Table("part", title=f"{title}; medians of {figures['batches']} batches")
    for heading in ("bare pipeline", "Eddyline"):
        table.add_column(heading, justify="right")
    medians = figures["median_ms"]
    for part, meaning in PARTS.items():
        ms = [f"{medians[name][part]:.0f}" for name in ("bare", "eddyline")]
        table.add_row(meaning, *ms)
    for phase, ms in figures["in_shard_ms"].items():
        table.add_row(f"in the shard, last batch: {phase}", "", f"{ms:.0f}")
    console.print(table)
    verdict = "holds" if figures["ratio"] <= figures["asked"] else "does not hold"
    console.print(f"ratio {figures['ratio']:.2f}; asked: at most {figures['asked']}: {verdict}")


def _durations(query: StreamingQuery | Run, count: int) -> Durations:
    """Wait for ``count`` batches with rows; the durations of those after the warm-up."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        filled = [p for p in query.recentProgress if p.numInputRows]
        if len(filled) >= count:
            return [p.durationMs for p in filled[_WARM_UP:count]]
        if not query.isActive:
            raise StateError(f"the query ended early: {query.exception()}")
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(filled)} of {count} batches in {_TIMEOUT_S:.0f} s")
        time.sleep(0.2)


def _write_source(path: Path, count: int) -> Path:
    """A directory of small files; Spark's order is that of their times."""
    path.mkdir()
    for number in range(count):
        second = 1_000_000
        ts = pa.array([second * number + i for i in range(_ROWS)]).cast(pa.timestamp("us", "UTC"))
        rows = pa.table({"ts": ts, "k": list(range(_ROWS)), "v": list(range(_ROWS))})
        file = path / f"{number:03}.parquet"
        pq.write_table(rows, file)
        os.utime(file, (1e9 + number, 1e9 + number))
    return path

"""``eddyline bench shards``: the same job with one shard and with two, on two cores.

Queries whose engines, not Spark, are busy: a join on one key, 10,000 rules, a sliding GROUP BY and
a chain of joins on two keys. Runs with one and with two shards alternate. Two figures of each: the
whole job (all batches but the first of a run, from trigger to commit), and the stage of the shards
(the longest time that an engine took in the last batch).
"""

from __future__ import annotations

import json as json_
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from eddyline.bench.measure import machine
from eddyline.bench.queries.rules import RuleWorkload
from eddyline.spark.environment import local_session
from eddyline.spark.session import Session
from eddyline.types import TIMESTAMP

#: With two shards the stage of the shards and the whole job have to be this many times as fast.
ASKED_STAGE: Final = 1.7
ASKED_JOB: Final = 1.5
_CORES: Final = 2
_SHARDS: Final = (1, 2)
_RULES: Final = 10_000
_COLUMNS: Final = "ts TIMESTAMP, k BIGINT, l BIGINT, x DOUBLE, y DOUBLE"
_KEYS: Final = 2_000


class Run(NamedTuple):
    """One run: rows of its warm batches, all results, seconds of these batches and of the stage."""

    rows: int
    results: int
    seconds: float
    stage: float


@dataclass(frozen=True)
class Workload:
    """A job over one or several of the streams a, b and c.

    Attributes:
        streams: their names. rows: of one stream and batch.
        define: adds the queries to a session.
    """

    name: str
    streams: str
    rows: int
    define: Callable[[SparkSession, Session], None]


def run_shards(*, rounds: int = 5, batches: int = 4, json: bool = False) -> None:
    """Measure, and print a table and the verdicts.

    Args:
        rounds: runs of each. batches: of a run; the first is left out.
        json: print one JSON object instead.

    Raises:
        SetupError: Java is missing.
    """
    if hasattr(os, "sched_setaffinity"):  # the JVM and the workers inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    os.environ.setdefault("EDDYLINE_DRIVER_MEMORY", "8g")
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch:
        spark = local_session(_CORES, Path(scratch, "spark.log"))
        found = []
        for workload in workloads():
            print(f"{workload.name} ...", file=sys.stderr, flush=True)
            found.append(measured(spark, Path(scratch), workload, rounds, batches))
        spark.stop()
    if json:
        print(json_.dumps({"machine": machine(), "workloads": found}, indent=2))
    else:
        _show(found, Console())


def workloads() -> Iterator[Workload]:
    """The four jobs."""
    yield Workload("join on one key", "ab", 250_000, partial(_query, select=_join(60)))
    yield Workload(f"{_RULES:,} rules", "a", 500_000, _rules)
    group = "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM a [RANGE 60 SECONDS] GROUP BY k"
    yield Workload("sliding GROUP BY", "a", 500_000, partial(_query, select=group))
    yield Workload("chain of three on two keys", "abc", 100_000, partial(_query, select=_chain(20)))


def _join(seconds: int) -> str:
    return (
        f"SELECT a.k, a.x, b.y FROM a [RANGE {seconds} SECONDS], b [RANGE {seconds} SECONDS] "
        "WHERE a.k = b.k"
    )


def _chain(seconds: int) -> str:
    sources = ", ".join(f"{name} [RANGE {seconds} SECONDS]" for name in "abc")
    return f"SELECT a.k, a.x, b.y, c.l FROM {sources} WHERE a.k = b.k AND b.l = c.l"


def _query(spark: SparkSession, session: Session, *, select: str) -> None:
    session.query("q", select, sink="noop")


def _rules(spark: SparkSession, session: Session) -> None:
    workload = RuleWorkload(_RULES)
    session.table("rules", spark.createDataFrame(workload.table))
    session.sql(workload.for_each().replace("FROM s ", "FROM a ") + " WITH (sink = 'noop')")


def measured(
    spark: SparkSession, scratch: Path, workload: Workload, rounds: int, batches: int
) -> dict[str, Any]:
    """The medians of a workload, and how many times as fast two shards are.

    Raises:
        AssertionError: the results differ, or the rows are not divided.
    """
    folder = scratch / workload.name.replace(" ", "_")
    for number, name in enumerate(workload.streams):
        _write(folder / name, number, workload.rows, batches)
    runs: dict[int, list[Run]] = {shards: [] for shards in _SHARDS}
    for round_ in range(rounds + 1):
        for shards in _SHARDS if round_ % 2 else reversed(_SHARDS):
            run = _run(spark, folder, workload, shards, batches)
            if round_:  # round 0 warms up the JVM
                runs[shards].append(run)
    results = {run.results for of in runs.values() for run in of}
    if len(results) > 1:
        raise AssertionError(f"{workload.name}: numbers of results differ: {sorted(results)}")
    return _report(workload, runs)


def _run(spark: SparkSession, folder: Path, workload: Workload, shards: int, batches: int) -> Run:
    session = Session(spark, shards=shards)
    for name in workload.streams:
        session.sql(
            f"CREATE STREAM {name} ({_COLUMNS}) TIMESTAMP BY ts WITH (source = 'parquet', "
            f"path = '{folder / name}', maxFilesPerTrigger = 1)"
        )
    workload.define(spark, session)
    job = session.start(available_now=True)
    job.awaitTermination()
    filled = [b for b in job.recentProgress if b.numInputRows]
    engines = job.shards()
    if len(engines) != shards:
        raise AssertionError(f"{workload.name}: {len(engines)} engines with shards = {shards}")
    stage = max(engine["seconds"]["process"] for engine in engines)
    results = sum(job.progress().rows_out.values())
    job.finish()
    warm = filled[1:]
    rows = sum(len(workload.streams) * workload.rows for _ in warm)
    return Run(rows, results, sum(b.batchDuration for b in warm) / 1_000, stage)


def _write(folder: Path, number: int, rows: int, batches: int) -> None:
    """A stream as files, a row each millisecond. Spark takes files by age: the order of time."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(number)
    for batch in range(batches):
        ts = 1_000_000 + (np.arange(rows, dtype=np.int64) + batch * rows) * 1_000 + number
        table = pa.table(
            {
                "ts": pa.array(ts).cast(TIMESTAMP),
                "k": random.integers(0, _KEYS, rows),
                "l": random.integers(0, _KEYS, rows),
                "x": random.random(rows),
                "y": random.random(rows),
            }
        )
        file = folder / f"{batch:03}.parquet"
        pq.write_table(table, file)
        os.utime(file, (1e9 + batch, 1e9 + batch))


def _report(workload: Workload, runs: Mapping[int, Sequence[Run]]) -> dict[str, Any]:
    job = {s: statistics.median(r.seconds for r in of) for s, of in runs.items()}
    stage = {s: statistics.median(r.stage for r in of) for s, of in runs.items()}
    rows = runs[1][0].rows
    return {
        "name": workload.name,
        "results": runs[1][0].results,
        "rows_per_s": {s: round(rows / seconds) for s, seconds in job.items()},
        "stage_ms": {s: round(1e3 * seconds, 1) for s, seconds in stage.items()},
        "job_ratio": round(job[1] / job[2], 2),
        "stage_ratio": round(stage[1] / stage[2], 2),
    }


def _show(found: Sequence[Mapping[str, Any]], console: Console) -> None:
    table = Table(title="One shard and two, on two cores")
    for column in ("", "rows/s: 1", "rows/s: 2", "job", "stage ms: 1", "stage ms: 2", "stage"):
        table.add_column(column, justify="left" if not column else "right")
    for each in found:
        rates, stages = each["rows_per_s"], each["stage_ms"]
        table.add_row(
            each["name"],
            *(f"{rates[s]:,}" for s in _SHARDS),
            f"{each['job_ratio']}x",
            *(f"{stages[s]:,}" for s in _SHARDS),
            f"{each['stage_ratio']}x",
        )
    console.print(table)
    console.print(f"Asked: stage {ASKED_STAGE}x, job {ASKED_JOB}x.")

"""``eddyline bench throughput``: rows per second through Spark, beside the job without an engine.

The two-way join of ``bench micro`` and 10,000 rules, on two cores with two shards. Beside each runs
the same job with its engine taken out (``engine_taken_out.py``), over the same batches in turns
(``side_by_side.py``): what Spark, ingest, log and delivery cost whatever the queries do.
"""

from __future__ import annotations

import json as json_
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from eddyline.bench.embedded import join_select
from eddyline.bench.engine_taken_out import engine_taken_out
from eddyline.bench.measure import machine
from eddyline.bench.queries.rules import COLUMNS as POINT_COLUMNS
from eddyline.bench.queries.rules import RuleWorkload, points
from eddyline.bench.side_by_side import (
    CORES,
    FILES,
    TRIGGER,
    Input,
    Round,
    note,
    side_by_side,
    two_cores,
)
from eddyline.bench.workload import BenchLoad
from eddyline.errors import EddylineError
from eddyline.spark.run import Run
from eddyline.spark.session import Session
from eddyline.types import TIMESTAMP

#: A job that is slower than asked may take at most this many times the time without an engine.
ASKED_OF_BOUND: Final = 1.3
_RULES: Final = 10_000
_JOB, _BOUND = "job", "without engine"


@dataclass(frozen=True)
class Workload:
    """A job.

    Attributes:
        name: for ``--case``. title: for people. streams: names. columns: of each stream.
        make: its rows: see ``Input``. define: adds the query to a session.
        asked: rows per second.
    """

    name: str
    title: str
    streams: str
    columns: str
    make: Callable[[int, int, int], pa.Table]
    define: Callable[[SparkSession, Session], None]
    asked: int


def workloads() -> Iterator[Workload]:
    """The two jobs."""
    columns = "ts TIMESTAMP, k BIGINT, v BIGINT"
    yield Workload("join", "join of two streams", "ab", columns, pairs, _join, 1_500_000)
    yield Workload("rules", f"{_RULES:,} rules", "s", POINT_COLUMNS, _points, _rules, 600_000)


def run_throughput(
    *, case: str | None = None, rounds: int = 5, rows: int = 1_000_000, json: bool = False
) -> None:
    """Measure, and print a table and the verdicts.

    Args:
        case: the only one to measure. rounds: measured batches. rows: of a batch, of all streams.
        json: print one JSON object instead.

    Raises:
        SetupError: Java is missing. EddylineError: there is no such case.
    """
    names = [w.name for w in workloads()]
    if case is not None and case not in names:
        raise EddylineError(f"there is no case '{case}'; the cases are {', '.join(names)}")
    found = []
    with (
        tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch,
        two_cores(Path(scratch, "spark.log")) as spark,
    ):
        for workload in workloads():
            if case in (None, workload.name):
                note(workload.title)
                found.append(measured(spark, Path(scratch), workload, rounds, rows))
    if json:
        asked = {"of_bound": ASKED_OF_BOUND} | {w.title: w.asked for w in workloads()}
        print(json_.dumps({"machine": machine(), "asked": asked, "workloads": found}, indent=2))
    else:
        _show(found, Console())


def pairs(stream: int, first: int, rows: int) -> pa.Table:
    """Rows of ``BenchLoad``'s kind: 1,000 rows/s, uniform keys; those of b between those of a."""
    load = BenchLoad()
    number = np.arange(first, first + rows, dtype=np.int64)
    return pa.table(
        {
            "ts": pa.array(number * 1_000 + 1_000_000 + stream * 500).cast(TIMESTAMP),
            "k": np.random.default_rng([stream, first]).integers(0, load.keys, rows),
            "v": number,
        }
    )


def _points(stream: int, first: int, rows: int) -> pa.Table:
    return points(first, rows)


def _join(spark: SparkSession, session: Session) -> None:
    session.query("q", join_select(BenchLoad()), sink="noop")


def _rules(spark: SparkSession, session: Session) -> None:
    workload = RuleWorkload(_RULES)
    session.table("rules", spark.createDataFrame(workload.table))
    session.sql(workload.for_each() + " WITH (sink = 'noop')")


def measured(
    spark: SparkSession, scratch: Path, workload: Workload, rounds: int, rows: int
) -> dict[str, Any]:
    """The medians of the job and of the one without an engine.

    Raises:
        AssertionError: a job has lost rows, or the one with an engine has no results.
    """
    folder = scratch / workload.name
    given = Input(folder, workload.streams, rows // len(workload.streams), workload.make)
    started = {_JOB: _start(spark, workload, given, _JOB)}
    with engine_taken_out():
        started[_BOUND] = _start(spark, workload, given, _BOUND)
    jobs = {name: run for name, (_, run) in started.items()}
    found = side_by_side(jobs, given, rounds)
    read = {name: job.progress().rows_in for name, job in jobs.items()}
    assert read[_JOB] == read[_BOUND], f"{workload.name}: different rows have been read: {read}"
    results = {name: sum(job.progress().rows_out.values()) for name, job in jobs.items()}
    assert results[_JOB] and not results[_BOUND], f"{workload.name}: results: {results}"
    return _report(workload, found, given.batch_rows, results[_JOB] / sum(read[_JOB].values()))


def _start(spark: SparkSession, workload: Workload, given: Input, name: str) -> tuple[Session, Run]:
    """The session has to be kept: it owns the checkpoint."""
    session = Session(spark, shards=CORES, trigger=TRIGGER)
    for stream in workload.streams:
        session.sql(
            f"CREATE STREAM {stream} ({workload.columns}) TIMESTAMP BY ts WITH "
            f"(source = 'parquet', path = '{given.path(name, stream)}', "
            f"maxFilesPerTrigger = {FILES})"
        )
    workload.define(spark, session)
    return session, session.start()


def _report(
    workload: Workload, found: Mapping[str, Sequence[Round]], rows: int, per_row: float
) -> dict[str, Any]:
    seconds = {name: statistics.median(r.seconds for r in of) for name, of in found.items()}
    cpu = {name: statistics.median(r.cpu for r in of) for name, of in found.items()}
    rates = {name: round(rows / s) for name, s in seconds.items()}
    ratio = seconds[_JOB] / seconds[_BOUND]
    return {
        "name": workload.title,
        "rounds": len(found[_JOB]),
        "results_per_row": round(per_row, 2),
        "rows_per_s": rates,
        "cpu_s_per_million_rows": {name: round(1e6 * s / rows, 2) for name, s in cpu.items()},
        "asked_rows_per_s": workload.asked,
        "ratio": round(ratio, 2),
        "cpu_ratio": round(cpu[_JOB] / cpu[_BOUND], 2),
    }


def verdict(figures: Mapping[str, Any]) -> str:
    """What was asked, and whether it holds: the rate, or else the ratio to the bound."""
    rate, asked = figures["rows_per_s"][_JOB], figures["asked_rows_per_s"]
    text = f"{figures['name']}: {rate:,} rows/s (asked {asked:,}), "
    text += f"{figures['ratio']:.2f} times the time without an engine (asked {ASKED_OF_BOUND})"
    if rate >= asked:
        return f"{text}: holds"
    bounded = figures["ratio"] <= ASKED_OF_BOUND
    return f"{text}: {'slower than asked, bounded by Spark' if bounded else 'does not hold'}"


def _show(found: Sequence[Mapping[str, Any]], console: Console) -> None:
    title = "Two shards on two cores, with the engine and without"
    table = Table(title=f"{title}: medians of {found[0]['rounds']} batches")
    for column in ("", "rows/s", "without", "CPU s/M rows", "without", "results/row"):
        table.add_column(column, justify="left" if not column else "right")
    for each in found:
        rates, cpu = each["rows_per_s"], each["cpu_s_per_million_rows"]
        cells = [*(f"{n:,}" for n in rates.values()), *(f"{s:.2f}" for s in cpu.values())]
        table.add_row(each["name"], *cells, f"{each['results_per_row']:.2f}")
    console.print(table)
    for each in found:
        console.print(verdict(each))

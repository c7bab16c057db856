"""``eddyline bench shards``: the same job with one shard and with two, on two cores.

Queries whose engines, not Spark, are busy: a join on one key, 10,000 rules, a sliding GROUP BY and
a chain of joins on two keys. Few results leave the engines, so that their work is most of a batch.
Both jobs run in one Spark session and get the same batches in turns (``side_by_side.py``). Two
times of each: the whole job, from trigger to commit, and the stage of the shards, the longest time
of one.

The last case deals the rows of the chain to four shards and compares the copies of its rows with
those that the planner predicts.
"""

from __future__ import annotations

import json as json_
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from eddyline.bench.measure import machine
from eddyline.bench.queries.rules import RuleWorkload
from eddyline.bench.replication import CASE as REPLICATION
from eddyline.bench.replication import Copies, measured_copies, show_copies
from eddyline.bench.side_by_side import FILES, TRIGGER, Input, Round, note, side_by_side, two_cores
from eddyline.errors import EddylineError
from eddyline.spark.run import Run
from eddyline.spark.session import Session
from eddyline.types import TIMESTAMP

#: With two shards the stage of the shards and the whole job have to be this many times as fast.
ASKED_STAGE: Final = 1.7
ASKED_JOB: Final = 1.5
_SHARDS: Final = (1, 2)
_RULES: Final = 10_000
COLUMNS: Final = "ts TIMESTAMP, k BIGINT, l BIGINT, x DOUBLE, y DOUBLE"


@dataclass(frozen=True)
class Workload:
    """A job over one or several of the streams a, b and c.

    Attributes:
        name: for ``--case``. title: for people. streams: their names.
        rows: of one stream and batch. keys: number of values of k, and of l.
        define: adds the queries to a session.
    """

    name: str
    title: str
    streams: str
    rows: int
    keys: int
    define: Callable[[SparkSession, Session], None]

    def input(self, folder: Path) -> Input:
        """Its streams, a row each millisecond."""
        return Input(folder, self.streams, self.rows, partial(rows_of, keys=self.keys))


def run_shards(*, case: str | None = None, rounds: int = 5, json: bool = False) -> None:
    """Measure, and print a table and the verdicts.

    Args:
        case: the only one to measure. rounds: measured batches of each job.
        json: print one JSON object instead.

    Raises:
        SetupError: Java is missing. EddylineError: there is no such case.
    """
    names = [*(w.name for w in workloads()), REPLICATION]
    if case is not None and case not in names:
        raise EddylineError(f"there is no case '{case}'; the cases are {', '.join(names)}")
    found, copies = [], []
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch:
        folder = Path(scratch)
        with two_cores(folder / "spark.log") as spark:
            for workload in workloads():
                if case in (None, workload.name):
                    note(workload.title)
                    found.append(measured(spark, folder, workload, rounds))
            if case in (None, REPLICATION):
                note("replication of the chain")
                chain = next(w for w in workloads() if w.name == "chain")
                copies = measured_copies(spark, chain.input(folder / REPLICATION), CHAIN, COLUMNS)
    if json:
        print(json_.dumps(report(found, copies), indent=2))
    else:
        _show(found, copies, Console())


def workloads() -> Iterator[Workload]:
    """The four jobs."""
    join = (
        "SELECT a.k, a.x, b.y FROM a [RANGE 60 SECONDS], b [RANGE 60 SECONDS] "
        "WHERE a.k = b.k AND a.x + b.y < 0.1"
    )
    yield Workload("join", "join on one key", "ab", 400_000, 1_000, partial(_query, select=join))
    yield Workload("rules", f"{_RULES:,} rules", "a", 2_000_000, 1_000, _rules)
    group = (
        "SELECT k, COUNT(*) AS n, SUM(x) AS s, MIN(x) AS low, MAX(y) AS high, STDDEV(y) AS d "
        "FROM a [RANGE 60 SECONDS] GROUP BY k HAVING SUM(x) > 22"
    )
    yield Workload("group", "sliding GROUP BY", "a", 600_000, 2_000, partial(_query, select=group))
    title = "chain of three on two keys"
    yield Workload("chain", title, "abc", 150_000, 5_000, partial(_query, select=CHAIN))


CHAIN: Final = (
    "SELECT a.k, a.x, b.y, c.l FROM a [RANGE 30 SECONDS], b [RANGE 30 SECONDS], "
    "c [RANGE 30 SECONDS] WHERE a.k = b.k AND b.l = c.l AND a.x + b.y < 0.2 AND b.x + c.y < 0.2"
)


def _query(spark: SparkSession, session: Session, *, select: str) -> None:
    session.query("q", select, sink="noop")


def _rules(spark: SparkSession, session: Session) -> None:
    workload = RuleWorkload(_RULES)
    session.table("rules", spark.createDataFrame(workload.table))
    session.sql(workload.for_each().replace("FROM s ", "FROM a ") + " WITH (sink = 'noop')")


def rows_of(stream: int, first: int, rows: int, *, keys: int) -> pa.Table:
    """Rows ``first``, ``first + 1``, ... of a stream; the same numbers are the same rows."""
    random = np.random.default_rng([stream, first])
    ts = 1_000_000 + (np.arange(rows, dtype=np.int64) + first) * 1_000 + stream
    return pa.table(
        {
            "ts": pa.array(ts).cast(TIMESTAMP),
            "k": random.integers(0, keys, rows),
            "l": random.integers(0, keys, rows),
            "x": random.random(rows),
            "y": random.random(rows),
        }
    )


def measured(spark: SparkSession, scratch: Path, workload: Workload, rounds: int) -> dict[str, Any]:
    """The medians of a workload, and how many times as fast two shards are.

    Raises:
        AssertionError: the results differ, or the rows are not divided.
    """
    rows = workload.input(scratch / workload.name)
    started = {str(shards): _start(spark, workload, rows, shards) for shards in _SHARDS}
    jobs = {name: run for name, (_, run) in started.items()}
    found = side_by_side(jobs, rows, rounds)
    for shards in _SHARDS:
        engines = len(jobs[str(shards)].shards())
        assert engines == shards, f"{workload.name}: {engines} engines with shards = {shards}"
    results = {sum(job.progress().rows_out.values()) for job in jobs.values()}
    assert len(results) == 1, f"{workload.name}: numbers of results differ: {sorted(results)}"
    return _report(workload, found, results.pop())


def _start(
    spark: SparkSession, workload: Workload, rows: Input, shards: int
) -> tuple[Session, Run]:
    """The session has to be kept: it owns the checkpoint."""
    session = Session(spark, shards=shards, trigger=TRIGGER)
    for name in workload.streams:
        session.sql(
            f"CREATE STREAM {name} ({COLUMNS}) TIMESTAMP BY ts WITH (source = 'parquet', "
            f"path = '{rows.path(str(shards), name)}', maxFilesPerTrigger = {FILES})"
        )
    workload.define(spark, session)
    return session, session.start()


def _report(
    workload: Workload, runs: Mapping[str, Sequence[Round]], results: int
) -> dict[str, Any]:
    def medians(what: str) -> dict[str, float]:
        return {s: statistics.median(getattr(r, what) for r in of) for s, of in runs.items()}

    job, stage, engine, cpu = (medians(what) for what in ("seconds", "stage", "engine", "cpu"))
    rows = len(workload.streams) * workload.rows
    return {
        "name": workload.title,
        "rounds": len(runs["1"]),
        "results": results,
        "rows_per_s": {s: round(rows / seconds) for s, seconds in job.items()},
        "stage_ms": {s: round(1e3 * seconds) for s, seconds in stage.items()},
        "engine_ms": {s: round(1e3 * seconds) for s, seconds in engine.items()},
        "cpu_s_per_million_rows": {s: round(1e6 * c / rows, 2) for s, c in cpu.items()},
        "job_ratio": round(job["1"] / job["2"], 2),
        "stage_ratio": round(stage["1"] / stage["2"], 2),
    }


def report(found: Sequence[Mapping[str, Any]], copies: Sequence[Copies]) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "asked": {"stage": ASKED_STAGE, "job": ASKED_JOB},
        "workloads": list(found),
        "replication": [c._asdict() for c in copies],
    }


def verdicts(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line per workload: what was asked, and whether it holds."""
    lines = []
    for each in found:
        holds = each["stage_ratio"] >= ASKED_STAGE and each["job_ratio"] >= ASKED_JOB
        lines.append(
            f"{each['name']}: stage {each['stage_ratio']:.2f}x (asked {ASKED_STAGE}x), "
            f"job {each['job_ratio']:.2f}x (asked {ASKED_JOB}x): "
            f"{'holds' if holds else 'does not hold'}"
        )
    return lines


def _show(found: Sequence[Mapping[str, Any]], copies: Sequence[Copies], console: Console) -> None:
    if found:
        rounds = found[0]["rounds"]
        table = Table(title=f"One shard and two, on two cores: medians of {rounds} batches")
        for column in ("", "rows/s: 1", "2", "stage ms: 1", "2", "engine ms: 1", "2"):
            table.add_column(column, justify="left" if not column else "right")
        for each in found:
            of = [each[what] for what in ("rows_per_s", "stage_ms", "engine_ms")]
            table.add_row(each["name"], *(f"{n[str(s)]:,}" for n in of for s in _SHARDS))
        console.print(table)
        for line in verdicts(found):
            console.print(line)
    if copies:
        show_copies(copies, console)

"""``eddyline bench flink``: the patterns, one by one; both engines in turn."""

from __future__ import annotations

import json as json_
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import eddyline
from eddyline.bench.figures.console import progress_bar
from eddyline.bench.flink.jvm import Ran, flink
from eddyline.bench.measure import machine
from eddyline.types import TIMESTAMP

_ROWS: Final = 2_000_000
_KEYS: Final = 10_000
_BATCH_ROWS: Final = 100_000
_REPEATS: Final = 3
#: How many times as fast as Flink each pattern has to be.
LEAST: Final = 10.0

_DEFINE: Final = "A AS A.v < 300, B AS B.v >= 300 AND B.v < 700, C AS C.v >= 700"
_TEXT: Final = """\
SELECT k, a, b, c FROM a MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY ts
  MEASURES {measures}
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN ({pattern}) WITHIN INTERVAL '10' MINUTE
  DEFINE {define})"""
#: The patterns, all of three steps: as both engines take them.
PATTERNS: Final[dict[str, str]] = {
    "A B C": _TEXT.format(measures="A.v AS a, B.v AS b, C.v AS c", pattern="A B C", define=_DEFINE),
    "A B+ C": _TEXT.format(
        measures="A.v AS a, COUNT(B.v) AS b, C.v AS c", pattern="A B+ C", define=_DEFINE
    ),
    "A B C, of PREV": _TEXT.format(
        measures="A.v AS a, B.v AS b, C.v AS c",
        pattern="A B C",
        define="A AS A.v < 500, B AS B.v > A.v, C AS C.v > LAST(B.v, 0) + 100",
    ),
}
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)


def run_flink(*, rows: int = _ROWS, json: bool = False) -> None:
    """Measure, and print a row per pattern.

    Args:
        rows: of the stream, one each millisecond.
        json: print one JSON object to standard output instead of a table.

    Raises:
        SetupError: Java, its compiler, Maven or Flink is missing.
        AssertionError: the engines have found different matches.
    """
    made = columns(rows)
    found: dict[str, tuple[list[Ran], list[Ran]]] = {}
    with tempfile.TemporaryDirectory() as folder, progress_bar() as progress:
        file = Path(folder, "rows")
        np.concatenate(made).astype("<i8").tofile(file)
        task = progress.add_task("Flink starts", total=len(PATTERNS) * (_REPEATS + 1))
        with flink(file, Path(folder)) as theirs:
            for name, sql in PATTERNS.items():
                runs: tuple[list[Ran], list[Ran]] = ([], [])
                for _ in range(_REPEATS + 1):  # the first one warms up
                    progress.update(task, description=name)
                    runs[0].append(matched(sql, made))
                    runs[1].append(theirs.run(sql))
                    progress.advance(task)
                check_agreement(name, [*runs[0], *runs[1]])
                found[name] = runs[0][1:], runs[1][1:]
    if json:
        print(json_.dumps(report(found), indent=2))
    else:
        show(found, Console())


def columns(rows: int) -> list[npt.NDArray[np.int64]]:
    """int64[rows] each: ts in milliseconds, k and v."""
    random = np.random.default_rng(3)
    return [np.arange(rows), random.integers(0, _KEYS, rows), random.integers(0, 1_000, rows)]


def matched(sql: str, made: Sequence[npt.NDArray[np.int64]]) -> Ran:
    """Run a query in an engine, from Arrow to Arrow."""
    ts, k, v = made
    engine = eddyline.Engine()
    engine.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    engine.query(sql, name="q")
    batches = []
    for at in range(0, ts.size, _BATCH_ROWS):
        part = slice(at, at + _BATCH_ROWS)
        instants = pa.array(ts[part] * 1_000).cast(TIMESTAMP)
        batches.append(pa.table({"ts": instants, "k": k[part], "v": v[part]}))
    began = time.perf_counter()
    out = [engine.process({"a": batch})["q"] for batch in batches]
    seconds = time.perf_counter() - began
    table = pa.concat_tables(out).select(["k", "a", "b", "c"])
    return Ran(ts.size, table.num_rows, hashes(table), seconds)


def hashes(table: pa.Table) -> int:
    """The sum of the hashes of rows, as in ``FlinkPatterns.java``."""
    hashed = np.zeros(table.num_rows, np.uint64)
    for column in table.columns:
        hashed = hashed * _FACTOR + column.to_numpy().astype(np.int64).view(np.uint64)
        hashed ^= hashed >> np.uint64(32)
    return int(hashed.sum(dtype=np.uint64).astype(np.int64))


def check_agreement(name: str, runs: Sequence[Ran]) -> None:
    """Fail unless all runs have found the same matches."""
    different = {run[:3] for run in runs}
    assert len(different) == 1, f"{name}: matches differ: {different}"


def _seconds(runs: Sequence[Ran]) -> float:
    return statistics.median(run.seconds for run in runs)


def ratio(ours: Sequence[Ran], theirs: Sequence[Ran]) -> float:
    """How many times as fast as Flink, by medians."""
    return _seconds(theirs) / _seconds(ours)


def report(found: Mapping[str, tuple[Sequence[Ran], Sequence[Ran]]]) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "patterns": {
            name: {
                "matches": ours[0].results,
                "rows_per_s": round(ours[0].rows / _seconds(ours)),
                "flink_rows_per_s": round(theirs[0].rows / _seconds(theirs)),
                "ratio": round(ratio(ours, theirs), 1),
            }
            for name, (ours, theirs) in found.items()
        },
        "least": LEAST,
    }


def show(found: Mapping[str, tuple[Sequence[Ran], Sequence[Ran]]], console: Console) -> None:
    """A row per pattern."""
    table = Table("pattern", title=f"Rows/s, {_KEYS:,} partitions, medians; the same matches")
    for heading in ("Eddyline", "Flink SQL", "times", "matches"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for name, (ours, theirs) in found.items():
        times = ratio(ours, theirs)
        speeds = (f"{runs[0].rows / _seconds(runs):,.0f}" for runs in (ours, theirs))
        holds = "" if times >= LEAST else f"< {LEAST:g}"
        table.add_row(name, *speeds, f"{times:.1f}", f"{ours[0].results:,}", holds)
    console.print(table)

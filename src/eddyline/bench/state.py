"""``eddyline bench state``: the cost of a shard's durable state, without Spark.

Spark's state variables are dictionaries here, and the checkpoint is a temporary directory, so what
is measured is the work of Eddyline: whether small batches stay as cheap as they were, whether a
batch waits for a snapshot of large windows, and how long a restart takes.
"""

from __future__ import annotations

import json as json_
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from eddyline import Engine
from eddyline.bench.embedded import join_engine
from eddyline.bench.measure import apart, machine
from eddyline.bench.workload import BenchLoad
from eddyline.runtime.stores.columns import Array
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.exchange.row_files import RowFile, ShardFiles, WrittenFiles
from eddyline.spark.workers.batch_log import BatchLog
from eddyline.spark.workers.durable import CommitRecord, DurableState, EngineBatch
from eddyline.spark.workers.shard_engine import ShardEngine
from eddyline.types import TIMESTAMP

#: Small batches, and how many of them at either end are compared.
SMALL_BATCHES: Final = 20_000
_COMPARED: Final = 1_000
_SMALL_ROWS: Final = 28  # about 1 KB
#: Rows in the windows of the second case; batches of which they consist.
WINDOW_ROWS: Final = 10_000_000
_BATCHES_OF_WINDOWS: Final = 200
#: Of the second case.
_RUNS: Final = 5


class StoredValue:
    """Spark's ValueState in memory; counts the bytes written."""

    def __init__(self) -> None:
        self.written = 0
        self._value: tuple[Any, ...] | None = None

    def get(self) -> tuple[Any, ...] | None:
        return self._value

    def update(self, newValue: tuple[Any, ...]) -> None:
        self._value = newValue
        self.written += len(newValue[0])


class StoredMap(dict[tuple[Any, ...], tuple[Any, ...]]):
    """Spark's MapState in memory; counts the bytes written."""

    written = 0

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return self.get(key)

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        self[key] = value
        self.written += len(value[0])

    def removeKey(self, key: tuple[Any, ...]) -> None:
        del self[key]


class MeasuredShard:
    """An engine with its durable state.

    Attributes:
        seconds: of each batch: of the engine, of the commit.
        nbytes: that each batch has written, with its rows.
    """

    def __init__(self, engine: Engine) -> None:
        self.seconds: list[tuple[float, float]] = []
        self.nbytes: list[int] = []
        self._directory = TemporaryDirectory()
        self._checkpoint = f"file:{self._directory.name}"
        self._engine = ShardEngine(engine)
        self._record = CommitRecord()
        self._stored = (StoredValue(), StoredMap(), StoredMap())

    def process(self, tables: Mapping[str, pa.Table]) -> None:
        """Process and commit a batch."""
        number = len(self.seconds)
        written, files = sum(part.written for part in self._stored), self._files()
        pieces = tuple((name, self._sent(number, rows)) for name, rows in tables.items())
        batch, state = EngineBatch(pieces, number, number=number), self._state(number)
        begin = time.perf_counter()
        self._engine.apply(batch)
        processed = time.perf_counter()
        self._record.version += 1
        state.commit(self._record, batch, self._engine)
        self.seconds.append((processed - begin, time.perf_counter() - processed))
        now = self._files()
        new = sum(now[path] for path in now.keys() - files.keys())
        self.nbytes.append(sum(part.written for part in self._stored) - written + new)

    def restart(self) -> tuple[float, int]:
        """Seconds to rebuild the engine, and the number of batches replayed for that."""
        begin, state = time.perf_counter(), self._state(len(self.seconds))
        record = state.commit_record()
        assert record is not None, "a batch has been committed"
        engine = state.restored(record, ShardEngine.load)
        for batch in state.logged(record):
            engine.apply(batch)
        return time.perf_counter() - begin, record.log_batches

    @property
    def stored_bytes(self) -> int:
        """Size of the log and of the snapshot with its segments."""
        values = (len(blob) for part in self._stored[1:] for (blob,) in part.values())
        return sum(values) + sum(self._files().values())

    def _state(self, number: int) -> DurableState:
        value, log, blobs = self._stored
        files = ShardFiles(self._checkpoint, 0, number)
        return DurableState(value, BatchLog(log), blobs, self._checkpoint, files)

    def _sent(self, number: int, rows: pa.Table) -> bytes | RowFile:
        """The rows, as ingest sends them."""
        files = WrittenFiles(self._checkpoint, number)
        if not files.takes(rows):
            return pack(rows)
        return ShardFiles(self._checkpoint, 0).find(files.write(0, rows, None))

    def _files(self) -> dict[Path, int]:
        """The sizes of all files."""
        files = Path(self._directory.name).rglob("*")
        return {path: path.stat().st_size for path in files if path.is_file()}


def run_state(*, batches: int = SMALL_BATCHES, rows: int = WINDOW_ROWS, json: bool = False) -> None:
    """Measure, and print both cases.

    Args:
        batches: small batches of the first case. rows: in the windows of the second case.
        json: print one JSON object instead.
    """
    run = partial(run_large_windows, rows)
    figures = {
        "machine": machine(),
        "small": apart(partial(small_batches, batches)),
        "windows": large_windows(rows, [apart(run) for _ in range(_RUNS)]),
    }
    if json:
        print(json_.dumps(figures, indent=2))
    else:
        show(figures, Console())


def small_batches(count: int) -> dict[str, Any]:
    """Batches of about 1 KB: the first and the last thousand of them."""
    engine = Engine()
    engine.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    engine.query("SELECT k, SUM(v) AS total FROM a [RANGE 60 SECONDS] GROUP BY k", name="q")
    shard = MeasuredShard(engine)
    for number in range(count):
        shard.process({"a": _small_rows(number)})
    compared = min(_COMPARED, max(1, count // 2))
    parts = {"first": slice(0, compared), "last": slice(count - compared, count)}
    return {
        "batches": count,
        "compared": compared,
        "batch_bytes": len(pack(_small_rows(0))),
        **{name: _means(shard, part) for name, part in parts.items()},
        "stored_bytes": shard.stored_bytes,
    }


@dataclass(frozen=True)
class WindowsRun:
    """One run of the second case.

    Attributes:
        seconds: float64[batches, 2], of the engine and the commit. nbytes: int64[batches], written.
        batch_rows: of a batch. stored_bytes: after the last batch.
        restart_s, replayed: of a restart then.
    """

    seconds: Array
    nbytes: Array
    batch_rows: int
    stored_bytes: int
    restart_s: float
    replayed: int


def run_large_windows(rows: int) -> WindowsRun:
    """A join over full windows, and a restart."""
    load = BenchLoad(rows=rows, keys=rows, window_rows=rows // 2)  # a match per row
    shard = MeasuredShard(join_engine(load))
    size = max(2, rows // _BATCHES_OF_WINDOWS)
    for tables in load.batches(size):
        shard.process(tables)
    restart_s, replayed = shard.restart()
    seconds, nbytes = np.array(shard.seconds), np.array(shard.nbytes)
    full = slice(len(seconds) // 2, None)  # by then the windows are full
    stored = shard.stored_bytes
    return WindowsRun(seconds[full], nbytes[full], size, stored, restart_s, replayed)


def large_windows(rows: int, runs: Sequence[WindowsRun]) -> dict[str, Any]:
    """The largest batch beside the median one, and a restart.

    All runs have the same batches. The time of a batch is the median of the runs, so that what the
    machine does meanwhile is not taken for the work of a batch. Settled: the second half of the
    batches, when all memory of the stores has been written once; before, batches get fresh pages.
    """
    seconds = np.median([run.seconds.sum(1) for run in runs], axis=0)
    parts = np.median([run.seconds for run in runs], axis=0)
    median, first = float(np.median(seconds)), runs[0]
    settled = seconds[seconds.size // 2 :]
    return {
        "rows": rows,
        "batch_rows": first.batch_rows,
        "batches": seconds.size,
        "runs": len(runs),
        "median_ms": round(1e3 * median, 2),
        "largest_ms": round(1e3 * float(seconds.max()), 2),
        "largest_over_median": round(float(seconds.max()) / median, 2),
        "settled_largest_over_median": round(float(settled.max() / np.median(settled)), 2),
        **{f"largest_{name}": value for name, value in _costs(parts.max(0), first.nbytes.max())},
        **{f"mean_{name}": value for name, value in _costs(parts.mean(0), first.nbytes.mean())},
        "stored_bytes": first.stored_bytes,
        "restart_s": round(statistics.median(run.restart_s for run in runs), 3),
        "replayed_batches": first.replayed,
    }


def show(figures: Mapping[str, Any], console: Console) -> None:
    """A table of each case."""
    small, windows = figures["small"], figures["windows"]
    title = f"{small['batches']:,} batches of {small['batch_bytes']:,} bytes"
    table = Table("per batch", title=title)
    for name in ("first", "last"):
        table.add_column(f"{name} {small['compared']:,}", justify="right")
    for key in small["first"]:
        table.add_row(_words(key), *(f"{small[name][key]:,}" for name in ("first", "last")))
    console.print(table)
    title = f"windows of {windows['rows']:,} rows, batches of {windows['batch_rows']:,}"
    table = Table("", title=title)
    table.add_column("", justify="right")
    for key, value in windows.items():
        if key not in ("rows", "batch_rows"):
            table.add_row(_words(key), f"{value:,}")
    console.print(table)


def _means(shard: MeasuredShard, part: slice) -> dict[str, float]:
    return dict(_costs(np.array(shard.seconds[part]).mean(0), np.mean(shard.nbytes[part])))


def _costs(seconds: Array, nbytes: Any) -> Iterator[tuple[str, float]]:
    """Of the engine, which includes moving the rows of windows in memory, and of the commit."""
    engine, commit = seconds
    yield "engine_ms", round(1e3 * float(engine), 3)
    yield "commit_ms", round(1e3 * float(commit), 3)
    yield "written_bytes", round(float(nbytes))


def _small_rows(number: int) -> pa.Table:
    """The batch with this number: rows of one second."""
    first = number * _SMALL_ROWS
    v = np.arange(first, first + _SMALL_ROWS, dtype=np.int64)
    ts = pa.array(v * (1_000_000 // _SMALL_ROWS)).cast(TIMESTAMP)
    columns = {"ts": ts, "k": pa.array(v % 7), "v": pa.array(v)}
    return pa.table(columns)


def _words(key: str) -> str:
    words, _, unit = key.rpartition("_")
    text = f"{words}, {unit}" if unit in ("ms", "s", "bytes") else key
    return text.replace("_", " ")

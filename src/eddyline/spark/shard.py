"""The stateful stage: each shard holds one engine and feeds it the fat rows of its inputs."""

from __future__ import annotations

import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from eddyline.session.changes import Changes
from eddyline.session.engine import Engine
from eddyline.session.query import Query
from eddyline.spark import durable
from eddyline.spark.durable import DurableState, Head, Step
from eddyline.spark.fatrows import OUTPUT_COLUMNS, pack, pieces, unpack
from eddyline.spark.pace import Pace
from eddyline.spark.program import ShardSpec
from eddyline.spark.sinks import preview_rows
from eddyline.types import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import TimerValues

#: How many engines a worker process keeps; one that was pushed out is rebuilt when needed.
_CACHED_ENGINES: Final = 16
#: (run, shard) to (token of the committed batch that the engine has processed last, engine).
#: Module globals of a worker outlive its tasks; the processor object does not.
_engines: OrderedDict[tuple[str, int], tuple[str, Engine]] = OrderedDict()
#: (run, shard) to when it may report on its queries again.
_paces: dict[tuple[str, int], Pace] = {}


@dataclass(frozen=True)
class Arrivals:
    """The fat rows of one shard and batch, sorted apart and put in order."""

    rows: tuple[tuple[str, bytes], ...]
    counts: Mapping[str, int]
    max_ts: Mapping[str, int]
    statements: Mapping[int, str]  #: of the control stream, by number
    drain_us: int | None  #: at the end of the input, how far the clock goes behind the last row

    @classmethod
    def read(cls, frames: Iterator[pd.DataFrame]) -> Arrivals:
        """Collect the fat rows; pieces of a stream come in the order (part, seq)."""
        fat = [row for frame in frames for row in frame.itertuples(index=False)]
        fat.sort(key=lambda r: (r.kind, r.name, r.part, r.seq))
        counts: dict[str, int] = {}
        max_ts: dict[str, int] = {}
        for row in fat:
            if row.kind != "control":
                counts[row.name] = counts.get(row.name, 0) + int(row.n)
            if row.kind == "rows" and not pd.isna(row.max_ts):
                max_ts[row.name] = max(max_ts.get(row.name, BEGINNING), int(row.max_ts))
        control = [(r.name, int(r.seq), bytes(r.blob).decode()) for r in fat if r.kind == "control"]
        return cls(
            rows=tuple((r.name, bytes(r.blob)) for r in fat if r.kind == "rows"),
            counts=counts,
            max_ts=max_ts,
            statements={number: text for name, number, text in control if name == "sql"},
            drain_us=max((int(text) for name, _, text in control if name == "end"), default=None),
        )


class EngineProcessor(StatefulProcessor):
    """Runs the engines of the shards whose keys Spark hands to this task.

    Args:
        specs: shard id to what its engine is built from.
    """

    def __init__(self, specs: Mapping[int, ShardSpec]) -> None:
        self._specs = specs

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark calls this for every task."""
        self._state = DurableState(
            handle.getValueState("head", durable.HEAD_SCHEMA),
            handle.getMapState("log", durable.LOG_KEY_SCHEMA, durable.LOG_VALUE_SCHEMA),
            handle.getMapState(
                "snapshot", durable.SNAPSHOT_KEY_SCHEMA, durable.SNAPSHOT_VALUE_SCHEMA
            ),
        )

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Spark calls this once per batch for each shard that has fat rows in it."""
        started = time.perf_counter()
        spec = self._specs[int(key[0])]
        arrivals = Arrivals.read(rows)
        head, engine = self._current(spec)
        step = _step(spec, head, arrivals)
        results = apply(engine, step)
        output = _Output(spec, engine.queries, arrivals, results)
        yield from output.frames()

        head.version += 1
        head.token = secrets.token_hex(8)
        processed = time.perf_counter()
        head.notes = output.totals(head.notes)
        self._state.commit(head, step, engine)
        # Only now: had anything failed, the engine would be ahead of what is committed. And if
        # Spark fails the task after this, the token is not the committed one, and never matches.
        _keep(spec, head.token, engine)
        timing = {"process": processed - started, "commit": time.perf_counter() - processed}
        yield output.progress(head, step, timing, _stats(spec, engine, arrivals))

    def close(self) -> None:
        """Nothing to do: the engines stay with the worker."""

    def _current(self, spec: ShardSpec) -> tuple[Head, Engine]:
        """The committed head and the engine in that state: cached, rebuilt, or new."""
        cached = _engines.pop((spec.run_key, spec.shard), None)
        head = self._state.head()
        if head is None:
            return Head(), spec.build()
        if cached is not None and cached[0] == head.token:
            return head, cached[1]
        engine = self._state.engine(head, spec.functions)
        for step in self._state.steps(head):
            apply(engine, step)
        return head, engine


def apply(engine: Engine, step: Step) -> list[Changes]:
    """Let the engine process one batch. What it returns when replayed was delivered before."""
    for statement in step.statements:
        engine.sql(statement)
    tables: dict[str, list[pa.Table]] = {}
    for stream, blob in step.pieces:
        tables.setdefault(stream, []).append(unpack(blob))
    watermark = BEGINNING if step.watermark_us is None else step.watermark_us
    batch = {stream: pa.concat_tables(parts) for stream, parts in tables.items()}
    results = [engine.process(batch, watermark=watermark)]
    if step.advance_us is not None:
        results.append(engine.advance(step.advance_us))
    return results


def _step(spec: ShardSpec, head: Head, arrivals: Arrivals) -> Step:
    """The batch with its watermark: min over the group's streams of (largest ts - lateness).

    A stream that has had no row yet holds the watermark: its first row may lie anywhere. Changes of
    tables have no say: they may be rare.
    """
    seen: dict[str, int] = head.notes.setdefault("max_ts", {})
    for stream, ts in arrivals.max_ts.items():
        seen[stream] = max(ts, seen.get(stream, ts))
    bounds = [seen[s.name] - s.lateness_us for s in spec.streams if s.name in seen]
    watermark = min(bounds) if len(bounds) == len(spec.streams) else None
    advance = None
    if arrivals.drain_us is not None and seen:
        advance = max(seen.values()) + arrivals.drain_us + 1
    return Step(arrivals.rows, watermark, advance, _due(head, arrivals))


def _due(head: Head, arrivals: Arrivals) -> tuple[str, ...]:
    """The statements to carry out with this batch, in the order of their numbers.

    None is left out: should Spark see a file before an older one, it waits for that.
    """
    waiting: dict[str, str] = head.notes.setdefault("waiting", {})
    done: int = head.notes.setdefault("statements", 0)
    waiting.update((str(n), text) for n, text in arrivals.statements.items() if n > done)
    due = []
    while (statement := waiting.pop(str(done + 1), None)) is not None:
        due.append(statement)
        done += 1
    head.notes["statements"] = done
    return tuple(due)


def _keep(spec: ShardSpec, token: str, engine: Engine) -> None:
    _engines[spec.run_key, spec.shard] = (token, engine)
    while len(_engines) > _CACHED_ENGINES:
        _engines.popitem(last=False)


def _stats(spec: ShardSpec, engine: Engine, arrivals: Arrivals) -> dict[str, Any]:
    """What the engine says of each query; nothing if it did so a short while ago."""
    pace = _paces.setdefault((spec.run_key, spec.shard), Pace())
    if not pace.due and arrivals.drain_us is None:
        return {}
    with pace.measured():
        return {"stats": engine.stats()["queries"]}


class _Output:
    """The fat rows that a batch makes: changes, side outputs, progress."""

    def __init__(
        self,
        spec: ShardSpec,
        queries: Mapping[str, Query],
        arrivals: Arrivals,
        results: list[Changes],
    ) -> None:
        self._spec = spec
        self._previews = {name: preview_rows(query.options) for name, query in queries.items()}
        self._arrivals = arrivals
        self._changes = {
            name: [r[name] for r in results if r[name].num_rows] for name in self._previews
        }
        self._late = {n: [r.late[n] for r in results if n in r.late] for n in spec.inputs}
        self._bad = {n: [r.bad[n] for r in results if n in r.bad] for n in spec.inputs}

    def frames(self) -> Iterator[pd.DataFrame]:
        """Changes and side outputs, one piece per frame: few large values, never all at once."""
        for name, preview in self._previews.items():
            for table in self._changes[name]:
                rows = table if preview is None else table.slice(0, preview)
                n = table.num_rows - rows.num_rows  # the first piece counts what is left out
                for piece in pieces(rows):
                    yield self._frame("changes", name, piece.num_rows + n, pack(piece))
                    n = 0
        for name in self._spec.inputs:
            for kind, tables in (("late", self._late), ("bad", self._bad)):
                for table in tables[name]:
                    for piece in pieces(table):
                        yield self._frame(kind, name, piece.num_rows, pack(piece))

    def totals(self, notes: dict[str, Any]) -> dict[str, Any]:
        """The notes with what this batch adds to the counts since the job began."""
        batch = {
            "rows": {name: self._arrivals.counts.get(name, 0) for name in self._spec.inputs},
            "late": _counts(self._late),
            "bad": _counts(self._bad),
            "out": _counts(self._changes),
        }
        for what, counts in batch.items():
            total: dict[str, int] = notes.setdefault(what, {})
            for name, n in counts.items():
                total[name] = total.get(name, 0) + n
        return notes

    def progress(
        self, head: Head, step: Step, seconds: dict[str, float], stats: dict[str, Any]
    ) -> pd.DataFrame:
        """The row that tells the driver how far this shard is."""
        report = {
            "shard": self._spec.shard,
            "version": head.version,
            "clock_us": step.watermark_us if step.advance_us is None else step.advance_us,
            "arrived": self._arrivals.counts,
            **head.notes,
            "state": {"snapshot_bytes": head.snapshot_bytes, "log_bytes": head.log_bytes},
            "seconds": {name: round(s, 6) for name, s in seconds.items()},
            **stats,
        }
        return self._frame("progress", "", 1, json.dumps(report).encode())

    def _frame(self, kind: str, name: str, n: int, blob: bytes) -> pd.DataFrame:
        return pd.DataFrame([(self._spec.shard, kind, name, n, blob)], columns=OUTPUT_COLUMNS)


def _counts(tables: Mapping[str, list[pa.Table]]) -> dict[str, int]:
    return {name: sum(t.num_rows for t in parts) for name, parts in tables.items()}

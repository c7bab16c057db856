"""The stateful stage: each shard runs one engine over the packed batches of its inputs."""

from __future__ import annotations

import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Final

import pandas as pd

from eddyline.spark.added_layouts import added_specs
from eddyline.spark.batch_log import MapState
from eddyline.spark.control import note_of
from eddyline.spark.durable import CommitRecord, DurableState, EngineBatch, ValueState
from eddyline.spark.gc_control import freeze_live_objects, unfreeze_objects
from eddyline.spark.output import ShardOutput
from eddyline.spark.packed_batches import SMALL_BYTES, Arrivals
from eddyline.spark.rate_limiter import RateLimiter
from eddyline.spark.shard_engine import ShardEngine
from eddyline.spark.shard_program import ShardSpec
from eddyline.spark.snapshots import BlobState
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery

#: Number of engines that a worker process caches; an evicted one is rebuilt when needed.
_CACHED_ENGINES: Final = 16
#: (run, shard) to (token of the last committed batch that the engine has processed, engine).
#: A module global, because it outlives a task, unlike the processor object.
_engines: OrderedDict[tuple[str, int], tuple[str, ShardEngine]] = OrderedDict()
#: (run, shard) to the limiter of its reports on queries.
_limiters: dict[tuple[str, int], RateLimiter] = {}


@dataclass(frozen=True)
class ShardInput:
    """The packed batches of one shard and Spark batch, by kind and in order.

    Attributes:
        rows: (stream, Arrow IPC stream). counts: number of these by stream.
        arrivals: by stream, all rows that arrived, also those for other shards and dropped ones.
        statements: of the control stream, by number.
        drain_us: at the end of the input, event time by which to advance after the last row.
        now_us: wall clock of the batch.
        keys: the counts of frequent keys of each task of ingest; see ``KeyCounts``.
    """

    rows: tuple[tuple[str, bytes], ...]
    counts: Mapping[str, int]
    arrivals: Mapping[str, Arrivals]
    statements: Mapping[int, str]
    drain_us: int | None
    now_us: int = 0
    keys: tuple[Any, ...] = ()

    @classmethod
    def read(
        cls, frames: Iterator[pd.DataFrame], requests: Mapping[int, str] = MappingProxyType({})
    ) -> ShardInput:
        """Collect the packed batches, those of a stream in the order (part, seq).

        Args:
            requests: more statements, by number.
        """
        packed = [row for frame in frames for row in frame.itertuples(index=False)]
        packed.sort(key=lambda r: (r.kind, r.name, r.part, r.seq))
        counts: dict[str, int] = {}
        arrivals: dict[str, Arrivals] = {}
        for row in packed:
            if row.kind == "rows":
                counts[row.name] = counts.get(row.name, 0) + int(row.n)
            elif row.kind == "clock":
                arrived = Arrivals.read(bytes(row.blob))
                arrivals[row.name] = arrivals.get(row.name, Arrivals()) + arrived
        control = [
            (r.name, int(r.seq), bytes(r.blob).decode()) for r in packed if r.kind == "control"
        ]
        return cls(
            rows=tuple((r.name, bytes(r.blob)) for r in packed if r.kind == "rows"),
            counts=counts,
            arrivals=arrivals,
            statements={
                **requests,
                **{number: text for name, number, text in control if name == "sql"},
            },
            drain_us=max((int(text) for name, _, text in control if name == "end"), default=None),
            now_us=max((int(row.now_us) for row in packed), default=0),
            keys=tuple(json.loads(bytes(row.blob)) for row in packed if row.kind == "keys"),
        )


class ShardTasks:
    """Runs the engines of the shards whose keys Spark assigns to a task; see ``processor.py``.

    Args:
        specs: by shard id, how to build its engine; of shards since the job's start.
        launch: identifies a launch of the job: its first batch reports the counts of all queries,
            later ones only increments.
        checkpoint: its path, for messages.
        requests: by shard, statements to execute with the first batch, by number: those sent before
            the launch, which also a repeated batch executes.
    """

    engine_type: ClassVar[type[ShardEngine]] = ShardEngine

    def __init__(
        self,
        specs: Mapping[int, ShardSpec],
        launch: str,
        checkpoint: str,
        requests: Mapping[int, Mapping[int, str]] = MappingProxyType({}),
    ) -> None:
        self._specs = specs
        self._launch = launch
        self._checkpoint = checkpoint
        self._requests = {shard: dict(texts) for shard, texts in requests.items()}

    def open(self, commit: ValueState, log: MapState, snapshots: BlobState) -> None:
        """Called once per task, with its state variables."""
        freeze_live_objects()
        self._known = {**self._specs, **added_specs(self._specs)}
        self._state = DurableState(commit, log, snapshots, self._checkpoint)

    def process(self, shard: int, rows: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Called once per batch for each shard with packed batches in it."""
        watch = _Stopwatch()
        spec = self._known[shard]
        received = ShardInput.read(rows, self._requests.get(spec.shard, {}))
        watch.lap("read")
        record, engine, is_new = self._current(spec)
        watch.lap("restore")
        restored = is_new and record.version > 0
        batch = engine_batch(record, received, drops_rows=engine.drops_rows)
        outputs = engine.apply(batch)
        watch.lap("process")
        small = SMALL_BYTES // len(self._known)
        arrived, received_rows = received.arrivals, received.counts
        output = ShardOutput(spec, outputs, engine.routes, arrived, received_rows, small)
        yield from output.frames()
        watch.lap("hand over")

        more = self._totals(record, engine)
        record.version += 1
        record.token = secrets.token_hex(8)
        output.add_counts(record.notes)
        self._state.commit(record, batch, engine)
        # Cached after the commit: after an earlier failure the engine would be ahead of the
        # committed state. If Spark fails the task after this, the token never matches.
        _cache(spec, record.token, engine)
        if is_new or batch.statements:
            unfreeze_objects()
        watch.lap("commit")
        more |= for_key_splits(engine, received) | {"now_us": received.now_us}
        more["restore_seconds"] = watch.seconds["restore"] if restored else None
        more["groups"] = engine.groups(received.now_us)
        more["clocks"] = engine.engine.parts.progress.clocks()
        more["bad"] = record.notes["bad"] | engine.bad_rows
        more |= {"keep": engine.keep, "dropped_at_ingest": batch.dropped, "aside": engine.aside}
        stats = _query_stats(spec, engine, received)
        yield output.last_frame(record, watch.seconds, more, stats)

    def _current(self, spec: ShardSpec) -> tuple[CommitRecord, ShardEngine, bool]:
        """The commit record and the engine in that state: from the cache, or rebuilt (True).

        Another worker may have processed the last batches of the shard: then the cached engine
        processes them too, without output.
        """
        cached = _engines.pop((spec.run_key, spec.shard), None)
        record = self._state.commit_record()
        if record is None:
            record = CommitRecord(notes={"statements": spec.statements})
            return record, self.engine_type(spec.new_engine()), True
        if cached is not None and self._is_caught_up(record, *cached):
            return record, cached[1], False
        load = partial(self.engine_type.load, functions=spec.program.read().functions)
        engine = self._state.restored(record, load)
        for batch in self._state.logged(record):
            engine.apply(batch)
        return record, engine, True

    def _is_caught_up(self, record: CommitRecord, token: str, engine: ShardEngine) -> bool:
        """Whether the engine, which was current at ``token``, is current now."""
        if token == record.token:
            return True
        missed = self._state.missed(record, token, engine)
        for batch in missed or ():
            engine.apply(batch)
            if batch.statements:
                unfreeze_objects()
        return missed is not None

    def _totals(self, record: CommitRecord, engine: ShardEngine) -> dict[str, Any]:
        """In the first report of a launch: changes of all queries since the job's first start.

        Whether it is the first follows from the committed state: a repeated batch reports the same.
        """
        if record.notes.get("launch") == self._launch:
            return {}
        record.notes["launch"] = self._launch
        return {"totals": dict.fromkeys(engine.engine.queries, 0) | engine.rows_out}


class _Stopwatch:
    """Measures ``seconds`` by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        """End a phase and begin the next."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._since
        self._since = now


def for_key_splits(engine: ShardEngine, received: ShardInput) -> dict[str, Any]:
    """What the driver needs to know after a batch to decide which keys are split."""
    return {"clock_us": engine.clock_us, "last_us": engine.last_us, "keys": received.keys}


def engine_batch(
    record: CommitRecord, received: ShardInput, *, drops_rows: bool = False
) -> EngineBatch:
    """The input of the engine for this batch; for ``drops_rows`` see :func:`due_statements`."""
    due, hold = due_statements(record, received, drops_rows=drops_rows)
    return EngineBatch(
        received.rows,
        received.now_us,
        received.drain_us,
        due,
        {name: a.dropped for name, a in received.arrivals.items() if a.dropped},
        {name: a.newest for name, a in received.arrivals.items() if a.newest is not None},
        {name: a.oldest for name, a in received.arrivals.items() if a.oldest is not None},
        hold,
    )


def due_statements(
    record: CommitRecord, received: ShardInput, *, drops_rows: bool
) -> tuple[tuple[str, ...], bool]:
    """The statements to execute with this batch, in the order of their numbers, and whether one
    waits for the next batch.

    Statements are executed without gaps: if Spark delivers a file before an older one, its
    statement waits.

    Args:
        drops_rows: rows may have been dropped already, so a query without ON OVERLOAD SHED waits.
    """
    waiting: dict[str, str] = record.notes.setdefault("waiting", {})
    done: int = record.notes.setdefault("statements", 0)
    waiting.update((str(n), text) for n, text in received.statements.items() if n > done)
    due, hold = [], False
    while (statement := waiting.get(str(done + 1))) is not None:
        if hold := drops_rows and _needs_all_rows(statement):
            break
        due.append(waiting.pop(str(done + 1)))
        done += 1
    record.notes["statements"] = done
    return tuple(due), hold


def _needs_all_rows(statement: str) -> bool:
    if note_of(statement) is not None:
        return False
    return any(isinstance(s, CreateQuery) and not s.sheds for s in parse(statement))


def _cache(spec: ShardSpec, token: str, engine: ShardEngine) -> None:
    _engines[spec.run_key, spec.shard] = (token, engine)
    while len(_engines) > _CACHED_ENGINES:
        _engines.popitem(last=False)


def _query_stats(spec: ShardSpec, engine: ShardEngine, received: ShardInput) -> Iterator[bytes]:
    """The metrics of the engine's queries, as JSON; nothing if the rate limit is reached."""
    limiter = _limiters.setdefault((spec.run_key, spec.shard), RateLimiter())
    if limiter.due or received.drain_us is not None:
        with limiter.measured():
            stats = json.dumps(engine.engine.stats()["queries"]).encode()
        yield stats

"""The stateful stage: each shard runs one engine over the packed batches of its inputs."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Final
from uuid import uuid4

import pandas as pd

from eddyline.rate_limiter import RateLimiter
from eddyline.spark.exchange.batch_time import batch_number, batch_time
from eddyline.spark.exchange.packed_batches import SMALL_BYTES
from eddyline.spark.exchange.row_files import ShardFiles, WrittenFiles
from eddyline.spark.exchange.watched import is_watched
from eddyline.spark.gc_control import freeze_live_objects, unfreeze_objects
from eddyline.spark.layouts.added_layouts import added_specs
from eddyline.spark.layouts.shard_program import ShardSpec
from eddyline.spark.workers.batch_log import BatchLog, LogOfBatch, MapState, PassedLog
from eddyline.spark.workers.durable import CommitRecord, DurableState, ValueState, inline_blobs
from eddyline.spark.workers.output import ShardOutput
from eddyline.spark.workers.shard_engine import ShardEngine
from eddyline.spark.workers.shard_input import ShardInput, engine_batch
from eddyline.spark.workers.snapshots import BlobState
from eddyline.spark.workers.worker_engines import WorkerEngines
from eddyline.spark.workers.worker_sockets import address, passed_on

#: A module global, because it outlives a task, unlike the processor object.
engines = WorkerEngines()
#: (run, shard) to the limiters of its reports on queries, and on its plan.
_limiters: dict[tuple[str, int], RateLimiter] = {}
_of_graphs: dict[tuple[str, int], RateLimiter] = {}
#: The share of the time that reporting the plan may take, while pages show it.
_SHARE_OF_GRAPHS: Final = 0.01


class Stopwatch:
    """Measures ``seconds`` by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        """End a phase and begin the next."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._since
        self._since = now


class ShardTasks:
    """Runs the engines of the shards whose keys Spark assigns to a task; see ``processor.py``.

    Args:
        specs: by shard id, how to build its engine; of shards since the job's start.
        checkpoint: its path, for messages.
        requests: by shard, statements to execute with the first batch, by number: those sent before
            the launch, which also a repeated batch executes.
    """

    engine_type: ClassVar[type[ShardEngine]] = ShardEngine

    def __init__(
        self,
        specs: Mapping[int, ShardSpec],
        checkpoint: str,
        requests: Mapping[int, Mapping[int, str]] = MappingProxyType({}),
    ) -> None:
        self._specs = specs
        self._launch = ""
        self._checkpoint = checkpoint
        self._requests = {shard: dict(texts) for shard, texts in requests.items()}

    def launch(self) -> None:
        """Begin another launch of the job: in its first batch each shard reports the counts of all
        queries, and the parts of groups that it has; later ones only report what is new.
        """
        self._launch = uuid4().hex

    def open(self, commit: ValueState, log: MapState, snapshots: BlobState) -> None:
        """Called once per task, with its state variables."""
        freeze_live_objects()
        self._known = {**self._specs, **added_specs(self._specs)}
        self._states = (commit, BatchLog(log), snapshots)

    def process(self, shard: int, rows: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Called once per batch for each shard with packed batches in it."""
        watch = Stopwatch()
        spec = self._known[shard]
        now_us, number = batch_time(), batch_number()
        files = ShardFiles(self._checkpoint, shard, number)
        requests = self._requests.get(spec.shard, {})
        received = ShardInput.read(rows, files, requests, now_us=now_us, number=number)
        watch.lap("read")
        state = DurableState(*self._states, self._checkpoint, files)
        record = state.commit_record()
        token, cached = engines.take(spec.run_key, shard)
        new = CommitRecord(notes={"statements": spec.statements})
        small = SMALL_BYTES // len(self._known)
        place = self._checkpoint
        batch = ShardBatch(spec, record or new, received, self._launch, place, small, watch)
        if record is not None and record.token != token:
            passed = Passed(batch, engines.load(spec.run_key, number))
            commit, log, snapshots = self._states
            log_of_batch = LogOfBatch(log, inline_blobs(received.rows))
            if (yield from passed_on(record.worker, passed, (commit, log_of_batch, snapshots))):
                engines.drop(spec.run_key, shard)
                return
        if record is not None and cached is not None and _catch_up(state, record, token, cached):
            engine, is_new = cached, False
        else:
            engine, is_new = self._built(spec, state, record), True
        watch.lap("restore")
        if is_new and record is not None:
            engines.note_rebuilt(spec.run_key, watch.seconds["restore"])
        yield from batch.frames(state, engine, is_new=is_new)

    def _built(
        self, spec: ShardSpec, state: DurableState, record: CommitRecord | None
    ) -> ShardEngine:
        """The engine in the state of the record, or before the first batch."""
        if record is None:
            return self.engine_type(spec.new_engine())
        load = partial(self.engine_type.load, functions=spec.program.read().functions)
        engine = state.restored(record, load)
        for batch in state.logged(record):
            engine.apply(batch)
        return engine


@dataclass(frozen=True)
class ShardBatch:
    """A batch of a shard, before its engine processes it.

    Attributes:
        record: of the batch before. launch: see :class:`ShardTasks`.
        checkpoint: its path.
        small_bytes: maximum size of the blobs that the driver takes with the report.
        watch: of the phases of the batch.
    """

    spec: ShardSpec
    record: CommitRecord
    received: ShardInput
    launch: str
    checkpoint: str
    small_bytes: int
    watch: Stopwatch

    def frames(
        self, state: DurableState, engine: ShardEngine, *, is_new: bool
    ) -> Iterator[pd.DataFrame]:
        """Process the batch with the engine, and commit it.

        Args:
            is_new: whether the engine was built or rebuilt for this batch.
        """
        spec, record, received, watch = self.spec, self.record, self.received, self.watch
        restored = is_new and record.version > 0
        batch = engine_batch(record, received, drops_rows=engine.drops_rows)
        before = engine.current_parts() if self._is_first else {}
        outputs = engine.apply(batch)
        watch.lap("process")
        arrived, received_rows = received.arrivals, received.counts
        files = WrittenFiles(self.checkpoint, received.number)
        output = ShardOutput(
            spec, outputs, engine.routes, arrived, received_rows, files, self.small_bytes
        )
        output.add_parts_before(before)
        output.add_tables(engine.handed_over())
        output.add_answers(received.questions, engine.answer)
        yield from output.frames()
        watch.lap("hand over")

        more = self._totals(engine)
        record.version += 1
        record.token = secrets.token_hex(8)
        record.worker = address()
        output.add_counts(record.notes)
        state.commit(record, replace(batch, keep=engine.requested), engine)
        # Cached after the commit: after an earlier failure the engine would be ahead of the
        # committed state. If Spark fails the task after this, the token never matches.
        watch.lap("commit")
        seconds = sum(watch.seconds[phase] for phase in ("process", "hand over", "commit"))
        key = spec.run_key, spec.shard
        engines.put(*key, record.token, engine, received.number, seconds)
        if is_new or batch.statements:
            unfreeze_objects()
        more |= for_key_splits(engine, received) | {"now_us": received.now_us}
        more["restore_seconds"] = watch.seconds["restore"] if restored else None
        more["groups"] = engine.groups(received.now_us)
        more["has_begun_again"] = engine.has_begun_again
        more["clocks"] = engine.engine.parts.progress.clocks()
        more["cores"], more["memory"] = engine.cores, engine.memory
        more["ages"] = engine.ages
        more["altered_routes"] = {
            name: [route.key, route.preview] for name, route in engine.altered_routes.items()
        }
        more["bad"] = record.notes["bad"] | engine.bad_rows
        more |= {"keep": engine.keep, "dropped_at_ingest": batch.dropped, "aside": engine.aside}
        if (graph := _graph(spec, engine)) is not None:
            more["graph"] = graph
        stats = _query_stats(spec, engine, received)
        yield output.last_frame(record, watch.seconds, more, stats)

    @property
    def _is_first(self) -> bool:
        """Whether the batch is the first of a launch. This follows from the committed state, so a
        repeated batch reports the same.
        """
        return bool(self.record.notes.get("launch") != self.launch)

    def _totals(self, engine: ShardEngine) -> dict[str, Any]:
        """In the first report of a launch: changes of all queries since the job's first start."""
        if not self._is_first:
            return {}
        self.record.notes["launch"] = self.launch
        return {"totals": dict.fromkeys(engine.engine.queries, 0) | engine.rows_out}


@dataclass(frozen=True)
class Passed:
    """A batch that is passed to the worker with the engine; see ``worker_sockets.py``.

    Attributes:
        load: of the worker of the task; see ``WorkerEngines``.
    """

    batch: ShardBatch
    load: float

    def frames(self, states: Sequence[Any]) -> Iterator[pd.DataFrame] | None:
        """Process the batch, if this worker has the engine, unless the worker of the task is less
        busy and should have it from now on.
        """
        spec, record, number = self.batch.spec, self.batch.record, self.batch.received.number
        key = spec.run_key, spec.shard
        token, engine = engines.take(*key)
        if engine is None or token != record.token:
            return None
        if engines.is_better_elsewhere(*key, number, self.load):
            engines.drop(*key)
            return None
        self.batch.watch.lap("restore")
        commit, log, snapshots = states
        place = self.batch.checkpoint
        files = ShardFiles(place, spec.shard, number)
        state = DurableState(commit, PassedLog(log), snapshots, place, files)
        return self.batch.frames(state, engine, is_new=False)


def for_key_splits(engine: ShardEngine, received: ShardInput) -> dict[str, Any]:
    """What the driver needs to know after a batch to decide which keys are split."""
    return {"clock_us": engine.clock_us, "last_us": engine.last_us, "keys": received.keys}


def _catch_up(state: DurableState, record: CommitRecord, token: str, engine: ShardEngine) -> bool:
    """Let the engine, which was current at ``token``, process the batches that another worker has
    processed since then, without output; False if that is not possible.
    """
    if token == record.token:
        return True
    missed = state.missed(record, token, engine)
    for batch in missed or ():
        engine.apply(batch)
        if batch.statements:
            unfreeze_objects()
    return missed is not None


def _graph(spec: ShardSpec, engine: ShardEngine) -> list[dict[str, Any]] | None:
    """The running plan, if a page shows it and the rate limit is not reached."""
    key = spec.run_key, spec.shard
    if not is_watched() or not _of_graphs.setdefault(key, RateLimiter(_SHARE_OF_GRAPHS)).due:
        return None
    with _of_graphs[key].measured():
        return [node.as_dict() for node in engine.graph()]


def _query_stats(spec: ShardSpec, engine: ShardEngine, received: ShardInput) -> Iterator[bytes]:
    """The metrics of the engine's queries, as JSON; nothing if the rate limit is reached."""
    limiter = _limiters.setdefault((spec.run_key, spec.shard), RateLimiter())
    if limiter.due or received.drain_us is not None:
        with limiter.measured():
            stats = json.dumps(engine.engine.stats()["queries"]).encode()
        yield stats

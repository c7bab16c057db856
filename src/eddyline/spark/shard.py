"""The stateful stage: each shard holds one engine and feeds it the fat rows of its inputs."""

from __future__ import annotations

import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from eddyline.spark import durable
from eddyline.spark.durable import CommitRecord, DurableState, EngineBatch
from eddyline.spark.gc_control import freeze_live_objects, unfreeze_objects
from eddyline.spark.output import ShardOutput
from eddyline.spark.rate_limiter import RateLimiter
from eddyline.spark.shard_engine import ShardEngine
from eddyline.spark.shard_program import ShardSpec
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery
from eddyline.types import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import TimerValues

#: How many engines a worker process keeps; one that was pushed out is rebuilt when needed.
_CACHED_ENGINES: Final = 16
#: (run, shard) to (token of the committed batch that the engine has processed last, engine).
#: Module globals of a worker outlive its tasks; the processor object does not.
_engines: OrderedDict[tuple[str, int], tuple[str, ShardEngine]] = OrderedDict()
#: (run, shard) to when it may report on its queries again.
_limiters: dict[tuple[str, int], RateLimiter] = {}


@dataclass(frozen=True)
class ShardInput:
    """The fat rows of one shard and batch, sorted apart and put in order."""

    rows: tuple[tuple[str, bytes], ...]
    counts: Mapping[str, int]
    dropped: Mapping[str, int]  #: at ingest; the counts include them
    max_ts: Mapping[str, int]  #: of rows that a drop box looked at
    statements: Mapping[int, str]  #: of the control stream, by number
    drain_us: int | None  #: at the end of the input, how far the clock goes behind the last row
    now_us: int = 0  #: the wall clock of the batch

    @classmethod
    def read(
        cls, frames: Iterator[pd.DataFrame], requests: Mapping[int, str] = MappingProxyType({})
    ) -> ShardInput:
        """Collect the fat rows; pieces of a stream come in the order (part, seq).

        Args:
            requests: more statements, by number.
        """
        fat = [row for frame in frames for row in frame.itertuples(index=False)]
        fat.sort(key=lambda r: (r.kind, r.name, r.part, r.seq))
        counts: dict[str, int] = {}
        dropped: dict[str, int] = {}
        max_ts: dict[str, int] = {}
        for row in fat:
            if row.kind == "rows":
                counts[row.name] = counts.get(row.name, 0) + int(row.n) + int(row.dropped)
            if row.dropped:
                dropped[row.name] = dropped.get(row.name, 0) + int(row.dropped)
            if row.kind == "rows" and not pd.isna(row.max_ts):
                max_ts[row.name] = max(max_ts.get(row.name, BEGINNING), int(row.max_ts))
        control = [(r.name, int(r.seq), bytes(r.blob).decode()) for r in fat if r.kind == "control"]
        return cls(
            rows=tuple((r.name, bytes(r.blob)) for r in fat if r.kind == "rows"),
            counts=counts,
            dropped=dropped,
            max_ts=max_ts,
            statements={
                **requests,
                **{number: text for name, number, text in control if name == "sql"},
            },
            drain_us=max((int(text) for name, _, text in control if name == "end"), default=None),
            now_us=max((int(row.now_us) for row in fat), default=0),
        )


class EngineProcessor(StatefulProcessor):
    """Runs the engines of the shards whose keys Spark hands to this task.

    Args:
        specs: shard id to what its engine is built from.
        launch: tells apart the launches of a job: the first batch of each reports the counts of all
            queries, the others only what they add.
        checkpoint: its path, for messages.
        requests: by shard, statements to carry out with the first batch, by number: those that came
            before the launch, when a batch that is repeated must not wait for them.
    """

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

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark calls this for every task."""
        freeze_live_objects()
        self._state = DurableState(
            handle.getValueState("head", durable.COMMIT_SCHEMA),
            handle.getMapState("log", durable.LOG_KEY_SCHEMA, durable.LOG_VALUE_SCHEMA),
            handle.getMapState(
                "snapshot", durable.SNAPSHOT_KEY_SCHEMA, durable.SNAPSHOT_VALUE_SCHEMA
            ),
            self._checkpoint,
        )

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Spark calls this once per batch for each shard that has fat rows in it."""
        watch = _Stopwatch()
        spec = self._specs[int(key[0])]
        arrivals = ShardInput.read(rows, self._requests.get(spec.shard, {}))
        watch.lap("read")
        head, live, is_new = self._current(spec)
        watch.lap("restore")
        step = _step(head, arrivals, refuses=live.refuses)
        made = live.apply(step)
        watch.lap("process")
        output = ShardOutput(spec, made, live.routes, arrivals.counts)
        yield from output.frames()
        watch.lap("hand over")

        more = self._totals(head, live)
        head.version += 1
        head.token = secrets.token_hex(8)
        output.note(head.notes)
        self._state.commit(head, step, live)
        # Only now: had anything failed, the engine would be ahead of what is committed. And if
        # Spark fails the task after this, the token is not the committed one, and never matches.
        _keep(spec, head.token, live)
        if is_new or step.statements:
            unfreeze_objects()
        watch.lap("commit")
        more |= {"clock_us": live.clock_us, "now_us": arrivals.now_us}
        more["groups"] = live.groups(arrivals.now_us)
        more |= {"keep": live.keep, "dropped_at_ingest": arrivals.dropped}
        yield output.progress(head, step, watch.seconds, more)
        yield from map(output.stats, _query_stats(spec, live, arrivals))

    def close(self) -> None:
        """Nothing to do: the engines stay with the worker."""

    def _current(self, spec: ShardSpec) -> tuple[CommitRecord, ShardEngine, bool]:
        """The committed head and the engine in that state: cached, or else (True) made anew."""
        cached = _engines.pop((spec.run_key, spec.shard), None)
        head = self._state.head()
        if head is None:
            return CommitRecord(), ShardEngine(spec.program.read().build()), True
        if cached is not None and cached[0] == head.token:
            return head, cached[1], False
        live = ShardEngine.load(self._state.snapshot(head), spec.program.read().functions)
        for step in self._state.steps(head):
            live.apply(step)
        return head, live, True

    def _totals(self, head: CommitRecord, live: ShardEngine) -> dict[str, Any]:
        """For the first report of a launch: the changes of all queries since the job began."""
        # decided by what is committed: a batch that is repeated reports the same
        if head.notes.get("launch") == self._launch:
            return {}
        head.notes["launch"] = self._launch
        return {"totals": dict.fromkeys(live.engine.queries, 0) | live.rows_out}


class _Stopwatch:
    """Where the time goes: ``seconds`` by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, phase: str) -> None:
        """A phase has ended, the next begins."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._since
        self._since = now


def _step(head: CommitRecord, arrivals: ShardInput, *, refuses: bool = False) -> EngineBatch:
    """What the batch does to the engine."""
    due, hold = _due(head, arrivals, refuses=refuses)
    return EngineBatch(
        arrivals.rows,
        arrivals.now_us,
        arrivals.drain_us,
        due,
        arrivals.dropped,
        arrivals.max_ts,
        hold,
    )


def _due(
    head: CommitRecord, arrivals: ShardInput, *, refuses: bool
) -> tuple[tuple[str, ...], bool]:
    """The statements to carry out with this batch, in the order of their numbers; and whether one
    has to wait for the next batch, as it adds a query which allows nothing to be dropped.

    None is left out: should Spark see a file before an older one, it waits for that.
    """
    waiting: dict[str, str] = head.notes.setdefault("waiting", {})
    done: int = head.notes.setdefault("statements", 0)
    waiting.update((str(n), text) for n, text in arrivals.statements.items() if n > done)
    due, hold = [], False
    while (statement := waiting.get(str(done + 1))) is not None:
        if hold := refuses and _wants_all_rows(statement):
            break
        due.append(waiting.pop(str(done + 1)))
        done += 1
    head.notes["statements"] = done
    return tuple(due), hold


def _wants_all_rows(statement: str) -> bool:
    (parsed,) = parse(statement)
    return isinstance(parsed, CreateQuery) and not parsed.sheds


def _keep(spec: ShardSpec, token: str, live: ShardEngine) -> None:
    _engines[spec.run_key, spec.shard] = (token, live)
    while len(_engines) > _CACHED_ENGINES:
        _engines.popitem(last=False)


def _query_stats(spec: ShardSpec, live: ShardEngine, arrivals: ShardInput) -> Iterator[bytes]:
    """What the engine says of each query, as JSON; nothing if it did so a short while ago."""
    limiter = _limiters.setdefault((spec.run_key, spec.shard), RateLimiter())
    if limiter.due or arrivals.drain_us is not None:
        with limiter.measured():
            query_stats = json.dumps(live.engine.stats()["queries"]).encode()
        yield query_stats

"""The engines of a sharded job in one process, and what they emit."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from eddyline.engine.changes import Changes
from eddyline.spark.added_layouts import AddedLayout
from eddyline.spark.durable import CommitRecord
from eddyline.spark.output import ShardOutput
from eddyline.spark.packed_batches import unpack
from eddyline.spark.partitioning.layouts import one_cell
from eddyline.spark.query_rows import QueryRows
from eddyline.spark.shard import ShardInput, engine_batch, for_key_splits
from eddyline.spark.shard_engine import ShardEngine, StepOutput
from eddyline.spark.shard_program import BroadcastProgram, ShardProgram, ShardSpec
from eddyline.testing.bags import Row, rows_of
from memory_state import MemoryState

Bags = dict[str, list[Row]]


@dataclass
class Output:
    """Everything that was emitted so far: changes by query, late and bad rows by input or query."""

    changes: Bags = field(default_factory=dict)
    late: Bags = field(default_factory=dict)
    bad: Bags = field(default_factory=dict)

    def add(self, kind: str, name: str, table: pa.Table) -> None:
        bags: Bags = getattr(self, kind)
        bags.setdefault(name, []).extend(rows_of(table))

    def take(self, changes: Changes) -> None:
        """Add the output of an engine."""
        for name, table in changes.items():
            self.add("changes", name, table)
        for kind in ("late", "bad"):
            for name, table in getattr(changes, kind).items():
                self.add(kind, name, table)


class Program(BroadcastProgram):
    """A program in this process."""

    def __init__(self, program: ShardProgram) -> None:
        self._program = program

    def read(self) -> ShardProgram:
        return self._program


class Shard:
    """One shard: an engine and its commit record.

    Args:
        is_durable: whether each batch is committed, so that the worker can be lost.

    Attributes:
        report: what the driver got after the last batch.
    """

    def __init__(self, spec: ShardSpec, *, is_durable: bool = False) -> None:
        self.spec = spec
        self.engine = ShardEngine(spec.new_engine())
        self.record = CommitRecord(notes={"statements": spec.statements})
        self.report: dict[str, Any] = {}
        self._state = MemoryState() if is_durable else None

    def process(self, received: ShardInput, output: Output) -> None:
        """One batch, as the stateful processor runs it."""
        batch = engine_batch(self.record, received, drops_rows=self.engine.drops_rows)
        self.emit(self.engine.apply(batch), received, output)
        if self._state is not None:
            self._state.commit(self.record, batch, self.engine)

    def emit(self, outputs: list[StepOutput], received: ShardInput, output: Output) -> None:
        of_shard = ShardOutput(
            self.spec, outputs, self.engine.routes, received.arrivals, received.counts
        )
        frames = list(of_shard.frames())
        of_shard.add_counts(self.record.notes)
        more = for_key_splits(self.engine, received)
        more |= {"clocks": self.engine.engine.parts.progress.clocks()}
        frames.append(of_shard.last_frame(self.record, {}, more, ()))
        for row in (r for frame in frames for r in frame.itertuples(index=False)):
            if row.kind == "progress":
                self.report = json.loads(row.blob)
                continue
            table = unpack(row.blob)
            if row.kind == "changes" or not row.name:
                kind = "changes" if row.kind == "changes" else "bad"
                for name, rows in QueryRows.of(table).each():
                    output.add(kind, name, rows)
            else:
                output.add(row.kind, row.name, table)

    def saved(self) -> tuple[bytes, CommitRecord]:
        """The committed state."""
        saved = io.BytesIO()
        self.engine.save(saved)
        return saved.getvalue(), deepcopy(self.record)

    def load(self, engine: bytes, record: CommitRecord) -> None:
        """Continue from a committed state."""
        clock = self.engine.engine.wall_clock
        self.engine, self.record = ShardEngine.load(io.BytesIO(engine)), record
        self.engine.engine.wall_clock = clock

    def lose_worker(self) -> None:
        """Continue with the last committed snapshot and the log since then."""
        assert self._state is not None, "it is durable"
        clock = self.engine.engine.wall_clock
        self.record, self.engine = self._state.rebuilt()
        self.engine.engine.wall_clock = clock


class Follower(Shard):
    """An engine beside the shards of a group, with its clock since the start but without rows; and
    a copy of it, which gets all rows from now on and runs the queries of an added layout.
    """

    def __init__(self, spec: ShardSpec, streams: Sequence[str]) -> None:
        super().__init__(spec)
        self.streams = streams
        self.layout = one_cell({})

    def follow(self, streams: Iterable[str]) -> None:
        """These streams are read by the queries of other engines."""
        self.engine.engine.parts.progress.share_clock((), frozenset(streams) & {*self.streams})

    def runs(self, added: AddedLayout, shard: int) -> Follower:
        """One engine that runs the queries of an added layout; its id is ``shard``."""
        made = copy(self)
        made.spec = replace(self.spec, shard=shard)
        made.load(self.saved()[0], made.record)
        made.record = CommitRecord(notes={"statements": added.beginning.statements})
        made.layout = one_cell(added.of.layout.inputs)
        made.follow(added.of.read_elsewhere)
        return made

"""The engines of a sharded job in one process, and what they emit."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from eddyline.engine.changes import Changes
from eddyline.spark.exchange.packed_batches import PARTS, PARTS_BEFORE, TABLES, unpack
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.exchange.row_files import ShardFiles, WrittenFiles
from eddyline.spark.layouts.added_layouts import AddedLayout
from eddyline.spark.layouts.shard_program import ShardSpec
from eddyline.spark.partitioning.layouts import one_cell
from eddyline.spark.script import QueryGroup
from eddyline.spark.workers.durable import CommitRecord
from eddyline.spark.workers.output import ShardOutput
from eddyline.spark.workers.shard import for_key_splits
from eddyline.spark.workers.shard_engine import ShardEngine, StepOutput
from eddyline.spark.workers.shard_input import ShardInput, engine_batch
from eddyline.testing.bags import Row, rows_of
from memory_state import MemoryState

Bags = dict[str, list[Row]]
#: A committed state: what is durable, or the engine and its record.
Saved = MemoryState | tuple[bytes, CommitRecord]


@dataclass
class Output:
    """Everything that was emitted so far: changes by query, late and bad rows by input or query."""

    changes: Bags = field(default_factory=dict)
    late: Bags = field(default_factory=dict)
    bad: Bags = field(default_factory=dict)

    def add(self, kind: str, name: str, table: pa.Table) -> None:
        bags: Bags = getattr(self, kind)
        bags.setdefault(name, []).extend(rows_of(table))

    def take_packed(self, kind: str, name: str, table: pa.Table) -> None:
        """Add the rows of a packed batch."""
        if kind == "changes" or not name:
            for query, rows in QueryRows.of(table).each():
                self.add("changes" if kind == "changes" else "bad", query, rows)
        else:
            self.add(kind, name, table)

    def take(self, changes: Changes) -> None:
        """Add the output of an engine."""
        for name, table in changes.items():
            self.add("changes", name, table)
        for kind in ("late", "bad"):
            for name, table in getattr(changes, kind).items():
                self.add(kind, name, table)


class Shard:
    """One shard: an engine and its commit record.

    Args:
        files: those of its rows, if each batch is committed, as on Spark; None: it is not.

    Attributes:
        report: what the driver got after the last batch. parts: the packed batches of it that the
            driver reads.
    """

    def __init__(self, spec: ShardSpec, files: ShardFiles | None = None) -> None:
        self.spec = spec
        self.engine = ShardEngine(spec.new_engine())
        self.record = self._first_record()
        self.report: dict[str, Any] = {}
        self.parts: list[Any] = []
        self._state = None if files is None else MemoryState(files)

    def process(self, received: ShardInput, output: Output, launch: str = "") -> None:
        """One batch, as the stateful processor runs it."""
        batch = engine_batch(self.record, received, drops_rows=self.engine.drops_rows)
        before = self.parts_before(launch)
        self.emit(self.engine.apply(batch), received, output, before)
        if self._state is not None:
            self._state.commit(self.record, batch, self.engine)

    def parts_before(self, launch: str) -> dict[str, pa.Table]:
        """The parts of groups that it has, in the first batch of a launch."""
        is_first = self.record.notes.get("launch") != launch
        self.record.notes["launch"] = launch
        return self.engine.current_parts() if is_first else {}

    def emit(
        self,
        outputs: list[StepOutput],
        received: ShardInput,
        output: Output,
        before: Mapping[str, pa.Table] = MappingProxyType({}),
    ) -> None:
        of_shard = ShardOutput(
            self.spec,
            outputs,
            self.engine.routes,
            received.arrivals,
            received.counts,
            WrittenFiles("", received.number),
        )
        of_shard.add_parts_before(before)
        of_shard.add_tables(self.engine.handed_over())
        frames = list(of_shard.frames())
        of_shard.add_counts(self.record.notes)
        more = for_key_splits(self.engine, received)
        more |= {"clocks": self.engine.engine.parts.progress.clocks(), "aside": self.engine.aside}
        more["has_begun_again"] = self.engine.has_begun_again
        frames.append(of_shard.last_frame(self.record, {}, more, ()))
        self.parts = []
        for row in (r for frame in frames for r in frame.itertuples(index=False)):
            if row.kind in ("progress", PARTS, PARTS_BEFORE, TABLES):
                self.parts.append(tuple(row))
            else:
                output.take_packed(row.kind, row.name, unpack(row.blob))

    def saved(self) -> Saved:
        """The committed state."""
        if self._state is not None:
            return deepcopy(self._state)
        saved = io.BytesIO()
        self.engine.save(saved)
        return saved.getvalue(), deepcopy(self.record)

    def load(self, saved: Saved) -> None:
        """Continue from a committed state."""
        clock = self.engine.engine.wall_clock
        if isinstance(saved, MemoryState):
            self._state = saved
            rebuilt = saved.rebuilt()
            if rebuilt is None:  # before its first batch
                rebuilt = self._first_record(), ShardEngine(self.spec.new_engine())
            self.record, self.engine = rebuilt
        else:
            content, self.record = saved
            self.engine = ShardEngine.load(io.BytesIO(content))
        self.engine.engine.wall_clock = clock

    def move(self) -> None:
        """Continue in another worker. If each batch is committed, that has the last snapshot, and
        the log since then.
        """
        self.load(self.saved())

    def _first_record(self) -> CommitRecord:
        return CommitRecord(notes={"statements": self.spec.statements})


class Follower(Shard):
    """An engine beside the shards of a group, with its clock since the start and the changes of its
    tables, but without rows of streams; and a copy of it, which gets all rows from now on and runs
    the queries of an added layout.
    """

    def __init__(self, spec: ShardSpec, group: QueryGroup) -> None:
        super().__init__(spec)
        self.streams = group.streams
        self.layout = one_cell(dict.fromkeys(group.live))

    def follow(self, streams: Iterable[str]) -> None:
        """These streams are read by the queries of other engines."""
        self.engine.engine.parts.progress.share_clock((), frozenset(streams) & {*self.streams})

    def runs(self, added: AddedLayout, shard: int) -> Follower:
        """One engine that runs the queries of an added layout; its id is ``shard``."""
        made = copy(self)
        made.spec = replace(self.spec, shard=shard)
        made.load(self.saved())
        made.record = CommitRecord(notes={"statements": added.beginning.statements})
        made.layout = one_cell(added.of.layout.inputs)
        made.follow(added.of.read_elsewhere)
        return made

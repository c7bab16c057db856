"""A sharded job in one process: planner, dealing, an engine per cell, and delivery, without Spark.

The code is that of the job; only Spark's shuffle and state store are replaced. Beside it runs an
embedded engine with the same input, which must have the same output.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from eddyline import CatalogError, Engine
from eddyline.engine.changes import Changes
from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.engine.settings import Settings
from eddyline.spark.control import ControlStream
from eddyline.spark.directory import LocalDirectory
from eddyline.spark.durable import CommitRecord
from eddyline.spark.ingest import Destination, Packer
from eddyline.spark.key_splits import KeySplits
from eddyline.spark.layout_shards import LayoutShards, by_group, layouts_of, planned
from eddyline.spark.output import ShardOutput
from eddyline.spark.packed_batches import INPUT_ARROW, pack, unpack
from eddyline.spark.partitioning.frequent_keys import DEFAULT_LIMITS, SplitLimits
from eddyline.spark.query_rows import QueryRows
from eddyline.spark.running_queries import RunningQueries
from eddyline.spark.script import Script
from eddyline.spark.shard import ShardInput, engine_batch, for_key_splits
from eddyline.spark.shard_engine import ShardEngine, StepOutput
from eddyline.spark.shard_program import BroadcastProgram, ShardProgram, ShardSpec
from eddyline.testing.bags import Row, difference, rows_of
from memory_state import MemoryState

Bags = dict[str, list[Row]]

#: Keys are split as soon as they have a few rows.
EAGER: Final = SplitLimits(first=0.5, last=0.4, least_rows=3, kept=0.7)


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


class Shard:
    """One shard: an engine and its commit record."""

    def __init__(self, spec: ShardSpec, program: ShardProgram, *, is_durable: bool) -> None:
        self.spec = spec
        self.is_durable = is_durable
        self.engine = ShardEngine(program.build())
        self.record = CommitRecord()
        self._state = MemoryState()
        self.report: dict[str, Any] = {}

    def process(self, received: ShardInput, output: Output) -> None:
        """One batch, as the stateful processor runs it."""
        batch = engine_batch(self.record, received, drops_rows=self.engine.drops_rows)
        self.emit(self.engine.apply(batch), received, output)
        if self.is_durable:
            self._state.commit(self.record, batch, self.engine)

    def emit(self, outputs: list[StepOutput], received: ShardInput, output: Output) -> None:
        of_shard = ShardOutput(
            self.spec, outputs, self.engine.routes, received.arrivals, received.counts
        )
        frames = list(of_shard.frames())
        of_shard.add_counts(self.record.notes)
        frames.append(
            of_shard.last_frame(self.record, {}, for_key_splits(self.engine, received), ())
        )
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
        return saved.getvalue(), copy.deepcopy(self.record)

    def load(self, engine: bytes, record: CommitRecord) -> None:
        """Continue from a committed state."""
        self.engine, self.record = ShardEngine.load(io.BytesIO(engine)), record

    def lose_worker(self) -> None:
        """Continue with the last committed snapshot and the log since then."""
        self.record, self.engine = self._state.rebuilt()


class Sharded:
    """A job over shards, and an engine with the same input.

    Args:
        shards: largest number of cells of a layout. tasks: of ingest, for each batch.
        directory: of the control stream and the split keys. limits: when keys are split.
        is_durable: whether each batch is committed, so that workers can be lost.
    """

    def __init__(
        self,
        ddl: str,
        queries: Mapping[str, str],
        tables: Mapping[str, pa.Table],
        *,
        shards: int,
        directory: Path,
        options: Mapping[str, Any] | None = None,
        tasks: int = 2,
        is_durable: bool = False,
        limits: SplitLimits = DEFAULT_LIMITS,
    ) -> None:
        self._is_durable = is_durable
        self.now_us = 0
        self.expected, self.found = Output(), Output()
        self.compared_from: dict[str, int | None] = {}  # added queries; None: not at all
        self._tasks = tasks
        names = StrategyOptions.__dataclass_fields__
        given = dict(options or {})
        strategy = StrategyOptions(**{n: v for n, v in given.items() if n in names})
        options_ = EngineOptions(**{n: v for n, v in given.items() if n not in names})
        self.engine = Engine(replace(options_, latency=None), strategy)
        self.engine.wall_clock = self._now
        self.engine.sql(ddl)
        for name, rows in tables.items():
            self.engine.table(name, rows)
        self._script = Script(Settings(options_, strategy))
        list(self._script.run(ddl))
        for name, sql in queries.items():
            self.engine.query(sql, name=name)
            self._script.query(name, sql, {"sink": "memory"})
        groups = self._script.groups()
        self.layouts = layouts_of(self._script, groups, shards, shards, shards)
        self._control = ControlStream(LocalDirectory(directory))
        found = self._script.queries
        self.splits = KeySplits(
            LocalDirectory(directory),
            [(of, [planned(self._script, found[n]) for n in of.queries]) for of in self.layouts],
            limits,
        )
        self.running = RunningQueries(
            self._script,
            self.layouts,
            self._control,
            lambda query: None,
            "",
            splits=self.splits,
        )
        self.shards = {s.spec.shard: s for of in self.layouts for s in self._shards(of, tables)}

    def _shards(self, of: LayoutShards, tables: Mapping[str, pa.Table]) -> Iterable[Shard]:
        group, script = of.group, self._script
        program = ShardProgram(
            script.definitions,
            tuple(script.statement(name) for name in of.queries),
            {name: pack(tables[name]) for name in group.tables},
            (),
            (*group.streams, *group.live),
            of.read_elsewhere,
            script.options,
            script.strategy,
        )
        no_broadcast = BroadcastProgram.__new__(BroadcastProgram)
        for cell, shard in enumerate(of.ids):
            parts = (of.described, cell, of.reports(cell), of.counts(cell))
            spec = ShardSpec(shard, "", *parts, no_broadcast)
            made = Shard(spec, program, is_durable=self._is_durable)
            made.engine.engine.wall_clock = self._now
            yield made

    def _now(self) -> int:
        return self.now_us

    def process(self, rows: Mapping[str, pa.Table], *, repeated: bool = False) -> None:
        """One batch. A group without rows and requests in it does not run, as on Spark.

        Args:
            repeated: the job fails after the batch, before it is committed, and repeats it.
        """
        self.expected.take(self.engine.process(dict(sorted(rows.items())), now=self.now_us))
        if repeated:
            found = copy.deepcopy(self.found)
            saved = {number: shard.saved() for number, shard in self.shards.items()}
            self._run(rows)
            self.found = found
            for number, state in saved.items():
                self.shards[number].load(*state)
            self.restart()
        self._run(rows)

    def _run(self, rows: Mapping[str, pa.Table]) -> None:
        packed = [row for _, of in by_group(self.layouts) for row in self._dealt(of, rows)]
        frame = pd.DataFrame(packed, columns=[*INPUT_ARROW.names]).assign(now_us=self.now_us)
        requests = self._control.by_shard()
        for shard in self.shards.values():
            own = frame[frame["shard"] == shard.spec.shard]
            received = ShardInput.read(iter([own]), requests.get(shard.spec.shard, {}))
            if not len(own):  # the engine runs, to compare clocks
                received = ShardInput((), {}, {}, received.statements, None, self.now_us)
            shard.process(received, self.found)
        self.splits.step([shard.report for shard in self.shards.values()])

    def _dealt(self, of: list[LayoutShards], rows: Mapping[str, pa.Table]) -> Iterable[Any]:
        group = of[0].group
        for name in (*group.streams, *group.live):
            table = rows.get(name)
            if table is None or not table.num_rows:
                continue
            stream = self._script.streams.get(name)
            definition = self._script.tables[name] if stream is None else stream
            to = [
                Destination(o.layout, o.ids, name in o.first_of, self.splits.counted(o)) for o in of
            ]
            split = self.splits.next_batch()
            step = -(-table.num_rows // self._tasks)
            for part in range(self._tasks):
                packer = Packer(to, definition, 1.0, part, split)
                some = table.slice(part * step, step)
                if some.num_rows:
                    batches = [
                        *packer.rows(some, self.now_us),
                        *packer.clocks(),
                        *packer.frequent_keys(),
                    ]
                    yield from (
                        row for b in batches for row in zip(*b.to_pydict().values(), strict=True)
                    )

    def advance(self, to_us: int) -> None:
        """Advance all engines."""
        self.expected.take(self.engine.advance(to_us))
        for shard in self.shards.values():
            step = StepOutput.of(shard.engine.engine.advance(to_us))
            shard.emit([step], ShardInput((), {}, {}, {}, None), self.found)

    def restart(self) -> None:
        """Save and load all shards, and what the driver knows."""
        self.splits.begin()
        for shard in self.shards.values():
            shard.load(*shard.saved())
            shard.engine.engine.wall_clock = self._now

    def lose_workers(self, shards: Iterable[int]) -> None:
        """Continue with other workers for these shards."""
        for number in shards:
            self.shards[number].lose_worker()
            self.shards[number].engine.engine.wall_clock = self._now

    def add(self, name: str, sql: str, window_us: int | None) -> bool:
        """Add a query, if it fits a layout.

        Args:
            window_us: longer than its windows: from then on it is compared; None: it is not.
        """
        try:
            self.running.add(name, sql, {"sink": "memory"})
        except CatalogError as e:
            known = ("does not fit", "no query of this job", "cannot be added while")
            assert any(why in str(e) for why in known), e
            return False
        clock = self.engine.clock
        self.engine.query(sql, name=name)
        self.compared_from[name] = None if window_us is None else clock + window_us
        return True

    def reset(self, stream: str) -> None:
        """Reset the watermark of a stream's group."""
        self.running.reset_watermark(stream)
        self.engine.reset_watermark(stream)

    def drop(self, name: str) -> None:
        """Drop a query."""
        self.running.drop(name)
        self.engine.drop(name)

    def check(self) -> None:
        """Compare what was emitted; a job has no rows of inputs that none of its queries reads."""
        unread = {*self.engine.catalog.streams, *self.engine.catalog.tables} - self._read
        for kind in ("changes", "late", "bad"):
            expected, found = getattr(self.expected, kind), getattr(self.found, kind)
            for name in sorted(expected.keys() | found.keys()):
                start = self.compared_from.get(name, -(1 << 62))
                if kind != "changes" and name in unread:
                    continue
                if start is None or (kind == "bad" and name in self.compared_from):
                    continue
                of_one, of_all = expected.get(name, []), found.get(name, [])
                if kind == "changes":
                    of_one = [r for r in of_one if r[1] > start]
                    of_all = [r for r in of_all if r[1] > start]
                missing, extra = difference(of_one, of_all)
                assert not missing and not extra, self._report(f"{kind} {name}", missing, extra)
        for what in ("rows", "late", "bad"):
            self._check_counts(what)

    @property
    def _read(self) -> set[str]:
        """The inputs that the job reads."""
        return {n for of in self.layouts for n in (*of.group.streams, *of.group.live)}

    def _check_counts(self, what: str) -> None:
        streams, tables = (self.engine.stats()[k] for k in ("streams", "tables"))
        key = "rows_in" if what == "rows" else what
        read = self._read
        expected = {n: of[key] for n, of in {**streams, **tables}.items() if n in read and of[key]}
        found: dict[str, int] = {}
        for shard in self.shards.values():
            for name, n in shard.record.notes.get(what, {}).items():
                if n and name in read:
                    found[name] = found.get(name, 0) + n
        assert found == expected, f"{what}: {found}, not {expected}"

    def _report(self, what: str, missing: list[Row], extra: list[Row]) -> str:
        lines = [f"{what} differ from those of one engine:"]
        lines += [f"  missing {row}" for row in missing[:10]]
        lines += [f"  in excess {row}" for row in extra[:10]]
        lines += [f"  {of.text}: {', '.join(of.queries)}" for of in self.layouts]
        return "\n".join(lines)

"""A sharded job in one process: planner, dealing, an engine per cell, and delivery, without Spark.

The code is that of the job; only Spark's shuffle, log and state store are replaced. Beside it runs
an embedded engine with the same input, which must have the same output.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import pandas as pd
import pyarrow as pa

from eddyline import CatalogError, Engine, StateError
from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.engine.query import Query
from eddyline.engine.settings import Settings
from eddyline.spark.delivery.collected import CollectedBatch
from eddyline.spark.delivery.final_stage import FinalStage
from eddyline.spark.exchange.packed_batches import INPUT_ARROW, OUTPUT_COLUMNS, unpack
from eddyline.spark.exchange.row_files import ShardFiles
from eddyline.spark.layouts.added_layouts import AddedLayout
from eddyline.spark.layouts.job_layouts import JobLayouts
from eddyline.spark.layouts.key_splits import KeySplits
from eddyline.spark.layouts.layout_shards import LayoutShards, by_group, runs_of
from eddyline.spark.layouts.layout_tables import DIRECTORY as TABLES
from eddyline.spark.layouts.shard_program import ShardSpec
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.operation.script_delta import FirstStart
from eddyline.spark.partitioning.frequent_keys import DEFAULT_LIMITS, SplitLimits
from eddyline.spark.partitioning.shard_ids import partition_of
from eddyline.spark.script import Script
from eddyline.spark.storage.control import DIRECTORY as CONTROL
from eddyline.spark.storage.control import ControlStream
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.workers.ingest import Destination
from eddyline.spark.workers.shard_engine import StepOutput
from eddyline.spark.workers.shard_input import ShardInput
from eddyline.sql.naming import quoted
from sharded_checkpoint import Checkpoint
from sharded_checks import FROM_START, Comparisons, joins
from sharded_engines import Follower, Output, Shard
from sharded_ingest import ABatch, as_whole, packed_rows, received
from sharded_programs import Programs, added_specs

AShard = TypeVar("AShard", bound=Shard)

#: Keys are split as soon as they have a few rows.
EAGER: Final = SplitLimits(first=0.5, last=0.4, least_rows=3, kept=0.7)


class Sharded(Comparisons):
    """A job over shards, and an engine with the same input.

    Args:
        shards: largest number of cells of a layout. partitions: in which they run at first; None:
            as many. tasks: of ingest, for each batch.
        directory: the checkpoint. limits: when keys are split.
        is_durable: whether each batch is committed as on Spark: engines are rebuilt from snapshots
            and logs. Nothing follows ``advance`` then, which is no batch.

    Attributes:
        now_us: the wall clock of the next batch.
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
        partitions: int | None = None,
        tasks: int = 2,
        is_durable: bool = False,
        limits: SplitLimits = DEFAULT_LIMITS,
    ) -> None:
        self._is_durable, self._limits, self._tasks = is_durable, limits, tasks
        self.now_us = 0
        self.expected, self.found = Output(), Output()
        self.compared_from: dict[str, int | None] = {}  # added queries; None: not at all
        names = StrategyOptions.__dataclass_fields__
        given = dict(options or {})
        strategy = StrategyOptions(**{n: v for n, v in given.items() if n in names})
        options_ = EngineOptions(**{n: v for n, v in given.items() if n not in names})
        self.engine = Engine(replace(options_, latency=None), strategy)
        self.engine.wall_clock = lambda: self.now_us
        self.engine.sql(ddl)
        for name, rows in tables.items():
            self.engine.table(name, rows)
        self._script = Script(Settings(options_, strategy))
        list(self._script.run(ddl))
        for name, sql in queries.items():
            self.engine.query(sql, name=name)
            self._script.query(name, sql, {"sink": "memory"})
        #: The plan of a join decides which of its rows are bad.
        self._joins = {name for name, q in self._script.queries.items() if joins(q.plan)}
        self._cells = shards
        self._path = f"file:{directory}"
        self._checkpoint = Checkpoint(
            LocalDirectory(directory),
            self._script,
            self._script.groups(),
            shards,
            partitions or shards,
        )
        self._launches = 0
        self._has_ended = False
        self._start()
        programs = Programs(self._script, self._program, tables)
        self.shards = {
            spec.shard: self._new_shard(spec) for of in self._first for spec in programs.specs(of)
        }
        self.added: dict[int, AddedLayout] = {}  # by first shard
        self.expected_of_added = Output()
        self._runs: dict[int, Follower] = {}  # by first shard of the layout
        self._of_added: dict[str, tuple[Query, int]] = {}  # in added layouts; when it was added
        self._divided: dict[str, Query] = {}  # all that have been divided
        self._until: dict[str, int] = {}  # the clock when a query was dropped
        self._followers = [
            self._with_clock(Follower(programs.without_queries(own[0], -1 - n), group))
            for n, (group, own) in enumerate(by_group(self._first))
            if sum(of.layout.cells for of in own) > 1
        ]

    def _start(self) -> None:
        """As the driver of a job does at its start."""
        self._launches += 1
        self._program = self._checkpoint.program()
        self._first = self._program.layouts
        directory = self._checkpoint.directory
        self._control = ControlStream(directory.below(CONTROL))
        self.splits = KeySplits(
            directory,
            [(of, runs_of(self._script, of)) for of in self._first],
            self._limits,
        )
        self._layouts = JobLayouts(
            self._script,
            self._first,
            self._cells,
            self.partitions,
            self._cells,
            directory.below(TABLES),
            self.splits,
        )
        self.running = RunningQueries(
            self._script,
            self._layouts,
            self._control,
            lambda query, again, instead_of=None: None,
            FirstStart(""),
            is_active=lambda: False,
        )
        self.running.allot_cores(self.partitions, self._program.first_shards)
        self._final = FinalStage(self.running.divided, self._script.options.set_aside_after)

    @property
    def has_begun(self) -> bool:
        """Whether there was a batch."""
        return self._checkpoint.next_batch > 0

    @property
    def partitions(self) -> int:
        """How many shards run side by side."""
        return self._program.shards

    @property
    def layouts(self) -> list[LayoutShards]:
        """All layouts."""
        return self._layouts.all

    def _new_shard(self, spec: ShardSpec) -> Shard:
        files = ShardFiles(self._path, spec.shard) if self._is_durable else None
        return self._with_clock(Shard(spec, files))

    def _with_clock(self, made: AShard) -> AShard:
        made.engine.engine.wall_clock = lambda: self.now_us
        return made

    def process(self, rows: Mapping[str, pa.Table], *, repeated: bool = False) -> None:
        """One batch. A group without rows and requests in it does not run, as on Spark.

        Args:
            repeated: the job fails after the batch, before it is committed, and repeats it.
        """
        assert not self._has_ended
        self.expected.take(self.engine.process(dict(sorted(rows.items())), now=self.now_us))
        if repeated:
            self._fail(rows)
        self._run(rows)
        self._checkpoint.commit()

    def _fail(self, rows: Mapping[str, pa.Table]) -> None:
        """A batch that is not committed, and a start of the driver."""
        emitted = copy.deepcopy((self.found, self.expected_of_added))
        known = dict(self.shards), dict(self.added), dict(self._runs)
        saved = [(shard, shard.saved()) for shard in self._engines()]
        self._run(rows)
        self._checkpoint.require_a_complete_batch(1 + self.partitions % self._cells)
        self.found, self.expected_of_added = emitted
        self.shards, self.added, self._runs = known
        for shard, state in saved:
            shard.load(state)
        self._start_again()

    def _engines(self) -> list[Shard]:
        """Those of the job, and those that they are compared with."""
        return [*self.shards.values(), *self._runs.values(), *self._followers]

    def _run(self, rows: Mapping[str, pa.Table]) -> None:
        self._checkpoint.begin(self.partitions)
        with self._layouts.batch(self._checkpoint.next_batch) as added:
            for layout in added:
                self._begin(layout)
            packed = [row for _, of in by_group(self.layouts) for row in self._dealt(of, rows)]
            frame = pd.DataFrame(packed, columns=[*INPUT_ARROW.names])
            requests = self._control.by_shard()
            batch = self._batch()
            for shard in self._by_partition():
                own = received(shard.spec.shard, frame, requests, batch)
                shard.process(own, self.found, str(self._launches))
            self._merge()
            for first, run in self._runs.items():
                requests[run.spec.shard] = as_whole(requests.get(first, {}))
                own = received(run.spec.shard, frame, requests, batch)
                run.process(own, self.expected_of_added)
            for follower in self._followers:
                follower.follow(s for q in self.running.queries.values() for s in q.reads)
                own = received(follower.spec.shard, frame, {}, batch)
                follower.process(own, Output())
            self._note(self._checkpoint.next_batch)
            self.splits.step([shard.report for shard in self.shards.values()])

    def _batch(self) -> ABatch:
        return ABatch(self._checkpoint.next_batch, self._path, self.now_us)

    def _by_partition(self) -> list[Shard]:
        """The shards in the order in which they run."""
        return sorted(
            self.shards.values(), key=lambda s: partition_of(s.spec.shard, self.partitions)
        )

    def _merge(self) -> None:
        """The final stage of a batch."""
        rows = [row for shard in self._by_partition() for row in shard.parts]
        frame = pd.DataFrame(rows, columns=OUTPUT_COLUMNS)
        batch = CollectedBatch(pa.Table.from_pandas(frame, preserve_index=False))
        self._final.step(self._checkpoint.next_batch, batch)
        self._divided |= {name: d.query for name, d in self.running.divided.by_name.items()}
        for name, cause in self._final.aside.items():
            self.running.set_aside(name, cause)
        for report in batch.reports:
            self.shards[report["shard"]].report = report
        for (kind, name), blobs in batch.added.items():
            for blob in blobs:
                self.found.take_packed(kind, name, unpack(blob))

    def _begin(self, added: AddedLayout) -> None:
        """The shards of an added layout begin, if they have not."""
        first = added.of.ids[0]
        if first in self.added:
            return
        self.added[first] = added
        like = self.shards[added.like].spec
        for spec in added_specs(added, like, self._checkpoint.directory):
            assert spec.shard not in self.shards
            self.shards[spec.shard] = self._new_shard(spec)
        (follower,) = (f for f in self._followers if f.streams == added.of.group.streams)
        self._runs[first] = self._with_clock(follower.runs(added, -100 - first))

    def _note(self, batch: int) -> None:
        reports = [shard.report for shard in self.shards.values()]
        self._layouts.note(batch, reports)

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
            to += [
                Destination(f.layout, [f.spec.shard], is_first=False)
                for f in (*self._followers, *self._runs.values())
                if f.streams == group.streams
            ]
            split = self.splits.next_batch()
            batch = self._batch()
            yield from packed_rows(to, definition, table, split, batch, self._tasks)

    def advance(self, to_us: int) -> None:
        """Advance all engines."""
        self._has_ended = self._is_durable
        self.expected.take(self.engine.advance(to_us))
        for shard in self._engines():
            before = shard.parts_before(str(self._launches))
            step = StepOutput.of(shard.engine.engine.advance(to_us), shard.engine.in_parts)
            output = self.expected_of_added if shard.spec.shard < 0 else self.found
            shard.emit([step], ShardInput((), {}, {}, {}, None), output, before)
        self._merge()
        self._note(self._checkpoint.next_batch - 1)  # it is no batch

    def restart(self) -> None:
        """Save and load all shards, and start the driver again."""
        assert not self._has_ended
        for shard in self.shards.values():
            shard.move()
        self._start_again()

    def _start_again(self) -> None:
        before = self._known_layouts()
        self._start()
        assert self._known_layouts() == before

    def _known_layouts(self) -> list[list[tuple[Any, ...]]]:
        """What a start has to find again; the order of the layouts counts within a group."""
        known = [
            [(o.ids, o.text, o.read_elsewhere) for o in of] for _, of in by_group(self.layouts)
        ]
        return sorted(known)

    def rescale(self, partitions: int, *, is_interrupted: bool = False) -> None:
        """Stop after a batch, run in another number of partitions, and start again.

        Args:
            is_interrupted: the rescaling is, at first, if there is something to do.
        """
        if is_interrupted and partitions != self.partitions:
            self._checkpoint.fail_to_rescale(partitions)
        self._checkpoint.rescale(partitions)
        self.restart()
        assert self.partitions == partitions

    def add(self, name: str, sql: str, window_us: int | None, rules: str = "") -> bool:
        """Add a query, if a layout fits it or can be added for it.

        Args:
            window_us: longer than its windows: from then on it is compared; None: it is not.
            rules: the table of which each row is a query.
        """
        create = f"CREATE QUERY {name} FOR EACH ROW OF {rules} AS {sql}"
        for _ in range(3):
            try:
                if rules:
                    list(self.running.run(f"{create} WITH (sink = 'memory')"))
                else:
                    self.running.add(name, sql, {"sink": "memory"})
            except StateError as e:  # a layout can begin after a batch
                assert "before the batch after which another one can begin" in str(e)
                self.process({})
            except CatalogError as e:
                known = ("no query of this job", "be added while", "joins streams of different")
                assert any(why in str(e) for why in known), e
                return False
            else:
                break
        if (of := self.running.layout_of(name)) not in self._first:
            began = self.engine.clock if of.ids[0] in self.added else FROM_START
            self._of_added[name] = self.running.queries[name], began
        # of the rows that have arrived, it has those that the queries of its layout keep
        newest = self.engine.newest
        clock = max(self.engine.clock, self.engine.clock if newest is None else newest)
        self.engine.sql(create if rules else f"CREATE QUERY {quoted(name)} AS {sql}")
        if joins(self.engine.queries[name].plan):
            self._joins.add(name)
        self.compared_from[name] = None if window_us is None else clock + window_us
        return True

    def lose_workers(self, shards: Iterable[int]) -> None:
        """Continue with other workers for these shards."""
        assert not self._has_ended
        for number in shards:
            self.shards[number].move()

    def reset(self, stream: str) -> None:
        """Reset the watermark of a stream's group."""
        self.running.reset_watermark(stream)
        self.engine.reset_watermark(stream)
        for follower in self._followers:
            if stream in follower.streams:
                follower.engine.engine.reset_watermark(stream)

    def drop(self, name: str) -> None:
        """Drop a query."""
        self.running.drop(name)
        self.engine.drop(name)
        self._until[name] = self.engine.clock

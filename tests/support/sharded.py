"""A sharded job in one process: planner, dealing, an engine per cell, and delivery, without Spark.

The code is that of the job; only Spark's shuffle and state store are replaced. Beside it runs an
embedded engine with the same input, which must have the same output.
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
from eddyline.engine.settings import Settings
from eddyline.spark.added_layouts import AddedLayout
from eddyline.spark.control import ControlStream
from eddyline.spark.directory import LocalDirectory
from eddyline.spark.ingest import Destination, Packer
from eddyline.spark.job_layouts import JobLayouts
from eddyline.spark.key_splits import KeySplits
from eddyline.spark.layout_shards import LayoutShards, by_group, layouts_of, planned
from eddyline.spark.packed_batches import INPUT_ARROW, pack
from eddyline.spark.partitioning.frequent_keys import DEFAULT_LIMITS, SplitLimits
from eddyline.spark.running_queries import RunningQueries
from eddyline.spark.script import Script
from eddyline.spark.shard import ShardInput
from eddyline.spark.shard_engine import StepOutput
from eddyline.spark.shard_program import ShardProgram, ShardSpec
from eddyline.testing.bags import Row, difference
from sharded_engines import Follower, Output, Program, Shard

AShard = TypeVar("AShard", bound=Shard)

#: Keys are split as soon as they have a few rows.
EAGER: Final = SplitLimits(first=0.5, last=0.4, least_rows=3, kept=0.7)


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
        self._limits = limits
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
        self._cells = shards
        self._first = layouts_of(self._script, groups, shards, shards, shards)
        self._directory = LocalDirectory(directory)
        self._tables = {name: pack(rows) for name, rows in tables.items()}
        self._batch = 0
        self._start()
        self.shards = {s.spec.shard: s for of in self._first for s in self._shards(of)}
        self.added: dict[int, AddedLayout] = {}  # by first shard
        self.expected_of_added = Output()
        self._runs: dict[int, Follower] = {}  # by first shard of the layout
        self._of_added: set[str] = set()  # queries in added layouts
        self._followers = [
            self._follower(own[0], -1 - n)
            for n, (_, own) in enumerate(by_group(self._first))
            if sum(of.layout.cells for of in own) > 1
        ]

    def _start(self) -> None:
        """As the driver of a job does at its start."""
        self._control = ControlStream(self._directory)
        queries = self._script.queries
        self.splits = KeySplits(
            self._directory,
            [(of, [planned(self._script, queries[n]) for n in of.queries]) for of in self._first],
            self._limits,
        )
        self._layouts = JobLayouts(
            self._script, self._first, self._cells, self._cells, self._cells, self.splits
        )
        self.running = RunningQueries(
            self._script,
            self._layouts,
            self._control,
            lambda query: None,
            "",
            is_active=lambda: False,
        )

    @property
    def layouts(self) -> list[LayoutShards]:
        """All layouts."""
        return self._layouts.all

    def _shards(self, of: LayoutShards) -> Iterable[Shard]:
        program = self._program(of)
        for cell, shard in enumerate(of.ids):
            parts = (of.described, cell, of.reports(cell), of.counts(cell))
            spec = ShardSpec(shard, "", *parts, program)
            yield self._with_clock(Shard(spec, is_durable=self._is_durable))

    def _follower(self, of: LayoutShards, shard: int) -> Follower:
        program = Program(replace(self._program(of).read(), queries=()))
        spec = ShardSpec(shard, "", "", 0, (), (), program)
        return self._with_clock(Follower(spec, of.group.streams))

    def _with_clock(self, made: AShard) -> AShard:
        made.engine.engine.wall_clock = self._now
        return made

    def _program(self, of: LayoutShards) -> Program:
        group, script = of.group, self._script
        return Program(
            ShardProgram(
                script.definitions,
                script.program_of(of.queries),
                {name: self._tables[name] for name in group.tables},
                (),
                (*group.streams, *group.live),
                of.read_elsewhere,
                script.options,
                script.strategy,
            )
        )

    def _now(self) -> int:
        return self.now_us

    def process(self, rows: Mapping[str, pa.Table], *, repeated: bool = False) -> None:
        """One batch. A group without rows and requests in it does not run, as on Spark.

        Args:
            repeated: the job fails after the batch, before it is committed, and repeats it.
        """
        self.expected.take(self.engine.process(dict(sorted(rows.items())), now=self.now_us))
        if repeated:
            self._fail(rows)
        self._run(rows)
        self._batch += 1

    def _fail(self, rows: Mapping[str, pa.Table]) -> None:
        """A batch that is not committed, and a start of the driver."""
        emitted = copy.deepcopy((self.found, self.expected_of_added))
        known = dict(self.shards), dict(self.added), dict(self._runs)
        saved = [(shard, shard.saved()) for shard in self._engines()]
        self._run(rows)
        self.found, self.expected_of_added = emitted
        self.shards, self.added, self._runs = known
        for shard, state in saved:
            shard.load(*state)
        self.restart()

    def _engines(self) -> list[Shard]:
        """Those of the job, and those that they are compared with."""
        return [*self.shards.values(), *self._runs.values(), *self._followers]

    def _run(self, rows: Mapping[str, pa.Table]) -> None:
        with self._layouts.batch(self._batch) as added:
            for layout in added:
                self._begin(layout)
            packed = [row for _, of in by_group(self.layouts) for row in self._dealt(of, rows)]
            frame = pd.DataFrame(packed, columns=[*INPUT_ARROW.names]).assign(now_us=self.now_us)
            requests = self._control.by_shard()
            for shard in self.shards.values():
                shard.process(self._received(shard, frame, requests), self.found)
            for first, run in self._runs.items():
                requests[run.spec.shard] = requests.get(first, {})
                run.process(self._received(run, frame, requests), self.expected_of_added)
            for follower in self._followers:
                follower.follow(s for q in self.running.queries.values() for s in q.reads)
                follower.process(self._received(follower, frame, {}), Output())
            self._note()
            self.splits.step([shard.report for shard in self.shards.values()])

    def _received(
        self, shard: Shard, frame: pd.DataFrame, requests: Mapping[int, Mapping[int, str]]
    ) -> ShardInput:
        own = frame[frame["shard"] == shard.spec.shard]
        received = ShardInput.read(iter([own]), requests.get(shard.spec.shard, {}))
        if len(own):
            return received
        # the engine runs, to compare clocks
        return ShardInput((), {}, {}, received.statements, None, self.now_us)

    def _begin(self, added: AddedLayout) -> None:
        """The shards of an added layout begin, if they have not."""
        first = added.of.ids[0]
        if first in self.added:
            return
        self.added[first] = added
        for shard, spec in added.specs(self.shards[added.like].spec).items():
            assert shard not in self.shards
            self.shards[shard] = self._with_clock(Shard(spec, is_durable=self._is_durable))
        (follower,) = (f for f in self._followers if f.streams == added.of.group.streams)
        self._runs[first] = self._with_clock(follower.runs(added, -100 - first))

    def _note(self) -> None:
        self._layouts.note(self._batch, [shard.report for shard in self.shards.values()])

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
        for shard in self._engines():
            step = StepOutput.of(shard.engine.engine.advance(to_us))
            output = self.expected_of_added if shard.spec.shard < 0 else self.found
            shard.emit([step], ShardInput((), {}, {}, {}, None), output)
        self._note()

    def restart(self) -> None:
        """Save and load all shards, and start the driver again."""
        for shard in self.shards.values():
            shard.load(*shard.saved())
        before = [(of.ids, of.text, of.cores, of.read_elsewhere) for of in self.layouts]
        self._start()
        again = [(of.ids, of.text, of.cores, of.read_elsewhere) for of in self.layouts]
        assert again == before

    def add(self, name: str, sql: str, window_us: int | None) -> bool:
        """Add a query, if a layout fits it or can be added for it.

        Args:
            window_us: longer than its windows: from then on it is compared; None: it is not.
        """
        for _ in range(3):
            try:
                self.running.add(name, sql, {"sink": "memory"})
            except StateError as e:  # a layout can begin after a batch
                assert "before the batch after which another one can begin" in str(e)
                self.process({})
            except CatalogError as e:
                known = ("would not have the changes", "no query of this job", "be added while")
                assert any(why in str(e) for why in known), e
                return False
            else:
                break
        assert name in self.running.queries
        if self.running.layout_of(name) not in self._first:
            self._of_added.add(name)
        # of the rows that have arrived, it has those that the queries of its layout keep
        newest = self.engine.newest
        clock = max(self.engine.clock, self.engine.clock if newest is None else newest)
        self.engine.query(sql, name=name)
        self.compared_from[name] = None if window_us is None else clock + window_us
        return True

    def lose_workers(self, shards: Iterable[int]) -> None:
        """Continue with other workers for these shards."""
        for number in shards:
            self.shards[number].lose_worker()

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
        for kind in ("changes", "bad"):
            expected, found = getattr(self.expected_of_added, kind), getattr(self.found, kind)
            for name in sorted(self._of_added):
                missing, extra = difference(expected.get(name, []), found.get(name, []))
                assert not missing and not extra, self._report(f"{kind} {name}", missing, extra)

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

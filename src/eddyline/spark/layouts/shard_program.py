"""The program of a shard: everything needed to build its engine, sent to the workers."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pyspark import cloudpickle

from eddyline.algebra.functions import CodeFunction
from eddyline.bulk import without_collections
from eddyline.engine.engine import Engine
from eddyline.engine.functions import add_function
from eddyline.engine.ingest.table_contents import TableContents
from eddyline.engine.options import DEFAULT_STRATEGY, EngineOptions, StrategyOptions
from eddyline.optimizer.prices import TYPICAL
from eddyline.spark.exchange.broadcasts import BroadcastBlob
from eddyline.spark.exchange.shared_files import SharedFile
from eddyline.spark.layouts.table_contents import ShardTables
from eddyline.types import BEGINNING

if TYPE_CHECKING:
    from pyspark import SparkContext


NO_TABLES: Final = ShardTables()
_UNLIMITED: Final = EngineOptions(capacity=math.inf, prices=TYPICAL)


@dataclass(frozen=True)
class Beginning:
    """How a shard begins that is added to a running job, as of the batch before its first one.

    Attributes:
        clocks: of the other shards of its group, see ``Progress.clocks``.
        statements: number of statements of the control stream that these have executed.
        read_elsewhere: streams that their queries read. cores: CPU cores of the shard.
        counted: streams of which it gets the timestamps of all rows.
        tables: the packed ``TableContents`` with which it begins; None: it reads no table that
            changes.
    """

    clocks: tuple[dict[str, Any], ...]
    statements: int
    read_elsewhere: frozenset[str]
    cores: float
    counted: frozenset[str]
    tables: SharedFile | None = None


@dataclass(frozen=True)
class ShardProgram:
    """What an engine is built from.

    Attributes:
        statements: that create streams, tables, views and the queries of its start, in order;
            queries added and dropped later are in the shard's state.
        definitions: the same without queries, for shards that are added.
        functions: of users, with code.
        inputs: streams and changing tables with one clock. read_elsewhere: those of the streams
            that queries of other engines read. counted: those of which it gets the timestamps of
            all rows, for windows of rows.
        options, strategy: of the engine. Prices and capacity are those of the job's first start,
            because its state fits the plans that were chosen by them.
    """

    statements: tuple[str, ...]
    definitions: tuple[str, ...] = ()
    functions: tuple[CodeFunction, ...] = ()
    inputs: tuple[str, ...] = ()
    read_elsewhere: frozenset[str] = frozenset()
    options: EngineOptions = _UNLIMITED
    strategy: StrategyOptions = DEFAULT_STRATEGY
    counted: frozenset[str] = frozenset()

    def after(self, beginning: Beginning) -> ShardProgram:
        """The program of a shard that is added to a running job: without queries."""
        options = replace(self.options, capacity=beginning.cores)
        return replace(
            self,
            statements=self.definitions,
            read_elsewhere=beginning.read_elsewhere,
            options=options,
            counted=beginning.counted,
        )

    def build(self, tables: ShardTables = NO_TABLES) -> Engine:
        """An engine with the streams, tables, views and queries, before the first row."""
        engine = Engine(replace(self.options, decide="after"), self.strategy)
        for function in self.functions:
            add_function(engine.catalog, function)
        engine.parts.inputs.counted = self.counted
        with without_collections():
            waiting = tables.names()
            for sql in self.statements:
                engine.sql(sql)
                for name in [n for n in waiting if n in engine.catalog.tables]:  # before it is read
                    waiting.remove(name)
                    engine.table(name, tables.rows(engine.catalog.tables[name]))
        engine.parts.progress.share_clock(self.inputs, self.read_elsewhere)
        # Sets the keep rates of the first batch from declared rates. Time begins with that batch.
        engine.process({}, now=BEGINNING)
        return engine


class BroadcastProgram:
    """A program that is sent to the workers once, and read only to build an engine."""

    def __init__(self, context: SparkContext, program: ShardProgram) -> None:
        code: bytes = cloudpickle.dumps(program)  # type: ignore[no-untyped-call]  # no types
        self._code = BroadcastBlob(context, code)

    def read(self) -> ShardProgram:
        """The program, in a worker."""
        program = pickle.loads(self._code.read())
        assert isinstance(program, ShardProgram)
        return program


@dataclass(frozen=True)
class ShardSpec:
    """The program of one engine, and its part of the rows.

    Attributes:
        run_key: identifies the checkpoint; with the shard, the key of the worker's engine cache.
        layout, cell: how rows are dealt, in words, and the cell of this shard.
        reports: the inputs of which it reports late and bad rows; of the others, or of other cells,
            other shards do. counts: those of which it counts all rows that arrive.
        beginning: of a shard that was added to a running job; None: of the job's start.
        tables: with their initial content.
    """

    shard: int
    run_key: str
    layout: str
    cell: int
    reports: tuple[str, ...]
    counts: tuple[str, ...]
    program: BroadcastProgram
    beginning: Beginning | None = None
    tables: ShardTables = NO_TABLES

    def new_engine(self) -> Engine:
        """The engine before its first batch."""
        program, beginning = self.program.read(), self.beginning
        if beginning is None:
            return program.build(self.tables)
        program, tables = program.after(beginning), self.tables
        if beginning.tables is None:
            engine = program.build(tables)
        else:
            contents = tables.own(TableContents.read(beginning.tables.read()))
            engine = program.build(tables.without(contents.rows))
            contents.give(engine.parts.inputs)
        engine.parts.progress.follow(beginning.clocks)
        return engine

    @property
    def statements(self) -> int:
        """Number of statements of the control stream before its first batch."""
        return 0 if self.beginning is None else self.beginning.statements

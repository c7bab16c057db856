"""The program of a shard: everything needed to build its engine, sent to the workers."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pyspark import cloudpickle

from eddyline.algebra.functions import UserFunction
from eddyline.engine.engine import Engine
from eddyline.engine.functions import add_function
from eddyline.engine.options import DEFAULT_STRATEGY, EngineOptions, StrategyOptions
from eddyline.optimizer.prices import TYPICAL
from eddyline.spark.gc_control import gc_paused
from eddyline.spark.packed_batches import unpack
from eddyline.types import BEGINNING

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext


_UNLIMITED: Final = EngineOptions(capacity=math.inf, prices=TYPICAL)


@dataclass(frozen=True)
class Beginning:
    """How a shard begins that is added to a running job, as of the batch before its first one.

    Attributes:
        clocks: of the other shards of its group, see ``Progress.clocks``.
        statements: number of statements of the control stream that these have executed.
        read_elsewhere: streams that their queries read. cores: CPU cores of the shard.
    """

    clocks: tuple[dict[str, Any], ...]
    statements: int
    read_elsewhere: frozenset[str]
    cores: float


@dataclass(frozen=True)
class ShardProgram:
    """What an engine is built from.

    Attributes:
        definitions: CREATE STREAM, TABLE and VIEW statements.
        queries: CREATE QUERY statements at the start of the job; queries added and dropped later
            are in the shard's state.
        tables: their initial content (Arrow IPC). functions: of users, with code.
        inputs: streams and changing tables with one clock. read_elsewhere: those of the streams
            that queries of other engines read.
        options, strategy: of the engine. Prices and capacity are those of the job's first start,
            because its state fits the plans that were chosen by them.
    """

    definitions: tuple[str, ...]
    queries: tuple[str, ...]
    tables: Mapping[str, bytes] = field(default_factory=dict)
    functions: tuple[UserFunction, ...] = ()
    inputs: tuple[str, ...] = ()
    read_elsewhere: frozenset[str] = frozenset()
    options: EngineOptions = _UNLIMITED
    strategy: StrategyOptions = DEFAULT_STRATEGY

    def after(self, beginning: Beginning) -> ShardProgram:
        """The program of a shard that is added to a running job: without queries."""
        options = replace(self.options, capacity=beginning.cores)
        read = beginning.read_elsewhere
        return replace(self, queries=(), read_elsewhere=read, options=options)

    def build(self) -> Engine:
        """An engine with the declared streams, tables and queries, before the first row."""
        engine = Engine(replace(self.options, decide="after"), self.strategy)
        for function in self.functions:
            add_function(engine.catalog, function)
        for sql in self.definitions:
            engine.sql(sql)
        for name, blob in self.tables.items():
            engine.table(name, unpack(blob))
        with gc_paused():
            for sql in self.queries:
                engine.sql(sql)
        engine.parts.progress.share_clock(self.inputs, self.read_elsewhere)
        # Sets the keep rates of the first batch from declared rates. Time begins with that batch.
        engine.process({}, now=BEGINNING)
        return engine


class BroadcastProgram:
    """A program that is sent to the workers as a Spark broadcast, and read only to build an engine.

    The reference to the broadcast is pickled separately, because the process in which Spark
    inspects a stateful processor before it runs has no broadcasts.
    """

    def __init__(self, context: SparkContext, program: ShardProgram) -> None:
        code: bytes = cloudpickle.dumps(program)  # type: ignore[no-untyped-call]
        self._broadcast: Broadcast[bytes] | None = context.broadcast(code)
        self._reference = b""

    def __getstate__(self) -> dict[str, Any]:
        return {"_broadcast": None, "_reference": pickle.dumps(self._broadcast)}

    def read(self) -> ShardProgram:
        """The program, in a worker."""
        broadcast = self._broadcast or pickle.loads(self._reference)
        program = pickle.loads(broadcast.value)
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
    """

    shard: int
    run_key: str
    layout: str
    cell: int
    reports: tuple[str, ...]
    counts: tuple[str, ...]
    program: BroadcastProgram
    beginning: Beginning | None = None

    def new_engine(self) -> Engine:
        """The engine before its first batch."""
        program, beginning = self.program.read(), self.beginning
        if beginning is None:
            return program.build()
        engine = program.after(beginning).build()
        engine.parts.progress.follow(beginning.clocks)
        return engine

    @property
    def statements(self) -> int:
        """Number of statements of the control stream before its first batch."""
        return 0 if self.beginning is None else self.beginning.statements

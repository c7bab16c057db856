"""What a job runs: per shard, everything that builds its engine. It is sent to the workers."""

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

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext


_UNLIMITED: Final = EngineOptions(capacity=math.inf, prices=TYPICAL)


@dataclass(frozen=True)
class ShardProgram:
    """What an engine is built from.

    Attributes:
        queries: the CREATE QUERY statements that the job started with; those that came and went
            since are in the shard's state.
        tables: their first rows. functions: of users, code and all.
        options, strategy: of the engine. Prices and capacity are those of the first start of the
            job: its state fits the plans that were chosen by them.
    """

    definitions: tuple[str, ...]
    queries: tuple[str, ...]
    tables: Mapping[str, bytes] = field(default_factory=dict)
    functions: tuple[UserFunction, ...] = ()
    options: EngineOptions = _UNLIMITED
    strategy: StrategyOptions = DEFAULT_STRATEGY

    def build(self) -> Engine:
        """An engine with the declared streams and tables and all queries, before any row."""
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
        engine.process({})  # decides, by declared rates, what to keep of the first batch
        return engine


class BroadcastProgram:
    """A program on its way to the workers: who already has the engine does not even read it.

    It goes as a Spark broadcast. What refers to that is pickled apart, because the process in which
    Spark looks at a stateful processor before it runs has no broadcasts.
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
        assert isinstance(program, ShardProgram), "that is what was sent"
        return program


@dataclass(frozen=True)
class ShardSpec:
    """One engine: the streams it reads and the program it starts from.

    Attributes:
        run_key: names the checkpoint; engines cached in a worker are found by it.
        live: the tables whose changes come as rows do.
    """

    shard: int
    run_key: str
    streams: tuple[str, ...]
    live: tuple[str, ...]
    program: BroadcastProgram

    @property
    def inputs(self) -> tuple[str, ...]:
        """Everything that brings rows: the streams and the tables that change."""
        return (*self.streams, *self.live)

"""What a job runs: per shard, everything that builds its engine. Picklable, sent to the workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eddyline.algebra.functions import UserFunction
from eddyline.session.engine import Engine
from eddyline.session.functions import add_function
from eddyline.spark.fatrows import unpack


@dataclass(frozen=True)
class StreamSpec:
    """A stream as a shard sees it."""

    name: str
    lateness_us: int


@dataclass(frozen=True)
class ShardSpec:
    """One engine: the statements and tables it starts from, and the streams it reads.

    Attributes:
        run_key: names the checkpoint; engines cached in a worker are found by it.
        queries: the CREATE QUERY statements that the job started with; those that came and went
            since are in the shard's state.
        tables: their first rows. live: the tables whose changes come as rows do.
        functions: of users, code and all.
    """

    shard: int
    run_key: str
    definitions: tuple[str, ...]
    queries: tuple[str, ...]
    streams: tuple[StreamSpec, ...]
    tables: Mapping[str, bytes] = field(default_factory=dict)
    live: tuple[str, ...] = ()
    functions: tuple[UserFunction, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Everything that brings rows: the streams and the tables that change."""
        return (*(s.name for s in self.streams), *self.live)

    def build(self) -> Engine:
        """An engine with the declared streams and tables and all queries, before any row."""
        engine = Engine()
        for function in self.functions:
            add_function(engine.catalog, function)
        for sql in self.definitions:
            engine.sql(sql)
        for name, blob in self.tables.items():
            engine.table(name, unpack(blob))
        for sql in self.queries:
            engine.sql(sql)
        return engine

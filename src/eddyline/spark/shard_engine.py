"""The engine of a shard, with what has come out of it so far."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import pyarrow as pa

from eddyline.algebra.functions import UserFunction
from eddyline.engine.changes import Changes
from eddyline.engine.engine import Engine
from eddyline.spark.durable import EngineBatch
from eddyline.spark.gc_control import gc_paused
from eddyline.spark.output_routes import OutputRoutes, QueryRows
from eddyline.spark.packed_batches import unpack
from eddyline.types import END_OF_TIME, FIRST_INSTANT

_LENGTH_BYTES: Final = 8


@dataclass(frozen=True)
class StepOutput:
    """What a step made: changes, by shape of queries; late and bad rows, by input; how many rows
    drop boxes did not keep.
    """

    changes: list[QueryRows]
    late: Mapping[str, pa.Table]
    bad: Mapping[str, pa.Table]
    dropped: Mapping[str, int]

    @classmethod
    def of(cls, changes: Changes) -> StepOutput:
        """What a call of the engine gave back."""
        parts = [QueryRows.of(table) for table in changes.batches() if table.num_rows]
        dropped = {stream: k.seen - k.kept for stream, k in changes.kept.items()}
        return cls(parts, changes.late, changes.bad, dropped)


class ShardEngine:
    """An engine, where its changes go, and how many each query has had since the job began.

    It is deterministic: the same steps give the same state.
    """

    def __init__(self, engine: Engine, rows_out: Mapping[str, int] | None = None) -> None:
        self.engine = engine
        self.routes = OutputRoutes(engine.queries)
        self.rows_out: dict[str, int] = dict(rows_out or {})

    def apply(self, step: EngineBatch) -> list[StepOutput]:
        """Let the engine process one batch. What it makes when replayed was delivered before."""
        for statement in step.statements:
            self.engine.sql(statement)
        tables: dict[str, list[pa.Table]] = {}
        for stream, blob in step.pieces:
            tables.setdefault(stream, []).append(unpack(blob))
        if step.hold:
            self.engine.hold()
        batch = {stream: pa.concat_tables(parts) for stream, parts in tables.items()}
        changes = self.engine.process(
            batch, now=step.now_us, dropped=step.dropped, newest_dropped=step.newest
        )
        made = [StepOutput.of(changes)]
        newest = self.engine.newest
        if step.drain_us is not None and newest is not None:
            end = min(newest + step.drain_us + 1, END_OF_TIME - 1)
            made.append(StepOutput.of(self.engine.advance(end)))
        for name, n in counted(made).items():
            self.rows_out[name] = self.rows_out.get(name, 0) + n
        return made

    @property
    def clock_us(self) -> int | None:
        """The watermark; None while a stream has had no row."""
        watermark = self.engine.watermark
        return watermark if watermark >= FIRST_INSTANT else None

    def groups(self, now_us: int) -> list[dict[str, Any]]:
        """The groups of streams with their watermarks, and who holds them up."""
        return self.engine.groups(now_us)

    @property
    def keep(self) -> dict[str, float]:
        """By stream that is thinned, the share of the rows of the next batch to keep."""
        told = self.engine.shedding
        return {name: t["keep"] for name, t in told.items() if t.get("keep", 1) < 1}

    @property
    def refuses(self) -> bool:
        """Whether queries that allow nothing to be dropped have to wait: it has decided to drop
        rows of the next batch, and some may be dropped already.
        """
        return self.engine.decides and bool(self.keep)

    def save(self, target: BinaryIO) -> None:
        """Write everything, so that ``load`` continues exactly here."""
        counts = json.dumps(self.rows_out).encode()
        target.write(len(counts).to_bytes(_LENGTH_BYTES, "little"))
        target.write(counts)
        self.engine.save(target)

    @classmethod
    def load(cls, source: BinaryIO, functions: Iterable[UserFunction] = ()) -> ShardEngine:
        """What was saved. Its queries find the code of the functions that they call here.

        Raises:
            StateError: as ``Engine.load``.
        """
        length = int.from_bytes(source.read(_LENGTH_BYTES), "little")
        counts = json.loads(source.read(length))
        code = {f.name: f.evaluate for f in functions}
        with gc_paused():
            return cls(Engine.load(source, functions=code), counts)


def counted(made: Iterable[StepOutput]) -> dict[str, int]:
    """The changes of each query that has some."""
    counts: dict[str, int] = {}
    for parted in (p for m in made for p in m.changes):
        for name, n in parted.counts.items():
            counts[name] = counts.get(name, 0) + n
    return counts

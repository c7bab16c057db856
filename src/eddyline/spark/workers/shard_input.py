"""What one shard gets in a batch, as input of its engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from eddyline.spark.exchange.packed_batches import Arrivals
from eddyline.spark.exchange.row_files import RowFile, ShardFiles
from eddyline.spark.storage.control import ASK, Question, note_of
from eddyline.spark.workers.batch_log import Blob
from eddyline.spark.workers.durable import CommitRecord, EngineBatch
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery


@dataclass(frozen=True)
class ShardInput:
    """The packed batches of one shard and Spark batch, by kind and in order.

    Attributes:
        rows: (stream, Arrow IPC stream, or a file of it). counts: number of these by stream.
        arrivals: by stream, all rows that arrived, also those for other shards and dropped ones.
        statements: of the control stream, by number.
        drain_us: at the end of the input, event time by which to advance after the last row.
        now_us, number: wall clock of the batch, and its number in Spark's log.
        keys: the counts of frequent keys of each task of ingest; see ``KeyCounts``.
        questions: which the shard answers after the batch.
    """

    rows: tuple[tuple[str, Blob | RowFile], ...]
    counts: Mapping[str, int]
    arrivals: Mapping[str, Arrivals]
    statements: Mapping[int, str]
    drain_us: int | None
    now_us: int = 0
    keys: tuple[Any, ...] = ()
    number: int = 0
    questions: tuple[Question, ...] = ()

    @classmethod
    def read(
        cls,
        frames: Iterator[pd.DataFrame],
        files: ShardFiles,
        requests: Mapping[int, str] = MappingProxyType({}),
        *,
        now_us: int,
        number: int,
    ) -> ShardInput:
        """Collect the packed batches, those of a stream in the order (part, seq).

        Args:
            files: of the shard. requests: more statements, by number.
            now_us, number: wall clock of the batch, and its number in Spark's log.
        """
        packed = [row for frame in frames for row in frame.itertuples(index=False)]
        packed.sort(key=lambda r: (r.name, r.part, r.seq))
        rows: list[tuple[str, Blob | RowFile]] = []
        counts: dict[str, int] = {}
        arrivals: dict[str, Arrivals] = {}
        for row in packed:
            if row.kind in ("rows", "file"):
                counts[row.name] = counts.get(row.name, 0) + int(row.n)
                blob = bytes(row.blob)
                rows.append((row.name, files.find(blob.decode()) if row.kind == "file" else blob))
            elif row.kind == "clock":
                arrived = Arrivals.read(bytes(row.blob))
                arrivals[row.name] = arrivals.get(row.name, Arrivals()) + arrived
        control = [
            (r.name, int(r.seq), bytes(r.blob).decode()) for r in packed if r.kind == "control"
        ]
        return cls(
            rows=tuple(rows),
            counts=counts,
            arrivals=arrivals,
            statements={
                **requests,
                **{number: text for name, number, text in control if name == "sql"},
            },
            drain_us=max((int(text) for name, _, text in control if name == "end"), default=None),
            now_us=now_us,
            keys=tuple(json.loads(bytes(row.blob)) for row in packed if row.kind == "keys"),
            number=number,
            questions=tuple(Question.read(text) for name, _, text in control if name == ASK),
        )


def engine_batch(
    record: CommitRecord, received: ShardInput, *, drops_rows: bool = False
) -> EngineBatch:
    """The input of the engine for this batch; for ``drops_rows`` see :func:`due_statements`."""
    due, hold = due_statements(record, received, drops_rows=drops_rows)
    return EngineBatch(
        received.rows,
        received.now_us,
        received.drain_us,
        due,
        {name: a.dropped for name, a in received.arrivals.items() if a.dropped},
        {name: a.newest for name, a in received.arrivals.items() if a.newest is not None},
        {name: a.oldest for name, a in received.arrivals.items() if a.oldest is not None},
        hold,
        number=received.number,
        ages=sum(received.arrivals.values(), Arrivals()).ages,
    )


def due_statements(
    record: CommitRecord, received: ShardInput, *, drops_rows: bool
) -> tuple[tuple[str, ...], bool]:
    """The statements to execute with this batch, in the order of their numbers, and whether one
    waits for the next batch.

    Statements are executed without gaps: if Spark delivers a file before an older one, its
    statement waits.

    Args:
        drops_rows: rows may have been dropped already, so a query without ON OVERLOAD SHED waits.
    """
    waiting: dict[str, str] = record.notes.setdefault("waiting", {})
    done: int = record.notes.setdefault("statements", 0)
    waiting.update((str(n), text) for n, text in received.statements.items() if n > done)
    due, hold = [], False
    while (statement := waiting.get(str(done + 1))) is not None:
        if hold := drops_rows and _needs_all_rows(statement):
            break
        due.append(waiting.pop(str(done + 1)))
        done += 1
    record.notes["statements"] = done
    return tuple(due), hold


def _needs_all_rows(statement: str) -> bool:
    if note_of(statement) is not None:
        return False
    return any(isinstance(s, CreateQuery) and not s.sheds for s in parse(statement))

"""What a shard hands on after a batch: its changes by route, side outputs and its report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark.durable import CommitRecord, EngineBatch
from eddyline.spark.output_routes import OutputRoute, together
from eddyline.spark.packed_batches import OUTPUT_COLUMNS, pack, pieces
from eddyline.spark.shard_engine import StepOutput, counted
from eddyline.spark.shard_program import ShardSpec
from eddyline.spark.sinks import OF_QUERIES


class ShardOutput:
    """The fat rows that a batch makes: changes, side outputs, progress.

    Args:
        made: by the engine. routes: of its queries.
        arrived: by input, how many rows came.
    """

    def __init__(
        self,
        spec: ShardSpec,
        made: list[StepOutput],
        routes: Mapping[str, OutputRoute],
        arrived: Mapping[str, int],
    ) -> None:
        self._spec = spec
        self._made = made
        self._routes = routes
        self._arrived = arrived
        self._late = {n: [m.late[n] for m in made if n in m.late] for n in spec.inputs}
        self._bad = {n: [m.bad[n] for m in made if n in m.bad] for n in spec.inputs}
        names = {name: None for m in made for name in m.bad if name not in self._bad}
        self._failed = {n: [m.bad[n] for m in made if n in m.bad] for n in names}
        self._dropped = {n: sum(m.dropped.get(n, 0) for m in made) for n in spec.inputs}

    def frames(self) -> Iterator[pd.DataFrame]:
        """Changes and side outputs, one piece per frame: few large values, never all at once."""
        for key, table in self._changes():
            yield from self._pieces("changes", key, table)
        for name in self._spec.inputs:
            for kind, tables in (("late", self._late), ("bad", self._bad)):
                for table in tables[name]:
                    yield from self._pieces(kind, name, table)
        if (failed := self._bad_of_queries()) is not None:
            yield from self._pieces("bad", OF_QUERIES, failed)

    def note(self, notes: dict[str, Any]) -> None:
        """Add this batch to the counts by input since the job began."""
        batch = {
            "rows": {name: self._arrived.get(name, 0) for name in self._spec.inputs},
            "late": _counts(self._late),
            "bad": _counts(self._bad) | _counts(self._failed),
            "dropped": self._dropped,
        }
        for what, counts in batch.items():
            total: dict[str, int] = notes.setdefault(what, {})
            for name, n in counts.items():
                total[name] = total.get(name, 0) + n

    def progress(
        self,
        head: CommitRecord,
        step: EngineBatch,
        seconds: Mapping[str, float],
        more: Mapping[str, Any],
    ) -> pd.DataFrame:
        """The row that tells the driver how far this shard is, and what each query got."""
        report = {
            "shard": self._spec.shard,
            "version": head.version,
            "arrived": self._arrived,
            "out": counted(self._made),
            **head.notes,
            "state": {"snapshot_bytes": head.snapshot_bytes, "log_bytes": head.log_bytes},
            "seconds": {name: round(s, 6) for name, s in seconds.items()},
            **more,
        }
        return self._frame("progress", "", 1, json.dumps(report).encode())

    def stats(self, query_stats: bytes) -> pd.DataFrame:
        """The row that tells what the engine says of each query, as JSON."""
        return self._frame("stats", str(self._spec.shard), 1, query_stats)

    def _changes(self) -> Iterator[tuple[str, pa.Table]]:
        """One table per route: thousands of queries must not make thousands of small values."""
        tables: dict[str, list[pa.Table]] = {}
        for parted in (p for m in self._made for p in m.changes):
            for key, table in parted.through(self._routes):
                tables.setdefault(key, []).append(table)
        for key, parts in tables.items():
            yield key, together(parts)

    def _bad_of_queries(self) -> pa.Table | None:
        """The rows that queries could not take, with the query in front; None: there are none."""
        tables = []
        for name, parts in self._failed.items():
            for table in parts:
                query = pa.repeat(name, table.num_rows).dictionary_encode()
                tables.append(table.add_column(0, pa.field(QUERY_COLUMN, query.type), query))
        return together(tables) if tables else None

    def _pieces(self, kind: str, name: str, table: pa.Table) -> Iterator[pd.DataFrame]:
        for piece in pieces(table):
            yield self._frame(kind, name, piece.num_rows, pack(piece))

    def _frame(self, kind: str, name: str, n: int, blob: bytes) -> pd.DataFrame:
        return pd.DataFrame([(self._spec.shard, kind, name, n, blob)], columns=OUTPUT_COLUMNS)


def _counts(tables: Mapping[str, list[pa.Table]]) -> dict[str, int]:
    return {name: sum(t.num_rows for t in parts) for name, parts in tables.items()}

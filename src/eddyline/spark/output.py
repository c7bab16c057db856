"""The output of a shard for a batch: changes by route, side outputs and a report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark.durable import CommitRecord
from eddyline.spark.packed_batches import OUTPUT_COLUMNS, pack, pieces
from eddyline.spark.query_rows import OutputRoute, concatenated
from eddyline.spark.shard_engine import StepOutput, counted
from eddyline.spark.shard_program import ShardSpec
from eddyline.spark.sinks import OF_QUERIES


class ShardOutput:
    """The packed batches of changes, side outputs and progress.

    Args:
        outputs: of the engine. routes: of its queries.
        received: number of rows by input.
    """

    def __init__(
        self,
        spec: ShardSpec,
        outputs: list[StepOutput],
        routes: Mapping[str, OutputRoute],
        received: Mapping[str, int],
    ) -> None:
        self._spec = spec
        self._outputs = outputs
        self._routes = routes
        self._received = received
        self._late = {n: [o.late[n] for o in outputs if n in o.late] for n in spec.inputs}
        self._bad = {n: [o.bad[n] for o in outputs if n in o.bad] for n in spec.inputs}
        queries = {name: None for o in outputs for name in o.bad if name not in self._bad}
        self._bad_of_query = {n: [o.bad[n] for o in outputs if n in o.bad] for n in queries}
        self._dropped = {n: sum(o.dropped.get(n, 0) for o in outputs) for n in spec.inputs}

    def frames(self) -> Iterator[pd.DataFrame]:
        """Changes and side outputs, one piece per frame."""
        for key, table in self._changes():
            yield from self._pieces("changes", key, table)
        for name in self._spec.inputs:
            for kind, tables in (("late", self._late), ("bad", self._bad)):
                for table in tables[name]:
                    yield from self._pieces(kind, name, table)
        if (bad := self._bad_of_queries()) is not None:
            yield from self._pieces("bad", OF_QUERIES, bad)

    def add_counts(self, notes: dict[str, Any]) -> None:
        """Add this batch to the counts by input since the job's first start."""
        batch = {
            "rows": {name: self._received.get(name, 0) for name in self._spec.inputs},
            "late": _counts(self._late),
            "bad": _counts(self._bad),
            "dropped": self._dropped,
        }
        for what, counts in batch.items():
            total: dict[str, int] = notes.setdefault(what, {})
            for name, n in counts.items():
                total[name] = total.get(name, 0) + n

    def progress(
        self, record: CommitRecord, seconds: Mapping[str, float], more: Mapping[str, Any]
    ) -> pd.DataFrame:
        """The shard's report to the driver: progress, and number of changes by query."""
        report = {
            "shard": self._spec.shard,
            "version": record.version,
            "arrived": self._received,
            "out": counted(self._outputs),
            **record.notes,
            "state": {"snapshot_bytes": record.snapshot_bytes, "log_bytes": record.log_bytes},
            "seconds": {name: round(s, 6) for name, s in seconds.items()},
            **more,
        }
        return self._frame("progress", "", 1, json.dumps(report).encode())

    def stats(self, stats: bytes) -> pd.DataFrame:
        """The metrics of the shard's queries, supplied as JSON."""
        return self._frame("stats", str(self._spec.shard), 1, stats)

    def _changes(self) -> Iterator[tuple[str, pa.Table]]:
        """One table per route, so that thousands of queries do not make thousands of blobs."""
        tables: dict[str, list[pa.Table]] = {}
        for rows in (rows for output in self._outputs for rows in output.changes):
            for key, table in rows.by_route(self._routes):
                tables.setdefault(key, []).append(table)
        for key, parts in tables.items():
            yield key, concatenated(parts)

    def _bad_of_queries(self) -> pa.Table | None:
        """Bad rows of queries, the first column names the query; None if there are none."""
        tables = []
        for name, parts in self._bad_of_query.items():
            for table in parts:
                query = pa.repeat(name, table.num_rows).dictionary_encode()
                tables.append(table.add_column(0, pa.field(QUERY_COLUMN, query.type), query))
        return concatenated(tables) if tables else None

    def _pieces(self, kind: str, name: str, table: pa.Table) -> Iterator[pd.DataFrame]:
        for piece in pieces(table):
            yield self._frame(kind, name, piece.num_rows, pack(piece))

    def _frame(self, kind: str, name: str, n: int, blob: bytes) -> pd.DataFrame:
        return pd.DataFrame([(self._spec.shard, kind, name, n, blob)], columns=OUTPUT_COLUMNS)


def _counts(tables: Mapping[str, list[pa.Table]]) -> dict[str, int]:
    return {name: sum(t.num_rows for t in parts) for name, parts in tables.items()}

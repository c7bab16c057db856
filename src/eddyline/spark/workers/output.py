"""The output of a shard for a batch: changes by route, side outputs and a report."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from eddyline.errors import EddylineError
from eddyline.spark.exchange.packed_batches import (
    ANSWERS,
    BLOB_BYTES,
    OUTPUT_COLUMNS,
    PARTS,
    PARTS_BEFORE,
    SMALL_BYTES,
    TABLES,
    Arrivals,
    pack,
    pieces,
)
from eddyline.spark.exchange.query_rows import OutputRoute, concatenated, with_query
from eddyline.spark.exchange.row_files import WrittenFiles
from eddyline.spark.layouts.shard_program import ShardSpec
from eddyline.spark.sinks.sink_bases import OF_QUERIES
from eddyline.spark.storage.control import Question
from eddyline.spark.workers.durable import CommitRecord
from eddyline.spark.workers.shard_engine import StepOutput, counted

#: As of ``OUTPUT_COLUMNS``.
_Row = tuple[int, str, str, int, bool, bytes]

_log = logging.getLogger(__name__)


class ShardOutput:
    """The packed batches of changes, side outputs and progress.

    Args:
        outputs: of the engine. routes: of its queries.
        arrivals: of all rows by input. received: number of rows by input that the shard got.
        files: of the batch, for large blobs.
        small_bytes: maximum size of the blobs that the driver takes with the report.
    """

    def __init__(
        self,
        spec: ShardSpec,
        outputs: list[StepOutput],
        routes: Mapping[str, OutputRoute],
        arrivals: Mapping[str, Arrivals],
        received: Mapping[str, int],
        files: WrittenFiles,
        small_bytes: int = SMALL_BYTES,
    ) -> None:
        self._spec = spec
        self._files = files
        self._outputs = outputs
        self._routes = routes
        self._arrived = {n: arrivals[n].rows if n in arrivals else 0 for n in spec.counts}
        self._covered = {n: arrivals[n].covered if n in arrivals else 0 for n in spec.counts}
        self._received = received
        self._small_bytes = small_bytes  # what is left of it
        self._large: list[tuple[str, str]] = []
        self._small: list[_Row] = []
        self._answered: dict[str, str | None] = {}  # by question, the error
        self._late = {n: [o.late[n] for o in outputs if n in o.late] for n in spec.reports}
        self._bad = {n: [o.bad[n] for o in outputs if n in o.bad] for n in spec.reports}
        queries = {name: None for o in outputs for name in o.bad if name in routes}
        self._bad_of_query = {n: [o.bad[n] for o in outputs if n in o.bad] for n in queries}
        self._dropped = {n: sum(o.dropped.get(n, 0) for o in outputs) for n in spec.reports}
        for name, table in ((n, t) for o in outputs for n, t in o.parts.items()):
            self._add_parts(PARTS, name, table)

    def add_parts_before(self, parts: Mapping[str, pa.Table]) -> None:
        """The parts of groups, by query, that the shard had before the batch."""
        for name, table in parts.items():
            self._add_parts(PARTS_BEFORE, name, table)

    def add_tables(self, content: bytes | None) -> None:
        """The packed contents of tables that the driver has asked for, if it has."""
        for start in range(0, len(content or b""), BLOB_BYTES):
            assert content is not None, "it has bytes"
            self._small.append(self._row(TABLES, "", 0, content[start : start + BLOB_BYTES]))

    def add_answers(self, questions: Iterable[Question], answer: Callable[[str], pa.Table]) -> None:
        """The parts of answers that this shard has; errors are reported.

        Args:
            answer: of a query.
        """
        for question in questions:
            self._answered[question.id] = None
            if question.query is None:
                continue
            try:
                rows = answer(question.query)
            except EddylineError as e:
                self._answered[question.id] = str(e)
                continue
            except Exception as e:  # which must not end the job
                _log.exception("the answer of query '%s' failed", question.query)
                self._answered[question.id] = f"{type(e).__name__}: {e}"
                continue
            if rows.num_rows:
                for piece, blob in self._blobs(rows):
                    self._small.append(self._row(ANSWERS, question.id, piece.num_rows, blob))

    def _add_parts(self, kind: str, name: str, table: pa.Table) -> None:
        """The driver merges parts, so it takes them all."""
        self._small += [self._row(kind, name, p.num_rows, pack(p)) for p in pieces(table)]

    def frames(self) -> Iterator[pd.DataFrame]:
        """Changes and side outputs that are large, one piece per frame; the others wait for
        :meth:`last_frame`, because PySpark converts each frame in some milliseconds.
        """
        for route, table in self._changes():
            yield from self._pieces("changes", route.key, table, collected=route.collected)
        for name in self._spec.reports:
            for kind, tables in (("late", self._late), ("bad", self._bad)):
                if tables[name]:
                    yield from self._pieces(kind, name, pa.concat_tables(tables[name]))
        if (bad := self._bad_of_queries()) is not None:
            yield from self._pieces("bad", OF_QUERIES, bad)

    def add_counts(self, notes: dict[str, Any]) -> None:
        """Add this batch to the counts by input since the job's first start."""
        batch = {
            "rows": self._arrived,
            "received": self._received,
            "late": _counts(self._late),
            "bad": _counts(self._bad),
            "dropped": self._dropped,
            "covered": self._covered,
        }
        for what, counts in batch.items():
            total: dict[str, int] = notes.setdefault(what, {})
            for name, n in counts.items():
                total[name] = total.get(name, 0) + n

    def last_frame(
        self,
        record: CommitRecord,
        seconds: Mapping[str, float],
        more: Mapping[str, Any],
        stats: Iterable[bytes] = (),
    ) -> pd.DataFrame:
        """The small packed batches, and the shard's report to the driver: progress, number of
        changes by query, kinds and names whose rows are not small.

        Args:
            stats: metrics of the shard's queries (JSON), if it sends them.
        """
        report = {
            "shard": self._spec.shard,
            "version": record.version,
            "layout": self._spec.layout,
            "cell": self._spec.cell,
            "arrived": self._arrived,
            "out": counted(self._outputs),
            "large": self._large,
            **record.notes,
            "state": {"snapshot_bytes": record.snapshot_bytes, "log_bytes": record.log_bytes},
            "seconds": {name: round(s, 6) for name, s in seconds.items()},
            **more,
        }
        if self._answered:
            report["answered"] = self._answered
        shard = self._spec.shard
        rows = [*self._small, self._row("progress", "", 1, json.dumps(report).encode())]
        rows += [self._row("stats", str(shard), 1, text) for text in stats]
        return pd.DataFrame(rows, columns=OUTPUT_COLUMNS)

    def _changes(self) -> Iterator[tuple[OutputRoute, pa.Table]]:
        """One table per route, so that thousands of queries do not make thousands of blobs."""
        tables: dict[str, tuple[OutputRoute, list[pa.Table]]] = {}
        for rows in (rows for output in self._outputs for rows in output.changes):
            for route, table in rows.by_route(self._routes):
                tables.setdefault(route.key, (route, []))[1].append(table)
        for route, parts in tables.values():
            yield route, concatenated(parts)

    def _bad_of_queries(self) -> pa.Table | None:
        """Bad rows of queries, the first column names the query; None if there are none."""
        tables = []
        for name, parts in self._bad_of_query.items():
            tables += [with_query(table, name) for table in parts]
        return concatenated(tables) if tables else None

    def _pieces(
        self, kind: str, name: str, table: pa.Table, *, collected: bool = True
    ) -> Iterator[pd.DataFrame]:
        if table.num_rows == 0:
            return
        small = collected and table.nbytes <= self._small_bytes
        if small:
            self._small_bytes -= table.nbytes
        else:
            self._large.append((kind, name))
        for piece, blob in self._blobs(table):
            row = self._row(kind, name, piece.num_rows, blob, small=small)
            if small:
                self._small.append(row)
            else:
                yield pd.DataFrame([row], columns=OUTPUT_COLUMNS)

    def _blobs(self, table: pa.Table) -> Iterator[tuple[pa.Table, bytes]]:
        """The rows in pieces, each with its blob."""
        if self._files.takes(table):
            yield table, self._files.write_results(table)
            return
        for piece in pieces(table):
            yield piece, pack(piece)

    def _row(self, kind: str, name: str, n: int, blob: bytes, *, small: bool = True) -> _Row:
        return self._spec.shard, kind, name, n, small, blob


def _counts(tables: Mapping[str, list[pa.Table]]) -> dict[str, int]:
    return {name: sum(t.num_rows for t in parts) for name, parts in tables.items()}

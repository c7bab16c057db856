"""A query of a test script: its output so far, compared with the oracle."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from eddyline.engine.query import Query
from eddyline.testing.bags import rows_of
from eddyline.testing.changes import compare
from eddyline.testing.history import check_history
from eddyline.testing.ingest_model import IngestModel, event_times
from eddyline.testing.oracle import Oracle
from eddyline.testing.retention_model import MissingRows
from eddyline.testing.text import format_time
from eddyline.types import BEGINNING


@dataclass
class TrackedQuery:
    """A standing query and its output.

    Attributes:
        reads: the streams and tables that it reads.
        missing: rows that may be missing at first, if the query was added later.
        emitted: its changes, per call.
        seen: number of changes that ``Script.expect`` has compared.
    """

    sql: str
    reads: frozenset[str]
    missing: MissingRows | None = None
    emitted: list[pa.Table] = field(default_factory=list)
    seen: int = 0

    def changes(self, query: Query) -> pa.Table:
        """All changes so far of ``query``, the engine's query."""
        parts = [t for t in self.emitted if t.num_rows]
        return pa.concat_tables(parts) if parts else query.change_schema.empty_table()

    def check_now(self, query: Query, oracle: Oracle, ingest: IngestModel) -> None:
        """Compare the current answer of ``query`` with the oracle's.

        Raises:
            WrongAnswer: they differ.
        """
        now, first = ingest.clock_of(self.reads), ingest.first_of(self.reads)
        if first is None or now < first or now < self._since(ingest):
            return  # no answer to compare yet
        if query.keeps_answer:  # other queries are checked by their history
            where = f"in snapshot() at {format_time(now)}"
            compare(oracle.answer(self.sql, now), rows_of(query.snapshot()), where)

    def check_history(self, query: Query, oracle: Oracle, ingest: IngestModel) -> None:
        """Compare the changes so far with the oracle, at every instant up to now.

        Raises:
            WrongAnswer: at some instant the changes do not yield the answer.
        """
        now, first = ingest.clock_of(self.reads), ingest.first_of(self.reads)
        if first is None or now == BEGINNING:
            return
        check_history(
            oracle,
            self.sql,
            self.changes(query),
            first_us=first,
            until_us=now,
            since_us=max(self._since(ingest), first),
        )

    def _since(self, ingest: IngestModel) -> int:
        """The instant from which on the query has all rows of its windows."""
        if self.missing is None:
            return BEGINNING
        times = {
            stream: event_times(ingest.accepted[stream], rules.timestamp).to_pylist()
            for stream, rules in ingest.rules.items()
        }
        return self.missing.right_from(times)

"""A query that a script follows: what it has said so far, against the oracle."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from eddyline.engine.query import Query
from eddyline.testing.arrivals import Arrivals, event_times
from eddyline.testing.bags import rows_of
from eddyline.testing.changes import compare
from eddyline.testing.held import Missing
from eddyline.testing.history import check_history
from eddyline.testing.oracle import Oracle
from eddyline.testing.text import format_time
from eddyline.types import BEGINNING


@dataclass
class Followed:
    """A standing query with all that it has said.

    Attributes:
        reads: the streams and tables that it reads.
        missing: what may be missing from its answer at first, if it was added later.
        emitted: its changes, call by call.
        seen: how many of them were expected, one by one.
    """

    sql: str
    reads: frozenset[str]
    missing: Missing | None = None
    emitted: list[pa.Table] = field(default_factory=list)
    seen: int = 0

    def changes(self, query: Query) -> pa.Table:
        """All changes so far of ``query``, the one of the engine."""
        parts = [t for t in self.emitted if t.num_rows]
        return pa.concat_tables(parts) if parts else query.change_schema.empty_table()

    def check_now(self, query: Query, oracle: Oracle, arrivals: Arrivals) -> None:
        """Q(now) of ``query``, the one of the engine, against the oracle.

        Raises:
            WrongAnswer: they differ.
        """
        now, first = arrivals.clock_of(self.reads), arrivals.first_of(self.reads)
        if first is None or now < first or now < self._since(arrivals):
            return  # there is nothing to tell yet
        if query.keeps_answer:  # the history is checked all the same
            where = f"in snapshot() at {format_time(now)}"
            compare(oracle.answer(self.sql, now), rows_of(query.snapshot()), where)

    def check_history(self, query: Query, oracle: Oracle, arrivals: Arrivals) -> None:
        """All that it has said against the oracle, at every instant up to now.

        Raises:
            WrongAnswer: an instant at which the changes do not add up to the answer.
        """
        now, first = arrivals.clock_of(self.reads), arrivals.first_of(self.reads)
        if first is None or now == BEGINNING:
            return
        check_history(
            oracle,
            self.sql,
            self.changes(query),
            first_us=first,
            until_us=now,
            since_us=max(self._since(arrivals), first),
        )

    def _since(self, arrivals: Arrivals) -> int:
        """From when on it sees all rows of its windows."""
        if self.missing is None:
            return BEGINNING
        times = {
            stream: event_times(arrivals.accepted[stream], rules.timestamp).to_pylist()
            for stream, rules in arrivals.rules.items()
        }
        return self.missing.right_from(times)

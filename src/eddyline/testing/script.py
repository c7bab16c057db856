"""A streaming test as a script: add data, move the clock, check the answer, stop, restart.

The clock moves only when the script says so. Every check compares the engine with the oracle::

    script = Script("CREATE STREAM a (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts",
                    "SELECT x FROM a [RANGE 2 SECONDS]")
    script.process(a='''ts | x
                        1s | 7''')
    script.expect('''_op | _ts | _exp | x
                     +   | 1s  | 3s   | 7''')
    script.advance("5s").restart().finish()

Queries can be added and dropped: ``script.add("late", "SELECT ...").advance("9s").drop("late")``.

A failure shows the plan, the script so far, and the expected and the actual output.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa

from eddyline import Engine
from eddyline.engine.checkpoint.segments import Segments
from eddyline.testing.bags import difference, rows_of
from eddyline.testing.changes import WrongAnswer
from eddyline.testing.engines import engine_with
from eddyline.testing.ingest_model import IngestModel, StreamRules, TableRules, latest
from eddyline.testing.live import change_schema
from eddyline.testing.oracle import Oracle
from eddyline.testing.reading import read_views
from eddyline.testing.retention_model import RetentionModel
from eddyline.testing.text import batch, format_time, parse_time, pretty
from eddyline.testing.tracked_query import TrackedQuery
from eddyline.types import BEGINNING, FOREVER, arrow_schema


class Script:
    """Drives an engine and an oracle through the same events.

    Args:
        ddl: CREATE STREAM, TABLE and VIEW statements.
        queries: the SELECT text of the query, or of several by name; EMIT clauses are allowed.
        tables: contents of the declared tables, as Arrow tables or text batches; of a live table,
            the initial contents.
        options: fields of EngineOptions and StrategyOptions. With ``keep`` among them all queries
            have ON OVERLOAD SHED.
    """

    def __init__(
        self,
        ddl: str,
        queries: str | Mapping[str, str],
        *,
        tables: Mapping[str, pa.Table | str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep: Mapping[str, float] = (options or {}).get("keep", {})
        self.now_us = 0
        self.engine = engine_with(**(options or {}))
        self.engine.wall_clock = self._now
        self.engine.sql(ddl)
        self._views = read_views(ddl)
        self._tables = {name: _table(rows) for name, rows in (tables or {}).items()}
        for name, rows in self._tables.items():
            self.engine.table(name, rows)
        named = {"q": queries} if isinstance(queries, str) else queries
        for name, sql in named.items():
            self.engine.query(self._allowed(sql), name=name)
        self.ingest = IngestModel(
            {name: StreamRules.of(d) for name, d in self.engine.catalog.streams.items()},
            self._live_tables(),
            self._keep,
        )
        self._retention = RetentionModel(self._views, self.engine.catalog.tables)
        self.tracked = {name: self._follow(sql) for name, sql in named.items()}
        for name in self.engine.queries:
            if name in self._views:
                self.ingest.read(self._retention.reads(self._views[name]))
        self._oracle: Oracle | None = None  # over the rows accepted so far
        self._has_unread_changes = False
        self._progress: list[str] = []
        self._rows: dict[int, pa.Buffer] = {}  # the segments of checkpoints
        self._segments = Segments(self._write_rows)
        self._reported_sides: dict[tuple[str, str], int] = {}  # rows, by output and stream

    def process(self, **batches: pa.Table | str) -> Script:
        """Pass one batch per stream, and changes of live tables (``_ts``, optionally ``_op``, and
        the columns), to the engine; :func:`batch` parses text.
        """
        return self._process(batches)

    def process_all(self, **batches: pa.Table | str) -> Script:
        """As ``process``, with the largest timestamp of the rows as the watermark: all rows are
        processed.
        """
        return self._process(batches, everything=True)

    def _process(
        self, batches: Mapping[str, pa.Table | str], *, everything: bool = False
    ) -> Script:
        rows = {name: self._typed(name, _table(given)) for name, given in batches.items()}
        self._progress.append(
            "\n".join(["process", *(f"{n}:\n{pretty(t)}" for n, t in rows.items())])
        )
        watermark_us = latest(rows, self._timestamps()) if everything else None
        with self._side_outputs_checked() as found:
            out = self.engine.process(rows, watermark=watermark_us, now=self.now_us)
            self.ingest.process(rows, watermark_us, self.now_us)
            found += [("late", out.late), ("bad", out.bad)]
        self._has_unread_changes = False
        self._pass_time(out.items())
        return self

    def listen(self, tables: int, **batches: pa.Table | str) -> Script:
        """As ``process``, but through ``Engine.stream``, closed after ``tables`` tables of changes;
        the next call returns the rest. Not for live tables.
        """
        rows = {name: self._typed(name, _table(given)) for name, given in batches.items()}
        shown = "\n".join(f"{n}:\n{pretty(t)}" for n, t in rows.items())
        self._progress.append(f"listen to {tables} tables\n{shown}")
        with self._side_outputs_checked() as found:
            received: dict[str, list[tuple[str, pa.Table]]] = {"late": [], "bad": [], "": []}
            with closing(self.engine.stream(rows)) as steps:
                for label, table in steps:
                    side, _, name = label.rpartition(":")
                    received[side].append((name, table))
                    if len(received[""]) == tables:
                        break
            self.ingest.process(rows, None, self.now_us)
            found += [("late", dict(received["late"])), ("bad", dict(received["bad"]))]
        self._has_unread_changes = True
        self._pass_time(received[""])
        return self

    def advance(self, to: str | int) -> Script:
        """Move the clock to an instant (``5s``, or us)."""
        to_us = parse_time(to) if isinstance(to, str) else to
        self._progress.append(f"advance to {format_time(to_us)}")
        with self._side_outputs_checked() as found:
            out = self.engine.advance(to_us)
            self.ingest.advance(to_us)
            found += [("late", out.late), ("bad", out.bad)]
        self._has_unread_changes = False
        self._pass_time(out.items())
        return self

    def add(self, name: str, sql: str) -> Script:
        """Add a query. It is compared from the instant on at which it has all rows of its windows
        (see the model of retention).
        """
        self._progress.append(f"add {name}: {sql}")
        self.engine.query(self._allowed(sql), name=name)
        self.tracked[name] = self._follow(sql)
        return self

    def follow(self, name: str, sql: str) -> Script:
        """Compare a query that exists in the engine with an equivalent SELECT."""
        self.tracked[name] = self._follow(sql, complete=True)
        return self

    def _follow(self, sql: str, *, complete: bool = False) -> TrackedQuery:
        """The expectations of a query that was just added; ``complete``: no row is missing."""
        reads = self._retention.reads(sql)
        clocks = self._clocks()
        self.ingest.read(reads)
        if self._clocks() != clocks:  # buffered rows have been processed
            self._oracle, self._has_unread_changes = None, True
            self._update_retention()
        missing = self._retention.missing(sql, self.ingest.clock_of(reads))
        is_first = complete or self.ingest.clock_of(reads) == BEGINNING
        return TrackedQuery(sql, reads, None if is_first else missing)

    def _clocks(self) -> dict[str, int]:
        """The clock of each stream and live table."""
        return {name: g.clock_us for g in self.ingest.groups for name in g.names}

    def drop(self, name: str) -> Script:
        """Check the output of a query so far, and drop it."""
        if self._started and not self._has_unread_changes:
            self._check_history(name)
        self._progress.append(f"drop {name}")
        self.engine.drop(name)
        self.ingest.unread(self.tracked.pop(name).reads)
        return self

    def restart(self) -> Script:
        """Save the engine and continue with one that is loaded from the checkpoint.

        Rows are in segments that only the first of several checkpoints writes.
        """
        self._progress.append("restart")
        saved = io.BytesIO()
        self.engine.save(saved, self._segments)
        self._rows = {name: self._rows[name] for name in self._segments.names()}
        saved.seek(0)
        before, self._segments = self._segments, Segments(self._write_rows)
        self._segments.next_name = before.next_name
        self.engine = Engine.load(
            saved,
            feedback_form=self.engine.strategy.feedback_form,
            read=self._rows.__getitem__,
            segments=self._segments,
        )
        self.engine.wall_clock = self._now
        return self

    def _write_rows(self, name: int, rows: pa.Buffer) -> None:
        self._rows[name] = rows

    def at(self, now: str | int) -> Script:
        """Set the wall clock, which is 1970 at first."""
        self.now_us = parse_time(now) if isinstance(now, str) else now
        self._progress.append(f"the wall clock shows {format_time(self.now_us)}")
        return self

    def _now(self) -> int:
        return self.now_us

    def changes(self, query: str = "q") -> pa.Table:
        """All that a query has emitted so far."""
        self._fetch(query)
        return self.tracked[query].changes(self.engine.queries[query])

    def expect(self, text: str, query: str = "q") -> Script:
        """Compare the changes since the last ``expect``, in any order, with a text batch."""
        table, tracked = self.changes(query), self.tracked[query]
        new, tracked.seen = table.slice(tracked.seen), table.num_rows
        missing, extra = difference(rows_of(batch(text)), rows_of(new))
        if missing or extra:
            found = f"expected changes:\n{text}\nfound:\n{pretty(new)}"
            raise WrongAnswer(self._report(query, found))
        return self

    def expect_answer(self, text: str, query: str = "q") -> Script:
        """Compare Q(now) with a text batch."""
        snapshot = self.engine.queries[query].snapshot()
        missing, extra = difference(rows_of(batch(text)), rows_of(snapshot))
        if missing or extra:
            found = f"expected answer:\n{text}\nfound:\n{pretty(snapshot)}"
            raise WrongAnswer(self._report(query, found))
        return self

    def check(self, *names: str) -> Script:
        """Compare Q(now) of these queries, by default of all, with the oracle's."""
        if self._started:
            for name in names or self.tracked:
                self._check_now(name)
        return self

    def finish(self) -> Script:
        """Check the snapshot of every query, and its changes at every instant up to now."""
        self.check()
        if self._started:
            for name in self.tracked:
                self._check_history(name)
        return self

    @property
    def oracle(self) -> Oracle:
        """The oracle over all rows accepted so far."""
        if self._oracle is None:
            timestamps = self._timestamps()
            accepted, live = self.ingest.accepted, self.ingest.tables
            self._oracle = Oracle(
                {name: accepted[name] for name in self.ingest.rules},
                {name: rows for name, rows in self._tables.items() if name not in live},
                self._views,
                timestamps,
                {name: self.ingest.live(name) for name in live},
            )
        return self._oracle

    @property
    def _started(self) -> bool:
        return BEGINNING < self.ingest.clock_us < FOREVER and self.ingest.first_us is not None

    def _check_now(self, name: str) -> None:
        with self._reported(name):
            query = self.engine.queries[name]
            self.tracked[name].check_now(query, self.oracle, self.ingest)

    def _fetch(self, name: str) -> None:
        """Fetch the changes that a query had when it was added, if none have been fetched."""
        if not self.tracked[name].emitted:
            self._process({})

    def _check_history(self, name: str) -> None:
        self._fetch(name)
        with self._reported(name):
            query = self.engine.queries[name]
            self.tracked[name].check_history(query, self.oracle, self.ingest)

    @contextmanager
    def _reported(self, name: str) -> Iterator[None]:
        """Add the plan and the script so far to the error of a wrong answer."""
        try:
            yield
        except WrongAnswer as error:
            raise WrongAnswer(self._report(name, str(error))) from None

    @contextmanager
    def _side_outputs_checked(self) -> Iterator[list[tuple[str, Mapping[str, pa.Table]]]]:
        """Compare the late and bad rows that the body reports with the expected new ones."""
        sides = {"late": self.ingest.late, "bad": self.ingest.bad}
        reported: list[tuple[str, Mapping[str, pa.Table]]] = []
        yield reported
        for side, found in reported:
            for name, rows in sides[side].items():
                new = rows.slice(self._reported_sides.get((side, name), 0))
                self._check_side_output(side, name, found, new)
                self._reported_sides[side, name] = rows.num_rows

    def _check_side_output(
        self, side: str, name: str, found: Mapping[str, pa.Table], expected: pa.Table
    ) -> None:
        count = found[name].num_rows if name in found else 0
        if count != expected.num_rows:
            shown = f"{side} rows of {name}: expected {pretty(expected)}\nfound {count} rows"
            raise WrongAnswer(self._report(next(iter(self.tracked)), shown))

    def _allowed(self, sql: str) -> str:
        """The query, with ON OVERLOAD SHED if there are keep rates."""
        return f"{sql} ON OVERLOAD SHED" if self._keep else sql

    def _live_tables(self) -> dict[str, TableRules]:
        """The declared tables that change, with their initial contents."""
        rules = {}
        for name, definition in self.engine.catalog.tables.items():
            if definition.updates != "static":
                schema = arrow_schema(definition.schema)
                contents = self._tables.get(name, schema.empty_table()).cast(schema)
                rules[name] = TableRules(contents, definition.updates)
        return rules

    def _typed(self, name: str, rows: pa.Table) -> pa.Table:
        """The rows with the declared types; changes of a table may lack ``_op``."""
        if name in self.ingest.rules:
            return rows.cast(self.ingest.rules[name].schema)
        schema = change_schema(self.ingest.tables[name].contents.schema)
        return rows.cast(pa.schema([schema.field(c) for c in rows.column_names]))

    def _pass_time(self, received: Iterable[tuple[str, pa.Table]]) -> None:
        self._oracle = None
        self._update_retention()
        for name, table in received:
            self.tracked[name].emitted.append(table)
            self._progress.append(f"{name} emits\n{pretty(table)}")

    def _update_retention(self) -> None:
        """Update the model of retention after the clocks have moved."""
        queries = [f.sql for f in self.tracked.values()]
        for group in self.ingest.groups:
            streams = sorted(group.names.intersection(self.ingest.rules))
            self._retention.pass_time(group.clock_us, queries, streams)

    def _timestamps(self) -> dict[str, str]:
        return {name: r.timestamp for name, r in self.ingest.rules.items()}

    def _report(self, query: str, problem: str) -> str:
        return "\n\n".join(
            [
                problem,
                f"query {query}: {self.tracked[query].sql}",
                self.engine.queries[query].explain(),
                "script so far:",
                *self._progress,
            ]
        )


def _table(given: pa.Table | str) -> pa.Table:
    return batch(given) if isinstance(given, str) else given

"""A streaming test as a script: add data, move the clock, check the answer, stop, restart.

The clock moves only when the script says so. Every check compares the engine with the oracle::

    script = Script("CREATE STREAM a (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts",
                    "SELECT x FROM a [RANGE 2 SECONDS]")
    script.process(a='''ts | x
                        1s | 7''')
    script.expect('''_op | _ts | _exp | x
                     +   | 1s  | 3s   | 7''')
    script.advance("5s").restart().finish()

Queries may come and go: ``script.add("late", "SELECT ...").advance("9s").drop("late")``.

A failure shows the plan, the script so far, and what was expected and found.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from eddyline import Engine
from eddyline.testing.arrivals import Arrivals, StreamRules, TableRules, event_times
from eddyline.testing.bags import difference, rows_of
from eddyline.testing.changes import WrongAnswer, compare
from eddyline.testing.held import Held, Missing
from eddyline.testing.history import check_history
from eddyline.testing.live import change_schema
from eddyline.testing.oracle import Oracle
from eddyline.testing.reading import read_views
from eddyline.testing.text import batch, format_time, parse_time, pretty
from eddyline.types import BEGINNING, FOREVER, arrow_schema


class Script:
    """Drives an engine and an oracle through the same events.

    Args:
        ddl: CREATE STREAM, TABLE and VIEW statements.
        queries: the SELECT text of the query, or of several by name; EMIT clauses are allowed.
        tables: contents of the declared tables, as Arrow tables or text batches; those of a live
            table are there before everything.
        options: keyword arguments of the Engine.
    """

    def __init__(
        self,
        ddl: str,
        queries: str | Mapping[str, str],
        *,
        tables: Mapping[str, pa.Table | str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.engine = Engine(**(options or {}))
        self.engine.sql(ddl)
        self._views = read_views(ddl)
        self._tables = {name: _table(rows) for name, rows in (tables or {}).items()}
        for name, rows in self._tables.items():
            self.engine.table(name, rows)
        self.queries = {"q": queries} if isinstance(queries, str) else dict(queries)
        for name, sql in self.queries.items():
            self.engine.query(sql, name=name)
        self.arrivals = Arrivals(
            {
                name: StreamRules(arrow_schema(d.schema), d.timestamp, d.lateness_us)
                for name, d in self.engine.catalog.streams.items()
            },
            self._live_tables(),
        )
        self._held = Held(self._views)
        self._missing: dict[str, Missing] = {}  # of queries that were added later
        self._known: Oracle | None = None  # the oracle over what has been accepted so far
        self._emitted: dict[str, list[pa.Table]] = {name: [] for name in self.queries}
        self._seen = dict.fromkeys(self.queries, 0)
        self._progress: list[str] = []

    def process(self, **batches: pa.Table | str) -> Script:
        """Hand one batch per stream, and changes of live tables (``_ts``, perhaps ``_op``, and the
        columns), to the engine; text is read by :func:`batch`.
        """
        rows = {name: self._typed(name, _table(given)) for name, given in batches.items()}
        self._progress.append(
            "\n".join(["process", *(f"{n}:\n{pretty(t)}" for n, t in rows.items())])
        )
        with self._side_outputs_checked() as found:
            out = self.engine.process(rows)
            self.arrivals.process(rows)
            found += [("late", out.late), ("bad", out.bad)]
        self._pass_time(out)
        return self

    def advance(self, to: str | int) -> Script:
        """Move the clock to an instant (``5s``, or us): no earlier row will come."""
        to_us = parse_time(to) if isinstance(to, str) else to
        self._progress.append(f"advance to {format_time(to_us)}")
        with self._side_outputs_checked() as found:
            out = self.engine.advance(to_us)
            self.arrivals.advance(to_us)
            found += [("late", out.late), ("bad", out.bad)]
        self._pass_time(out)
        return self

    def add(self, name: str, sql: str) -> Script:
        """Add a query. It is compared from when on it sees all rows of its windows: at once, unless
        nobody has kept them so far (see :mod:`eddyline.testing.held`).
        """
        self._progress.append(f"add {name}: {sql}")
        self.engine.query(sql, name=name)
        self.queries[name] = sql
        self._missing[name] = self._held.missing(sql, self.arrivals.clock_us)
        self._emitted[name], self._seen[name] = [], 0
        return self

    def drop(self, name: str) -> Script:
        """Check all that a query has said, and drop it."""
        self._fetch(name)
        if self._started:
            self._check_history(name)
        self._progress.append(f"drop {name}")
        self.engine.drop(name)
        for known in (self.queries, self._emitted, self._seen, self._missing):
            known.pop(name, None)
        return self

    def restart(self) -> Script:
        """Save the engine, forget it, and go on with one loaded from what was saved."""
        self._progress.append("restart")
        saved = io.BytesIO()
        self.engine.save(saved)
        saved.seek(0)
        self.engine = Engine.load(saved)
        return self

    def changes(self, query: str = "q") -> pa.Table:
        """All that a query has emitted so far."""
        self._fetch(query)
        parts = [t for t in self._emitted[query] if t.num_rows]
        return pa.concat_tables(parts) if parts else pa.concat_tables(self._emitted[query][:1])

    def expect(self, text: str, query: str = "q") -> Script:
        """The changes emitted since the last ``expect``, in any order, given as text."""
        table = self.changes(query)
        new, self._seen[query] = table.slice(self._seen[query]), table.num_rows
        missing, extra = difference(rows_of(batch(text)), rows_of(new))
        if missing or extra:
            found = f"expected changes:\n{text}\nfound:\n{pretty(new)}"
            raise WrongAnswer(self._report(query, found))
        return self

    def expect_answer(self, text: str, query: str = "q") -> Script:
        """Q(now), given as text."""
        snapshot = self.engine.queries[query].snapshot()
        missing, extra = difference(rows_of(batch(text)), rows_of(snapshot))
        if missing or extra:
            found = f"expected answer:\n{text}\nfound:\n{pretty(snapshot)}"
            raise WrongAnswer(self._report(query, found))
        return self

    def check(self, *names: str) -> Script:
        """Q(now) of these queries, or of all, against the oracle."""
        if self._started:
            for name in names or self.queries:
                self._check_now(name)
        return self

    def finish(self) -> Script:
        """Check every query at every instant up to now, and its snapshot."""
        self.check()
        if self._started:
            for name in self.queries:
                self._check_history(name)
        return self

    @property
    def oracle(self) -> Oracle:
        """The oracle over all rows that have been accepted so far."""
        if self._known is None:
            timestamps = {name: r.timestamp for name, r in self.arrivals.rules.items()}
            accepted, live = self.arrivals.accepted, self.arrivals.tables
            self._known = Oracle(
                {name: accepted[name] for name in self.arrivals.rules},
                {name: rows for name, rows in self._tables.items() if name not in live},
                self._views,
                timestamps,
                {name: self.arrivals.live(name) for name in live},
            )
        return self._known

    @property
    def _started(self) -> bool:
        return BEGINNING < self.arrivals.clock_us < FOREVER and self.arrivals.first_us is not None

    def _since(self, name: str) -> int:
        """From when on a query sees all rows of its windows."""
        if name not in self._missing:
            return BEGINNING
        times = {
            stream: event_times(self.arrivals.accepted[stream], rules.timestamp).to_pylist()
            for stream, rules in self.arrivals.rules.items()
        }
        return self._missing[name].right_from(times)

    def _check_now(self, name: str) -> None:
        now, first = self.arrivals.clock_us, self.arrivals.first_us
        if first is None or now < first or now < self._since(name):  # there is nothing to tell yet
            return
        query, sql = self.engine.queries[name], self.queries[name]
        if not query.keeps_answer:  # the history is checked all the same
            return
        rows = rows_of(query.snapshot())
        try:
            compare(self.oracle.answer(sql, now), rows, f"in snapshot() at {format_time(now)}")
        except WrongAnswer as error:
            raise WrongAnswer(self._report(name, str(error))) from None

    def _check_history(self, name: str) -> None:
        first = self.arrivals.first_us
        assert first is not None, "something has happened"
        try:
            check_history(
                self.oracle,
                self.queries[name],
                self.changes(name),
                first_us=first,
                until_us=self.arrivals.clock_us,
                since_us=self._since(name),
            )
        except WrongAnswer as error:
            raise WrongAnswer(self._report(name, str(error))) from None

    @contextmanager
    def _side_outputs_checked(self) -> Iterator[list[tuple[str, Mapping[str, pa.Table]]]]:
        """Compare the late and bad rows that the body reports with those that it adds."""
        sides = {"late": self.arrivals.late, "bad": self.arrivals.bad}
        before = {(side, n): t.num_rows for side, ts in sides.items() for n, t in ts.items()}
        reported: list[tuple[str, Mapping[str, pa.Table]]] = []
        yield reported
        for side, found in reported:
            for name, rows in sides[side].items():
                self._check_side_output(side, name, found, rows.slice(before[side, name]))

    def _check_side_output(
        self, side: str, name: str, found: Mapping[str, pa.Table], expected: pa.Table
    ) -> None:
        count = found[name].num_rows if name in found else 0
        if count != expected.num_rows:
            shown = f"{side} rows of {name}: expected {pretty(expected)}\nfound {count} rows"
            raise WrongAnswer(self._report(next(iter(self.queries)), shown))

    def _live_tables(self) -> dict[str, TableRules]:
        """The declared tables that change, with what they hold at first."""
        rules = {}
        for name, definition in self.engine.catalog.tables.items():
            if definition.updates != "static":
                schema = arrow_schema(definition.schema)
                contents = self._tables.get(name, schema.empty_table()).cast(schema)
                rules[name] = TableRules(contents, definition.updates)
        return rules

    def _typed(self, name: str, rows: pa.Table) -> pa.Table:
        """The rows with the declared types; changes of a table need not tell ``_op``."""
        if name in self.arrivals.rules:
            return rows.cast(self.arrivals.rules[name].schema)
        schema = change_schema(self.arrivals.tables[name].contents.schema)
        return rows.cast(pa.schema([schema.field(c) for c in rows.column_names]))

    def _fetch(self, query: str) -> None:
        """Take what a query that has just been added has said so far."""
        if not self._emitted[query]:
            self._emitted[query].append(self.engine.queries[query].take())

    def _pass_time(self, out: Mapping[str, pa.Table]) -> None:
        self._known = None
        clock_us = self.arrivals.clock_us
        self._held.pass_time(clock_us, self.queries.values(), self.arrivals.rules)
        for name, tables in self._emitted.items():
            tables.append(out[name])
            self._progress.append(f"{name} emits\n{pretty(out[name])}")

    def _report(self, query: str, problem: str) -> str:
        return "\n\n".join(
            [
                problem,
                f"query {query}: {self.queries[query]}",
                self.engine.queries[query].explain(),
                "script so far:",
                *self._progress,
            ]
        )


def _table(given: pa.Table | str) -> pa.Table:
    return batch(given) if isinstance(given, str) else given

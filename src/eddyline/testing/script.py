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
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, cast

import pyarrow as pa

from eddyline import Engine
from eddyline.testing.arrivals import Arrivals, StreamRules, TableRules, latest
from eddyline.testing.bags import difference, rows_of
from eddyline.testing.changes import WrongAnswer
from eddyline.testing.engines import engine_with
from eddyline.testing.followed import Followed
from eddyline.testing.held import Held
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
        options: fields of EngineOptions and StrategyOptions. With ``keep`` among them all queries
            allow shedding.
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
        self.arrivals = Arrivals(
            {name: StreamRules.of(d) for name, d in self.engine.catalog.streams.items()},
            self._live_tables(),
            self._keep,
        )
        self._held = Held(self._views, self.engine.catalog.tables)
        self.followed = {name: self._follow(sql) for name, sql in named.items()}
        for name in self.engine.queries:
            if name in self._views:
                self.arrivals.read(self._held.reads(self._views[name]))
        self._known: Oracle | None = None  # the oracle over what has been accepted so far
        self._unheard = False  # whether there may be changes that nobody has listened to
        self._progress: list[str] = []
        self._reported_aside: dict[tuple[str, str], int] = {}  # rows, by output and stream

    def process(self, **batches: pa.Table | str) -> Script:
        """Hand one batch per stream, and changes of live tables (``_ts``, perhaps ``_op``, and the
        columns), to the engine; text is read by :func:`batch`.
        """
        return self._process(batches)

    def process_all(self, **batches: pa.Table | str) -> Script:
        """The same, with the largest timestamp of these rows as the watermark: all are processed,
        whichever streams they are of.
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
            self.arrivals.process(rows, watermark_us, self.now_us)
            found += [("late", out.late), ("bad", out.bad)]
        self._unheard = False
        self._pass_time(out.items())
        return self

    def listen(self, tables: int, **batches: pa.Table | str) -> Script:
        """Like ``process``, but through ``Engine.stream``, and stop listening after so many tables
        of changes: the rest comes with the next call. Not for live tables.
        """
        rows = {name: self._typed(name, _table(given)) for name, given in batches.items()}
        shown = "\n".join(f"{n}:\n{pretty(t)}" for n, t in rows.items())
        self._progress.append(f"listen to {tables} tables\n{shown}")
        with self._side_outputs_checked() as found:
            heard: dict[str, list[tuple[str, pa.Table]]] = {"late": [], "bad": [], "": []}
            with closing(cast(Generator[tuple[str, pa.Table]], self.engine.stream(rows))) as said:
                for label, table in said:
                    side, _, name = label.rpartition(":")
                    heard[side].append((name, table))
                    if len(heard[""]) == tables:
                        break
            self.arrivals.process(rows, None, self.now_us)
            found += [("late", dict(heard["late"])), ("bad", dict(heard["bad"]))]
        self._unheard = True
        self._pass_time(heard[""])
        return self

    def advance(self, to: str | int) -> Script:
        """Move the clock to an instant (``5s``, or us): no earlier row will come."""
        to_us = parse_time(to) if isinstance(to, str) else to
        self._progress.append(f"advance to {format_time(to_us)}")
        with self._side_outputs_checked() as found:
            out = self.engine.advance(to_us)
            self.arrivals.advance(to_us)
            found += [("late", out.late), ("bad", out.bad)]
        self._unheard = False
        self._pass_time(out.items())
        return self

    def add(self, name: str, sql: str) -> Script:
        """Add a query. It is compared from when on it sees all rows of its windows: at once, unless
        nobody has kept them so far (see :mod:`eddyline.testing.held`).
        """
        self._progress.append(f"add {name}: {sql}")
        self.engine.query(self._allowed(sql), name=name)
        self.followed[name] = self._follow(sql)
        return self

    def follow(self, name: str, sql: str) -> Script:
        """Compare a query that the engine has already, by a statement of its own, with a SELECT
        that says the same.
        """
        self.followed[name] = self._follow(sql, complete=True)
        return self

    def _follow(self, sql: str, *, complete: bool = False) -> Followed:
        """What is expected of a query that has just been added; ``complete``: no row is missing."""
        reads = self._held.reads(sql)
        clock_us = self.arrivals.clock_of(reads)
        self.arrivals.read(reads)
        if self.arrivals.clock_of(reads) != clock_us:  # the engine has processed what was held
            self._known, self._unheard = None, True
            self._hold()
        missing = self._held.missing(sql, self.arrivals.clock_of(reads))
        is_first = complete or self.arrivals.clock_of(reads) == BEGINNING
        return Followed(sql, reads, None if is_first else missing)

    def drop(self, name: str) -> Script:
        """Check all that a query has said, and drop it."""
        if self._started and not self._unheard:
            self._check_history(name)
        self._progress.append(f"drop {name}")
        self.engine.drop(name)
        self.arrivals.unread(self.followed.pop(name).reads)
        return self

    def restart(self) -> Script:
        """Save the engine, forget it, and go on with one loaded from what was saved."""
        self._progress.append("restart")
        saved = io.BytesIO()
        self.engine.save(saved)
        saved.seek(0)
        self.engine = Engine.load(saved)
        self.engine.wall_clock = self._now
        return self

    def at(self, now: str | int) -> Script:
        """Let the wall clock show this instant from now on; at first it shows 1970."""
        self.now_us = parse_time(now) if isinstance(now, str) else now
        self._progress.append(f"the wall clock shows {format_time(self.now_us)}")
        return self

    def _now(self) -> int:
        return self.now_us

    def changes(self, query: str = "q") -> pa.Table:
        """All that a query has emitted so far."""
        self._fetch(query)
        return self.followed[query].changes(self.engine.queries[query])

    def expect(self, text: str, query: str = "q") -> Script:
        """The changes emitted since the last ``expect``, in any order, given as text."""
        table, followed = self.changes(query), self.followed[query]
        new, followed.seen = table.slice(followed.seen), table.num_rows
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
            for name in names or self.followed:
                self._check_now(name)
        return self

    def finish(self) -> Script:
        """Check every query at every instant up to now, and its snapshot."""
        self.check()
        if self._started:
            for name in self.followed:
                self._check_history(name)
        return self

    @property
    def oracle(self) -> Oracle:
        """The oracle over all rows that have been accepted so far."""
        if self._known is None:
            timestamps = self._timestamps()
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

    def _check_now(self, name: str) -> None:
        with self._reported(name):
            query = self.engine.queries[name]
            self.followed[name].check_now(query, self.oracle, self.arrivals)

    def _fetch(self, name: str) -> None:
        """Fetch the changes that a query had when it was added, if none have been fetched."""
        if not self.followed[name].emitted:
            self._process({})

    def _check_history(self, name: str) -> None:
        self._fetch(name)
        with self._reported(name):
            query = self.engine.queries[name]
            self.followed[name].check_history(query, self.oracle, self.arrivals)

    @contextmanager
    def _reported(self, name: str) -> Iterator[None]:
        """Tell of what is wrong with a query with its plan and the script so far."""
        try:
            yield
        except WrongAnswer as error:
            raise WrongAnswer(self._report(name, str(error))) from None

    @contextmanager
    def _side_outputs_checked(self) -> Iterator[list[tuple[str, Mapping[str, pa.Table]]]]:
        """Compare the late and bad rows that the body reports with those that are new."""
        sides = {"late": self.arrivals.late, "bad": self.arrivals.bad}
        reported: list[tuple[str, Mapping[str, pa.Table]]] = []
        yield reported
        for side, found in reported:
            for name, rows in sides[side].items():
                new = rows.slice(self._reported_aside.get((side, name), 0))
                self._check_side_output(side, name, found, new)
                self._reported_aside[side, name] = rows.num_rows

    def _check_side_output(
        self, side: str, name: str, found: Mapping[str, pa.Table], expected: pa.Table
    ) -> None:
        count = found[name].num_rows if name in found else 0
        if count != expected.num_rows:
            shown = f"{side} rows of {name}: expected {pretty(expected)}\nfound {count} rows"
            raise WrongAnswer(self._report(next(iter(self.followed)), shown))

    def _allowed(self, sql: str) -> str:
        """The query, which allows shedding if there is any."""
        return f"{sql} ON OVERLOAD SHED" if self._keep else sql

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

    def _pass_time(self, heard: Iterable[tuple[str, pa.Table]]) -> None:
        self._known = None
        self._hold()
        for name, table in heard:
            self.followed[name].emitted.append(table)
            self._progress.append(f"{name} emits\n{pretty(table)}")

    def _hold(self) -> None:
        """Note which rows the queries keep, now that the clocks have moved."""
        queries = [f.sql for f in self.followed.values()]
        for group in self.arrivals.groups:
            streams = sorted(group.names.intersection(self.arrivals.rules))
            self._held.pass_time(group.clock_us, queries, streams)

    def _timestamps(self) -> dict[str, str]:
        return {name: r.timestamp for name, r in self.arrivals.rules.items()}

    def _report(self, query: str, problem: str) -> str:
        return "\n\n".join(
            [
                problem,
                f"query {query}: {self.followed[query].sql}",
                self.engine.queries[query].explain(),
                "script so far:",
                *self._progress,
            ]
        )


def _table(given: pa.Table | str) -> pa.Table:
    return batch(given) if isinstance(given, str) else given

"""The oracle: Q(tau) computed from scratch with DuckDB.

Every windowed stream of a query is replaced by a sub-select of the rows live at tau, by DESIGN's
definition of a window; DuckDB runs the rest of the query as ordinary SQL::

    trades [RANGE 10 SECONDS] AS t     (SELECT ts, price FROM trades__rows
                                        WHERE __ts <= $tau AND $tau < __ts + 10000000) AS t
    trades [ROWS 2] AS t               (... WHERE __ts <= $tau QUALIFY ROW_NUMBER() OVER
                                        (ORDER BY __ts DESC, __n DESC) <= 2) AS t
    live AS t (a retroactive table)    (SELECT k, w FROM live__lifespans
                                        WHERE __from <= $tau AND $tau < __to) AS t

A query ``FOR EACH ROW OF`` a table is one query for each of its rows (``for_each.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from eddyline.testing.bags import Row, plain
from eddyline.testing.for_each import instances
from eddyline.testing.live import LiveTable
from eddyline.testing.month_windows import MonthWindows
from eddyline.testing.reading import fixed_windows, range_windows, read_query, session_gaps
from eddyline.testing.rendering import OracleCatalog, render
from eddyline.testing.tied_rows import waits_us
from eddyline.types import BEGINNING, FOREVER

_MEMORY: Final = "2GB"


@dataclass
class Oracle:
    """Answers queries over rows that are all supplied in advance.

    Args:
        streams: the rows of each stream in the order of arrival, without late and bad rows.
        tables: the rows of each static table.
        views: the SELECT text of views that queries may read, by name.
        timestamps: the event-time column of each stream; default ``ts``.
        live: the tables that change, with all their changes except late and bad ones.
    """

    streams: Mapping[str, pa.Table]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    timestamps: Mapping[str, str] = field(default_factory=dict)
    live: Mapping[str, LiveTable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._duckdb = _database().cursor()  # a session of its own, for temporary tables
        for name, rows in self.streams.items():
            us = self._time_us(name)
            numbered = rows.append_column("__ts", us)
            numbered = numbered.append_column("__n", pa.array(range(rows.num_rows), pa.int64()))
            self._register(f"{name}__rows", numbered)
        for name, rows in self.tables.items():
            self._register(name, rows)
        lifespans = {name: table.lifespans() for name, table in self.live.items()}
        for name, rows in lifespans.items():
            self._register(f"{name}__lifespans", rows)
        updates = {name: table.updates for name, table in self.live.items()}
        self._lifespans = {n: r for n, r in lifespans.items() if updates[n] == "retroactive"}
        self._lifespans |= {name: _for_ever(rows) for name, rows in self.tables.items()}
        self._catalog = OracleCatalog(
            tuple((name, tuple(rows.column_names)) for name, rows in self.streams.items()),
            tuple((n, t.updates, tuple(t.contents.column_names)) for n, t in self.live.items()),
            tuple(self.views.items()),
        )

    def answer(self, sql: str, at_us: int) -> list[Row]:
        """Q(at_us): the bag of rows of the query's SELECT over the rows live at that instant.

        Raises:
            ValueError: the oracle does not support the query (:mod:`eddyline.testing.rendering`).
        """
        of_rows = instances(sql, self._lifespans)
        if of_rows is not None:
            there = (i for i in of_rows if i.start_us <= at_us < i.end_us)
            return [row for i in there for row in self.answer(i.sql, at_us)]
        text = render(sql, self._catalog)
        parameters = {"tau": at_us} if "$tau" in text else {}
        try:
            rows = self._duckdb.execute(text, parameters).fetchall()
        except duckdb.InternalException:  # some plans of nested outer joins are not bound
            rows = self._unoptimized(text, parameters)
        return [tuple(plain(v) for v in row) for row in rows]

    def _unoptimized(self, text: str, parameters: Mapping[str, int]) -> list[Row]:
        self._duckdb.execute("PRAGMA disable_optimizer")
        try:
            rows: list[Row] = self._duckdb.execute(text, parameters).fetchall()
            return rows
        finally:
            self._duckdb.execute("PRAGMA enable_optimizer")

    def answers(self, sql: str, instants: Iterable[int]) -> dict[int, list[Row]]:
        """Q at each of the instants: as ``answer``, but in one DuckDB query, which is faster.

        The query is joined laterally with a table of the instants.
        """
        found: dict[int, list[Row]] = {tau: [] for tau in instants}
        of_rows = instances(sql, self._lifespans)
        for one in of_rows or ():
            there = [t for t in found if one.start_us <= t < one.end_us]
            for tau, answer in self.answers(one.sql, there).items():
                found[tau] += answer
        if of_rows is not None:
            return found
        text = render(sql, self._catalog).replace("$tau", "__at.tau")
        each = "(SELECT UNNEST($instants) AS tau) AS __at"
        try:
            rows = self._duckdb.execute(
                f"SELECT __at.tau, __q.* FROM {each}, LATERAL ({text}) AS __q",
                {"instants": [*found]},
            ).fetchall()
        except (duckdb.OutOfMemoryException, duckdb.InternalException):
            return {tau: self.answer(sql, tau) for tau in found}
        for tau, *values in rows:
            found[tau].append(tuple(plain(v) for v in values))
        return found

    def finals(self, sql: str, until_us: int) -> list[tuple[int, Row]]:
        """What EMIT FINAL has emitted up to an instant, with the instants: of each window that has
        ended, the rows of the answer just before. Of windows that overlap, the select list has the
        end of a row's window as ``window_end``.

        A row at the end of a session extends it: what has ended there shows the answer at that
        instant, and is known when time has passed it.
        """
        of_sessions = bool(session_gaps(sql, self.views))
        ends = sorted(e for e in self._window_ends(sql) if e <= until_us - of_sessions)
        query = read_query(sql).select
        assert isinstance(query, exp.Query), "a SELECT, or several"
        names = [e.alias_or_name.lower() for e in query.selects]
        place = names.index("window_end") if "window_end" in names else None
        assert place is not None or not of_sessions, "sessions end at any time"
        before = 0 if of_sessions else 1
        found = []
        for tau, rows in self.answers(sql, [e - before for e in ends]).items():
            end = tau + before
            at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=end)
            mine = plain(at.replace(tzinfo=None))
            found += [(end, r) for r in rows if place is None or r[place] == mine]
        return found

    def _window_ends(self, sql: str) -> set[int]:
        """When the windows of a query that have rows end."""
        starts = {t for name in self.streams for t in self._time_us(name).to_pylist()}
        found = {t + gap for t in starts for gap in session_gaps(sql, self.views)}
        for windows in fixed_windows(sql, self.views):
            if isinstance(windows, MonthWindows):
                found |= {e for t in starts for e in windows.ends_after(t)}
                continue
            _, size, step, offset = windows
            for t in starts:
                first = (t - offset) // step * step + offset
                found |= {e for e in range(first, first + size + step + 1, step) if e > t}
                if size % step:  # ends lie between the starts
                    found |= {s + size for s in range(first - size // step * step, first + 1, step)}
        return found

    def instants(self, sql: str, until_us: int) -> list[int]:
        """The instants up to ``until_us`` at which the answer may change, and one between each two.

        These are the timestamps of all rows, their expiries under every window of the query, and
        the instants of all changes of tables.
        """
        starts = {t for name in self.streams for t in self._time_us(name).to_pylist()}
        of_rows = instances(sql, self._lifespans)
        texts = [sql] if of_rows is None else [i.sql for i in of_rows]
        lengths = set().union(*(range_windows(text, self.views) for text in texts))
        lengths |= {us + 1 for text in texts for us in _waits(text)}
        changed = {t for table in self.live.values() for t in table.times_us()}
        ends = self._window_ends(sql)
        changed |= ends
        if session_gaps(sql, self.views):  # a row at the end of a session extends it
            changed |= {t + 1 for t in ends}
        events = sorted(starts | changed | {t + length for t in starts for length in lengths})
        events = [t for t in events if t <= until_us]
        between = [(a + b) // 2 for a, b in zip(events, [*events[1:], until_us], strict=False)]
        return sorted({*events, *between})

    def _time_us(self, stream: str) -> pa.ChunkedArray:
        column = self.streams[stream].column(self.timestamps.get(stream, "ts"))
        return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())

    def _register(self, name: str, table: pa.Table) -> None:
        self._duckdb.register(f"{name}__arrow", _without_zones(table))
        self._duckdb.execute(f'CREATE TEMP TABLE "{name}" AS SELECT * FROM "{name}__arrow"')


@cache
def _database() -> Any:
    database = duckdb.connect()
    database.execute("SET threads = 1")  # threads do not pay off for tiny inputs
    # some plans build billions of pairs: fail before they fill the disk
    database.execute(f"SET memory_limit = '{_MEMORY}'")
    database.execute("SET temp_directory = ''")
    # it would rewrite 2 * x > 0 to x > 0, which does not overflow
    database.execute("SET disabled_optimizers = 'expression_rewriter'")
    return database


def answer(
    sql: str,
    streams: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    at_us: int,
) -> list[Row]:
    """Q(at_us) of one query; :class:`Oracle` is faster for many instants."""
    return Oracle(streams, tables).answer(sql, at_us)


def _waits(sql: str) -> set[int]:
    """How long rows wait for others in frames of a query."""
    selects = read_query(sql).select.find_all(exp.Select)
    return {us for select in selects if (us := waits_us(select))}


def _for_ever(rows: pa.Table) -> pa.Table:
    """The rows of a static table, with their lifespans."""
    for lane, instant in (("__from", BEGINNING), ("__to", FOREVER)):
        rows = rows.append_column(lane, pa.array([instant] * rows.num_rows, pa.int64()))
    return rows


def _without_zones(table: pa.Table) -> pa.Table:
    """Timestamps without zone (all are UTC), so that DuckDB needs no time-zone extension."""
    for i, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            naive = pc.cast(table.column(i), pa.timestamp("us"))
            table = table.set_column(i, column.name, naive)
    return table

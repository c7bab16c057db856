"""The oracle: Q(tau) computed from scratch, slowly and obviously, with DuckDB.

Every windowed stream of a query is replaced by a sub-select of the rows alive at tau, which is
DESIGN's definition of a window word for word; the rest of the query is ordinary SQL and left to
DuckDB::

    trades [RANGE 10 SECONDS] AS t     (SELECT ts, price FROM trades__rows
                                        WHERE __ts <= $tau AND $tau < __ts + 10000000) AS t
    trades [ROWS 2] AS t               (... WHERE __ts <= $tau QUALIFY ROW_NUMBER() OVER
                                        (ORDER BY __ts DESC, __n DESC) <= 2) AS t
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from eddyline.testing.bags import Row, plain
from eddyline.testing.reading import (
    Reading,
    WindowText,
    range_windows,
    read_query,
    stream_of,
)

_INTEGERS: Final = (
    exp.DataType.Type.TINYINT,
    exp.DataType.Type.SMALLINT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT,
)


@dataclass
class Oracle:
    """Answers queries over rows that are all known in advance.

    Args:
        streams: the rows of each stream in the order of arrival, without late and bad rows.
        tables: the rows of each static table.
        views: the SELECT text of views that queries may read, by name.
        timestamps: the event-time column of each stream; ``ts`` where not given.
    """

    streams: Mapping[str, pa.Table]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    timestamps: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._duckdb = _database().cursor()  # a session of its own: its tables are temporary
        for name, rows in self.streams.items():
            us = self._time_us(name)
            numbered = rows.append_column("__ts", us)
            numbered = numbered.append_column("__n", pa.array(range(rows.num_rows), pa.int64()))
            self._register(f"{name}__rows", numbered)
        for name, rows in self.tables.items():
            self._register(name, rows)

    def answer(self, sql: str, at_us: int) -> list[Row]:
        """Q(at_us): the bag of rows that the query's SELECT returns over what is alive then."""
        columns = tuple((name, tuple(rows.column_names)) for name, rows in self.streams.items())
        text = render(sql, columns, tuple(self.views.items()))
        parameters = {"tau": at_us} if "$tau" in text else {}
        rows = self._duckdb.execute(text, parameters).fetchall()
        return [tuple(plain(v) for v in row) for row in rows]

    def instants(self, sql: str, until_us: int) -> list[int]:
        """Every instant up to ``until_us`` at which the answer may change, and one in each gap.

        These are the timestamps of all rows and their expiries under every window of the query;
        the first is the first row's, before which nothing has happened.
        """
        starts = {t for name in self.streams for t in self._time_us(name).to_pylist()}
        lengths = range_windows(sql, self.views)
        events = sorted(starts | {t + length for t in starts for length in lengths})
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
    database.execute("SET threads = 1")  # tiny inputs: threads only cost
    return database


@lru_cache(maxsize=256)
def render(
    sql: str, streams: tuple[tuple[str, tuple[str, ...]], ...], views: tuple[tuple[str, str], ...]
) -> str:
    """The query in DuckDB's SQL, with ``$tau`` for the instant.

    Args:
        sql: the text of the query.
        streams: name and columns of every stream.
        views: name and SELECT text of every view.
    """
    select = _inline(read_query(sql), None, dict(streams), dict(views))
    return _in_duckdb(select).sql(dialect="duckdb", identify=True)


def _inline(
    reading: Reading,
    outer: WindowText | None,
    streams: Mapping[str, tuple[str, ...]],
    views: Mapping[str, str],
) -> exp.Expr:
    """The query with streams and views replaced by what they hold at $tau."""
    trailing = reading.trailing or outer
    select = reading.select.copy()
    for table in list(select.find_all(exp.Table)):
        name, number = stream_of(table)
        window = trailing if number is None else reading.windows[number]
        if name in views:
            rows = _inline(read_query(views[name]), window, streams, views)
        elif name in streams:
            rows = _alive(name, streams[name], window or WindowText())
        else:
            continue
        alias = exp.TableAlias(this=exp.to_identifier(table.alias or name))
        inlined = exp.Subquery(this=rows, alias=alias)
        inlined.set("joins", table.args.get("joins"))
        table.replace(inlined)
    return select


def _alive(stream: str, columns: Iterable[str], window: WindowText) -> exp.Expr:
    """The rows of a stream that a window holds at $tau."""
    rows: Any = exp.select(*(exp.column(c, quoted=True) for c in columns))
    rows = rows.from_(exp.to_table(f'"{stream}__rows"', dialect="duckdb"))
    rows = rows.where("__ts <= $tau", dialect="duckdb")
    if window.range_us is not None:
        rows = rows.where(f"$tau < __ts + {window.range_us}", dialect="duckdb")
    if window.rows is not None:
        per = ", ".join(f'"{c}"' for c in window.partition)
        partition = f"PARTITION BY {per} " if per else ""
        newest = f"ROW_NUMBER() OVER ({partition}ORDER BY __ts DESC, __n DESC)"
        rows = rows.qualify(f"{newest} <= {window.rows}", dialect="duckdb")
    return rows  # type: ignore[no-any-return]


def answer(
    sql: str,
    streams: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    at_us: int,
) -> list[Row]:
    """Q(at_us) of one query: see :class:`Oracle`, which is quicker for many instants."""
    return Oracle(streams, tables).answer(sql, at_us)


def _without_zones(table: pa.Table) -> pa.Table:
    """Timestamps without zone (they are all UTC): DuckDB then needs no time-zone extension."""
    for i, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            naive = pc.cast(table.column(i), pa.timestamp("us"))
            table = table.set_column(i, column.name, naive)
    return table


def _in_duckdb(select: exp.Expr) -> exp.Expr:
    """Spell out where DuckDB's idea of an expression differs from Spark's."""

    def adapt(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.this in (
            exp.DataType.Type.TIMESTAMPTZ,
            exp.DataType.Type.TIMESTAMPLTZ,
        ):
            return exp.DataType.build("timestamp", dialect="duckdb")
        if isinstance(node, (exp.Mod, exp.IntDiv)):  # x % 0 is NULL
            return type(node)(this=node.this, expression=exp.func("NULLIF", node.expression, "0"))
        return node

    return select.transform(adapt).transform(_truncating_cast)


def _truncating_cast(node: exp.Expr) -> exp.Expr:
    """CAST of a fraction to an integer truncates; DuckDB's rounds."""
    if not isinstance(node, exp.Cast) or node.to.this not in _INTEGERS:
        return node
    source = node.this.sql(dialect="duckdb")
    fraction = f"TYPEOF({source}) IN ('DOUBLE', 'FLOAT') OR TYPEOF({source}) LIKE 'DECIMAL%'"
    to = node.to.sql(dialect="duckdb")
    return exp.maybe_parse(
        f"CASE WHEN {fraction} THEN TRY_CAST(TRUNC(TRY_CAST({source} AS DOUBLE)) AS {to}) "
        f"ELSE TRY_CAST({source} AS {to}) END",
        dialect="duckdb",
    )

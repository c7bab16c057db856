"""Queries of an engine with sinks for tables, which follow their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.engine.query import Query
from eddyline.runtime.output import CHANGE_COLUMNS
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.table_sink import TableSink

SECOND = 1_000_000
STREAMS = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, id BIGINT, k BIGINT, v DOUBLE, w STRING) TIMESTAMP BY ts;"
    for name in "ab"
)
#: SELECT and key by query.
ANSWERS = {
    "groups": (
        "SELECT k, w, COUNT(*) AS n, MAX(v) AS v FROM a [RANGE 4 SECONDS] GROUP BY k, w",
        "",
    ),
    "keys": ("SELECT w FROM a [RANGE 4 SECONDS] GROUP BY w", ""),
    "total": ("SELECT COUNT(*) AS n, MAX(w) AS w FROM a [RANGE 2 SECONDS]", ""),
    "larger": ("SELECT k, SUM(v) AS s FROM a [ROWS 9] GROUP BY k HAVING COUNT(*) > 2", ""),
    "changed": ("SELECT k, SUM(v) AS s FROM a [RANGE 4 SECONDS] GROUP BY k EMIT CHANGES", "k"),
    "pieces": ("SELECT DISTINCT k, v FROM a [RANGE 4 SECONDS] EMIT CHANGES", "k, v"),
    "newest": ("SELECT k, id, w FROM a [PARTITION BY k ROWS 1] EMIT CHANGES", "k"),
    "pairs": (
        "SELECT a.id, b.id AS other, a.w FROM a [RANGE 3 SECONDS] LEFT JOIN b [RANGE 2 SECONDS] "
        "ON a.k = b.k EMIT CHANGES",
        "id, other",
    ),
    "alone": (
        "SELECT a.id, a.v FROM a [RANGE 4 SECONDS] WHERE NOT EXISTS "
        "(SELECT * FROM b [RANGE 3 SECONDS] WHERE b.k = a.k) EMIT CHANGES",
        "id",
    ),
}


class EngineTables:
    """Queries of an engine with tables, as a start of a job opens them.

    Args:
        queries: SELECT and options of the sink by query.
    """

    def __init__(
        self, queries: Mapping[str, tuple[str, str]], job: str, *, again: bool = False
    ) -> None:
        self.engine = Engine()
        self.engine.sql(STREAMS)
        for name, (select, sink) in queries.items():
            self.engine.sql(f"CREATE QUERY {name} AS {select} WITH ({sink})")
        self.sinks = SinkFactory(cast(SparkSession, None), None, print, job)
        self.sinks.open_first(self.engine.queries.values())
        self.sinks.prepare(again=again)

    def deliver(self, batch: int, changes: Sequence[pa.Table], times: int = 1) -> None:
        routes = {name: route_of(query) for name, query in self.engine.queries.items()}
        parts: dict[str, list[pa.Table]] = {}
        for table in changes:
            for route, rows in QueryRows.of(table).by_route(routes):
                parts.setdefault(route.key, []).append(rows)
        for key, tables in parts.items():
            sink = self.sinks.by_key["changes", key]
            assert isinstance(sink, TableSink)
            for _ in range(times):
                sink.deliver(batch, [QueryRows.of(rows) for rows in tables], {})

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """The rows of a table, sorted."""
        raise NotImplementedError

    def follow(self, seed: int) -> None:
        """After each batch the tables equal the answers."""
        rng = np.random.default_rng(seed)
        changed = 0
        for batch in range(8):
            if batch == 5:  # nothing but time
                out = self.engine.advance((batch * 12 + 8) * (SECOND // 4))
            else:
                out = self.engine.process(rows_of_streams(rng, batch * 12, 12))
            self.deliver(batch, list(out.batches()), times=1 + batch % 2)
            for name, query in self.engine.queries.items():
                found, expected = self.rows(name), answer(query)
                assert repr(found) == repr(expected), (batch, name)
                changed += len(found)
        assert changed > 100


def upsert() -> dict[str, tuple[str, str]]:
    """SELECT of each answer, and the options for a table that follows it."""
    return {
        name: (select, ", mode = 'upsert'" + (key and f", key = '{key}'"))
        for name, (select, key) in ANSWERS.items()
    }


def bag(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


def answer(query: Query) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in query.snapshot().columns]
    return bag(list(zip(*columns, strict=True)))


def rows_of_streams(rng: np.random.Generator, first: int, n: int) -> dict[str, pa.Table]:
    """n rows of each stream, with NULLs, empty texts and NaN."""
    tables = {}
    for name in "ab":
        ts = np.sort(rng.integers(first, first + n, n)) * (SECOND // 4)
        tables[name] = pa.table(
            {
                "ts": pa.array(ts),
                "id": pa.array(np.arange(first, first + n)),
                "k": pa.array(rng.integers(0, 4, n), mask=rng.random(n) < 0.2),
                "v": pa.array(rng.choice([0.5, -2.0, 7.25, np.nan], n), mask=rng.random(n) < 0.2),
                "w": pa.array(rng.choice(["", 'a"b', "c\n,", "NULL"], n), mask=rng.random(n) < 0.2),
            }
        )
    return tables


def changes(**columns: pa.Array) -> pa.Table:
    n = len(next(iter(columns.values())))
    ts = pa.array(np.arange(n) * SECOND).cast(CHANGE_COLUMNS[1].type)
    fixed = {"_op": pa.repeat("+", n), "_ts": ts, "_exp": pa.nulls(n, ts.type)}
    return pa.table({"_query": pa.repeat("q", n).dictionary_encode(), **fixed, **columns})

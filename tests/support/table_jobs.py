"""A job with sinks for tables, and an embedded engine with the same input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from eddyline.spark.sinks.table_sink import SinkTable
from spark_cases import SECOND, Feed, Twin, definitions, stream_tables

#: SELECT and options by query.
QUERIES = {
    "groups": (
        "SELECT k, COUNT(*) AS n, MAX(v) AS m FROM a [RANGE 6 SECONDS] GROUP BY k",
        {"mode": "upsert"},
    ),
    "total": ("SELECT COUNT(*) AS n FROM a [RANGE 6 SECONDS]", {"mode": "upsert"}),
    "joined": (
        "SELECT DISTINCT a.v, b.v AS w FROM a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] "
        "WHERE a.k = b.k EMIT CHANGES",
        {"mode": "upsert", "key": "v, w"},
    ),
    "log": (
        "SELECT k, v FROM b [RANGE 5 SECONDS] WHERE v > 50 EMIT CHANGES",
        {"mode": "changelog"},
    ),
    "plain": ("SELECT k, v FROM b [RANGE 5 SECONDS] WHERE v > 50", {}),
}
ANSWERS = ("groups", "total", "joined")


class TableJob:
    """A job of which each query has a table; the engine has none of the queries."""

    def __init__(self, spark: SparkSession, place: Path, feeds: tuple[Feed, Feed]) -> None:
        self.checkpoint = place / "checkpoint"
        self.rows = {"a": stream_tables(1, 6), "b": stream_tables(2, 6)}
        engine = Engine()
        engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
        self.twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
        self.spark = spark
        self.feeds = feeds
        self.on_failure = "wait"

    def session(self) -> Session:
        session = Session(self.spark, checkpoint=self.checkpoint, shards=2)
        session.sql(definitions(dict(zip("ab", (f.source for f in self.feeds), strict=True))))
        for name, (select, options) in QUERIES.items():
            session.query(name, select, **self.sink(name), **options)
        return session

    def sink(self, name: str) -> dict[str, str]:
        """The options of the sink of a query."""
        raise NotImplementedError

    def answer(self, name: str) -> list[tuple[Any, ...]]:
        """The rows of the table of a query, sorted."""
        raise NotImplementedError

    def changes(self, name: str) -> list[tuple[Any, ...]]:
        """``_op``, ``_ts`` in us, k and v of the rows of a table, sorted."""
        raise NotImplementedError

    def write(self, files: slice) -> None:
        for feed, name in zip(self.feeds, "ab", strict=True):
            feed.write(*self.rows[name][files])
        self.twin.process({name: tables[files] for name, tables in self.rows.items()})

    def check(self) -> None:
        """The tables have the answers, and all changes once."""
        for name in ANSWERS:
            expected = _sorted(self.twin.engine.queries[name].snapshot())
            assert self.answer(name) == expected, name
        for name in ("log", "plain"):
            expected = [(c[0], c[1], *c[3:]) for c in self.twin.rows(name)]
            assert self.changes(name) == sorted(expected, key=repr), name

    def run_through_failures(
        self, monkeypatch: pytest.MonkeyPatch, table: type[SinkTable], batches: tuple[int, ...]
    ) -> None:
        """Run over four files; the job fails twice, behind the commit of a batch to a table and
        before that to Spark's log.
        """
        for name, (select, _) in QUERIES.items():
            self.twin.engine.query(select, name=name)
        due = list(batches)
        write = table.write

        def write_and_fail(self: SinkTable, batch: int, *rows: Any) -> None:
            write(self, batch, *rows)
            if due and batch >= due[0]:
                due.pop(0)
                raise RuntimeError("killed after the commit of the table")

        monkeypatch.setattr(table, "write", write_and_fail)
        self.on_failure = "fail"
        self.write(slice(0, 4))
        for _ in batches:
            with pytest.raises(Exception, match="killed after the commit"):
                self.session().start(available_now=True).awaitTermination()
        self.session().start(available_now=True).awaitTermination()
        self.check()
        assert all(map(self.answer, QUERIES)) and not due

    def run_to_the_next_files(self, files: slice) -> None:
        self.write(files)
        self.session().start(available_now=True).awaitTermination()
        self.check()


def _sorted(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)

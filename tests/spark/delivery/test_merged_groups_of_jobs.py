"""Jobs with queries whose groups lie across the shards: merged by the driver, as in one engine."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Restart, Session
from eddyline.spark.run import Run
from eddyline.testing.bags import Row, difference, rows_of
from net_changes import Net, net_changes
from spark_cases import SECOND, Feed, definitions, in_order, stream_tables

pytestmark = pytest.mark.spark

JobInputs = tuple[Feed, Feed]

JOIN = "a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] WHERE a.k = b.k"
QUERIES = {
    "total": (f"SELECT COUNT(*) AS n, SUM(b.v) AS s, AVG(a.v) AS m FROM {JOIN}", "parquet"),
    "groups": (f"SELECT a.v, COUNT(*) AS n FROM {JOIN} GROUP BY a.v EMIT CHANGES", "parquet"),
    "values": (f"SELECT DISTINCT b.v FROM {JOIN}", "orc"),
    "every": (f"SELECT MIN(a.v) AS v FROM {JOIN} EMIT SNAPSHOT EVERY 3 SECONDS", "parquet"),
    "having": (f"SELECT a.v, MAX(b.v) AS m FROM {JOIN} GROUP BY a.v HAVING MAX(b.v) > 90", "orc"),
    "spread": (f"SELECT COUNT(DISTINCT b.v) AS n, STDDEV(a.v) AS d FROM {JOIN}", "parquet"),
    "distinct": (f"SELECT a.v, COUNT(DISTINCT b.v) AS n FROM {JOIN} GROUP BY a.v", "orc"),
    "pairs": (f"SELECT a.v, b.v AS w FROM {JOIN}", "orc"),
}
LATER = f"SELECT a.v % 3 AS g, SUM(b.v) AS s FROM {JOIN} GROUP BY a.v % 3 EMIT CHANGES"
#: When the windows of what was there before LATER are over.
PASSED_US = 45 * SECOND


class Failing:
    """Prints, and fails some times before."""

    def __init__(self) -> None:
        self.left = 0

    def __call__(self, name: str, rows: pa.Table, n: int) -> None:
        if self.left:
            self.left -= 1
            raise RuntimeError("the printer is out of paper")


class Jobs:
    """A job over two feeds that is stopped and started again, and what one engine makes."""

    def __init__(self, spark: SparkSession, feeds: JobInputs, place: Path) -> None:
        self.spark, self.feeds, self.place = spark, feeds, place
        self.tables = stream_tables(1, 8), stream_tables(2, 8)
        self.printer = Failing()

    def session(self) -> Session:
        session = Session(
            self.spark,
            checkpoint=self.place / "checkpoint",
            shards=3,
            printer=self.printer,
            restart=Restart(limit=2, first_s=0.01),
        )
        session.sql(definitions({"a": self.feeds[0].source, "b": self.feeds[1].source}))
        for name, (sql, format_) in QUERIES.items():
            session.query(name, sql, sink=format_, path=str(self.place / name))
        session.query("shown", f"SELECT COUNT(*) AS n FROM {JOIN}")
        return session

    def write(self, start: int, end: int) -> None:
        for feed, tables in zip(self.feeds, self.tables, strict=True):
            feed.write(*tables[start:end])

    def found(self, name: str) -> list[Row]:
        """What the sink of a query has, in order."""
        rows = self.spark.read.load(
            str(self.place / name), QUERIES.get(name, ("", "parquet"))[1]
        ).toArrow()
        return in_order(rows)

    def expected(self) -> tuple[Engine, dict[str, list[Row]]]:
        engine = Engine()
        engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
        queries = {**{name: sql for name, (sql, _) in QUERIES.items()}, "later": LATER}
        for name, sql in queries.items():
            engine.query(sql, name=name)
        rows = {n: pa.concat_tables(of) for n, of in zip("ab", self.tables, strict=True)}
        first = engine.process(rows)
        assert engine.newest is not None
        then = engine.advance(engine.newest + 9 * SECOND + 1)
        return engine, {n: rows_of(pa.concat_tables([first[n], then[n]])) for n in queries}

    def sizes(self) -> dict[str, int]:
        """Numbers of rows in the sinks of merged queries."""
        return {name: len(self.found(name)) for name in QUERIES if name != "pairs"}

    def check_counts(self, run: Run, before: dict[str, int]) -> None:
        """The changes that a run counts are those that it has written, repeated batches once."""
        out = run.progress().rows_out
        assert {n: out[n] for n in before} == {n: k - before[n] for n, k in self.sizes().items()}

    def check(self, name: str, after: int = 0) -> None:
        engine, expected = self.expected()

        def net(rows: list[Row]) -> list[Net]:
            found = net_changes(engine.queries[name], rows, engine.clock)
            return [n for n in found if n[0] > after]

        missing, extra = difference(net(expected[name]), net(self.found(name)))
        assert not missing and not extra, name
        assert net(expected[name])


@pytest.mark.long
def test_merged_groups_survive_restarts_and_repeated_batches(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    jobs = Jobs(spark, feeds, tmp_path)
    jobs.write(0, 3)
    run = jobs.session().start()
    run.processAllAvailable()
    out = run.progress().rows_out
    assert all(out[name] for name in ("total", "groups", "values", "pairs"))
    assert run.stats()["total"]["rows_out"] == out["total"]
    run.add("later", LATER, sink="parquet", path=str(tmp_path / "later"))
    jobs.write(3, 4)
    run.processAllAvailable()
    run.stop()
    assert set(run.running.divided.by_name) == {*QUERIES, "shown", "later"} - {"pairs"}

    jobs.write(4, 6)
    jobs.printer.left = 2
    before = jobs.sizes()
    again = jobs.session().start()
    again.processAllAvailable()
    assert (again.restarts, jobs.printer.left) == (2, 0)
    jobs.check_counts(again, before)
    again.drop("shown")
    again.stop()

    jobs.write(6, 8)
    before = jobs.sizes()
    last = jobs.session().start(available_now=True)
    last.finish()
    jobs.check_counts(last, before)
    for name in QUERIES:
        jobs.check(name)
    jobs.check("later", PASSED_US)

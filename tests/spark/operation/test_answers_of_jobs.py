"""The answers of the queries of a running job are those of an embedded engine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, Engine, StateError
from eddyline.spark import Restart, Run, Session
from eddyline.testing.bags import difference, rows_of
from spark_cases import NAMES, QUERIES, Feed, definitions, stream_tables

pytestmark = pytest.mark.spark

JOIN = "a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] WHERE a.k = b.k"
ALL = QUERIES | {
    "total": f"SELECT COUNT(*) AS n, SUM(b.v) AS s, AVG(a.v) AS m FROM {JOIN}",
    "groups": f"SELECT a.v, COUNT(*) AS n FROM {JOIN} GROUP BY a.v",
    "values": f"SELECT DISTINCT b.v FROM {JOIN}",
    "every": "SELECT k, MAX(v) AS v FROM a [RANGE 6 SECONDS] GROUP BY k EMIT SNAPSHOT EVERY 1 DAY",
    "newest": "SELECT k, v FROM a [ROWS 7]",
    "viewed": "SELECT k, v FROM large WHERE k > 1",
    "lonely": "SELECT a.k FROM a [RANGE 6 SECONDS] WHERE NOT EXISTS "
    "(SELECT 1 FROM b [RANGE 2 SECONDS] WHERE b.k = a.k)",
}
VIEW = "CREATE VIEW large AS SELECT k, v FROM b [RANGE 8 SECONDS] WHERE v > 30"
ADDED = f"SELECT a.v % 3 AS g, SUM(b.v) AS s FROM {JOIN} GROUP BY a.v % 3"


#: Queries that share flows.
ALIKE = {
    **{f"over{n}": f"SELECT k, v FROM a [RANGE {n + 2} SECONDS] WHERE v > {n}" for n in range(4)},
    **{f"met{n}": f"SELECT b.k, a.v FROM {JOIN} AND b.v > {9 * n}" for n in range(4)},
    **{
        f"told{n}": f"SELECT k, v FROM a [RANGE 3 SECONDS] WHERE v > {n} EMIT CHANGES" for n in "19"
    },
    **{f"sum{n}": f"SELECT k, SUM(v) AS s FROM b [RANGE {n} SECONDS] GROUP BY k" for n in "36"},
    **{f"no{n}": ALL["lonely"].replace("WHERE", f"WHERE a.v > {n} AND", 1) for n in "15"},
}


class Case:
    """A job over two feeds, and an engine with the same input.

    Args:
        views: whether the job materialises its answers.
    """

    def __init__(
        self,
        spark: SparkSession,
        feeds: tuple[Feed, Feed],
        place: Path,
        queries: Mapping[str, str] = ALL,
        *,
        views: bool = False,
    ) -> None:
        self.spark, self.feeds, self.place = spark, feeds, place
        self._queries, self._views = queries, views
        self.fails = 0
        self._tables = dict(zip("ab", (stream_tables(1, 8), stream_tables(2, 8)), strict=True))
        self.engine = Engine()
        self.engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
        self.engine.sql("CREATE TABLE names (k BIGINT, name STRING)")
        self.engine.table("names", NAMES)
        self.engine.sql(VIEW)
        for name, sql in queries.items():
            self.engine.query(sql, name=name)

    def _print(self, *_: object) -> None:
        if self.fails:
            self.fails -= 1
            raise RuntimeError("the printer is out of paper")

    @contextmanager
    def running(self) -> Iterator[Run]:
        session = Session(
            self.spark,
            checkpoint=self.place / "job",
            shards=3,
            printer=self._print,
            restart=Restart(limit=2, first_s=0.01),
        )
        if self._views:
            session.sql("SET views = TRUE")
        session.sql(definitions({n: f.source for n, f in zip("ab", self.feeds, strict=True)}))
        session.table("names", self.spark.createDataFrame(NAMES.to_pandas()))
        session.sql(VIEW)
        for name, sql in self._queries.items():
            session.query(name, sql, sink="print" if name == "pairs" else "noop")
        session.query("passing", "SELECT k FROM a WHERE v > 50", sink="noop")
        run = session.start()
        try:
            yield run
        finally:
            run.stop()

    def write(self, run: Run, start: int, end: int) -> None:
        for tables, feed in zip(self._tables.values(), self.feeds, strict=True):
            feed.write(*tables[start:end])
        run.processAllAvailable()
        rows = {n: pa.concat_tables(tables[start:end]) for n, tables in self._tables.items()}
        self.engine.process(rows)

    def check(self, run: Run, names: Sequence[str] = tuple(ALL)) -> None:
        with ThreadPoolExecutor(len(names)) as threads:  # one batch answers many questions
            answers = list(threads.map(run.answer, names))
        for name, found in zip(names, answers, strict=True):
            expected = self.engine.queries[name].snapshot()
            assert found.schema == expected.schema
            missing, extra = difference(rows_of(expected), rows_of(found))
            assert not missing and not extra, name

    @property
    def questions(self) -> int:
        """The number of those that are still files."""
        return len(list((self.place / "job/control").glob("ask-*")))


def test_answers_are_those_of_an_engine(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    case = Case(spark, feeds, tmp_path)
    with case.running() as run:
        case.check(run, ["pairs", "total"])
        case.write(run, 0, 4)
        began = time.monotonic()
        case.check(run)
        assert time.monotonic() - began < 60, "batches without rows"
        assert all(case.engine.queries[name].snapshot().num_rows for name in ALL)
        for _ in range(3):
            run.answer("pairs")
        assert case.questions <= 2, "of the last batches"

        run.add("added", ADDED, sink="noop")
        run.answer("ADDED")
        case.engine.query(ADDED, name="added")
        case.fails = 1  # with a question in a batch that is repeated
        case.write(run, 4, 6)
        case.check(run, ["added", "pairs", "total"])
        assert run.restarts == 1

        with pytest.raises(CatalogError, match="there is no query 'pair'; did you mean 'pairs'"):
            run.answer("pair")
        with pytest.raises(StateError, match=r"passes the rows of a .* keeps none"):
            run.answer("passing")
        run.drop("every")
        with pytest.raises(CatalogError, match="there is no query 'every'"):
            run.answer("every")
    with pytest.raises(StateError, match="the job has ended: start it again to ask"):
        run.answer("pairs")

    kept = [name for name in ALL if name != "every"]
    with case.running() as run:
        case.check(run, [*kept, "added"])


@pytest.mark.long
def test_materialised_answers_are_those_of_an_engine(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    case = Case(spark, feeds, tmp_path, ALIKE | {"pairs": ALL["pairs"]}, views=True)
    names = [*ALIKE, "pairs"]
    with case.running() as run:
        case.check(run, names)
        case.write(run, 0, 3)
        case.check(run, names)
        run.add("added", f"SELECT b.k, a.v FROM {JOIN} AND b.v > 60", sink="noop")
        run.answer("added")  # the shards have added it
        case.engine.query(f"SELECT b.k, a.v FROM {JOIN} AND b.v > 60", name="added")
        run.drop("met1")
        case.fails = 1  # a batch is repeated, by engines that are rebuilt
        case.write(run, 3, 5)
        names = [*(name for name in names if name != "met1"), "added"]
        case.check(run, names)
        assert run.restarts == 1
    with case.running() as run:
        case.check(run, names)
        case.write(run, 5, 7)
        case.check(run, names)

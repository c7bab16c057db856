"""Jobs whose sinks write one file for several batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine
from eddyline.spark import Restart, Run, Session
from eddyline.testing.bags import difference, rows_of
from spark_cases import SECOND, Feed, definitions, in_order, stream_tables, wait

pytestmark = pytest.mark.spark

SUMS = "SELECT k, SUM(v) AS s FROM a [RANGE 6 SECONDS] GROUP BY k EMIT CHANGES"
SOME = "SELECT k, v FROM a [RANGE 4 SECONDS] WHERE v > 30"


class Case:
    """A job over a feed, whose printer fails."""

    def __init__(self, spark: SparkSession, feed: Feed, place: Path) -> None:
        self.spark, self.feed, self.place = spark, feed, place
        self.fails = 0

    def _print(self, *_: object) -> None:
        if self.fails:
            self.fails -= 1
            raise RuntimeError("the printer is out of paper")

    @contextmanager
    def running(self) -> Iterator[tuple[Session, Run]]:
        session = Session(
            self.spark,
            checkpoint=self.place / "job",
            shards=2,
            printer=self._print,
            restart=Restart(limit=2, first_s=0.01),
        )
        session.sql(definitions({"a": self.feed.source}))
        hourly, soon = {"roll_interval": "1 hour"}, {"roll_interval": "1 second"}
        session.query("sums", SUMS, sink="parquet", path=str(self.place / "sums"), **hourly)
        for name in ("some", "others"):
            sql = SOME if name == "some" else SOME.replace(">", "<=")
            session.query(name, sql, sink="csv", path=str(self.place / "csv"), **soon)
        session.query("shown", "SELECT k FROM a [NOW]")
        run = session.start()
        try:
            yield session, run
        finally:
            run.stop()

    def files(self, name: str) -> int:
        return len(list((self.place / name).glob("eddyline_batch=*/part-00000.*")))


def test_rows_of_batches_are_one_file_once(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    case, tables = Case(spark, feeds[0], tmp_path), stream_tables(1, 6)
    with case.running() as (session, run):
        feeds[0].write(*tables[:3])
        run.processAllAvailable()
        assert run.progress().rows_out["sums"] and run.progress().batch_id == 2
        assert case.files("sums") == 0 and session.results("sums").count() == 0
        wait(run, lambda: case.files("csv") > 0)  # the job is silent
        before = session.results("some").count()
        assert 0 < before <= run.progress().rows_out["some"]
    assert case.files("sums") == 1, "at the end of the run"
    with case.running() as (session, run):
        case.fails = 1
        feeds[0].write(*tables[3:])
        run.processAllAvailable()
        assert run.restarts == 1 and case.files("sums") == 1
        run.finish()
        assert case.files("sums") == 2
        engine = Engine()
        engine.sql(definitions({"a": "source = 'none'"}))
        engine.query(SUMS, name="sums")
        engine.query(SOME, name="some")
        first = engine.process({"a": pa.concat_tables(tables)})
        then = engine.advance((engine.newest or 0) + 6 * SECOND + 1)
        found = in_order(session.results("sums").toArrow())
        expected = rows_of(pa.concat_tables([first["sums"], then["sums"]]))
        assert difference(expected, found) == ([], [])
        assert session.results("some").count() == first["some"].num_rows + then["some"].num_rows
    assert list((tmp_path / "job/pending").glob("*/*.arrow")) == []


def test_options_that_only_spark_writes_are_refused(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    session = Session(spark, checkpoint=tmp_path / "job", shards=1)
    session.sql(definitions({"a": feeds[0].source}))
    more = {"roll_bytes": "1000", "nullValue": "-"}
    with pytest.raises(DataError, match="only Spark writes csv files"):
        session.query("q", SOME, sink="csv", path=str(tmp_path / "csv"), **more)

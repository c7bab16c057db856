"""Jobs with the sink ``delta``: failures after its commit, resets, large batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from eddyline import StateError
from eddyline.spark import Session
from spark_cases import Feed
from table_jobs import ANSWERS, TableJob

deltalake = pytest.importorskip("deltalake", reason="the extra 'delta' is not installed")


class Job(TableJob):
    """Its tables are below a directory."""

    def __init__(self, spark: SparkSession, place: Path, feeds: tuple[Feed, Feed]) -> None:
        super().__init__(spark, place, feeds)
        self.place = place / "tables"

    def sink(self, name: str) -> dict[str, str]:
        return {"sink": "delta", "path": str(self.place / name), "on_failure": self.on_failure}

    def table(self, name: str) -> pa.Table:
        return deltalake.DeltaTable(self.place / name).to_pyarrow_table()

    def answer(self, name: str) -> list[tuple[Any, ...]]:
        return _rows(self.table(name))

    def changes(self, name: str) -> list[tuple[Any, ...]]:
        found = self.table(name).select(["_op", "_ts", "k", "v"])
        return _rows(found.set_column(1, "_ts", pc.cast(found["_ts"], pa.int64())))


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path, feeds: tuple[Feed, Feed]) -> Job:
    return Job(spark, tmp_path, feeds)


@pytest.mark.long  # as of PostgreSQL, which `make test` runs
def test_tables_are_right_after_failures(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    from eddyline.spark.sinks.delta.delta_table import DeltaSinkTable

    job.run_through_failures(monkeypatch, DeltaSinkTable, (1, 3))
    job.run_to_the_next_files(slice(4, 6))
    (job.place / "groups").rename(job.place / "elsewhere")
    with pytest.raises(StateError, match=r"'groups': .*the table is missing: restore it"):
        job.session().start(available_now=True)


def test_a_reset_empties_the_tables(job: Job) -> None:
    job.write(slice(0, 3))
    run = job.session().start()
    run.processAllAvailable()
    assert all(map(job.answer, ANSWERS))
    run.reset_watermark("a")
    run.processAllAvailable()
    assert not any(map(job.answer, ANSWERS))
    run.stop()


def test_results_that_are_not_collected_with_the_reports(
    spark: SparkSession, tmp_path: Path
) -> None:
    n, text = 40_000, "x" * 2_000
    feed = Feed(tmp_path / "s")
    session = Session(spark, checkpoint=tmp_path / "c", shards=2)
    columns = "ts TIMESTAMP, k BIGINT, w STRING"
    session.sql(f"CREATE STREAM s ({columns}) TIMESTAMP BY ts WITH ({feed.source})")
    for name, options in (("plain", {}), ("kept", {"mode": "upsert", "key": "k"})):
        select = f"SELECT {'' if not options else 'DISTINCT '}k, w FROM s [RANGE 9 SECONDS]"
        emit = "" if not options else " EMIT CHANGES"
        session.query(name, select + emit, sink="delta", path=str(tmp_path / name), **options)
    ts = pa.array([0] * n).cast(pa.timestamp("s", "UTC"))
    feed.write(pa.table({"ts": ts, "k": np.arange(n), "w": [text] * n}))
    session.start(available_now=True).awaitTermination()
    for name in ("plain", "kept"):
        found = deltalake.DeltaTable(tmp_path / name).to_pyarrow_table(columns=["k", "w"])
        assert found["k"].sort().to_pylist() == list(range(n))
        assert found["w"].unique().to_pylist() == [text]

"""A job with the sink ``iceberg``: failures after its commit, and a reset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from eddyline import StateError
from iceberg_catalogs import catalog_of, catalog_options, iceberg_table
from spark_cases import Feed
from table_jobs import ANSWERS, TableJob

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed")


class Job(TableJob):
    """Its catalog is in a directory."""

    def __init__(self, spark: SparkSession, place: Path, feeds: tuple[Feed, Feed]) -> None:
        super().__init__(spark, place, feeds)
        self.place = place

    def sink(self, name: str) -> dict[str, str]:
        own = {"sink": "iceberg", "table": f"lake.{name}", "on_failure": self.on_failure}
        return {**own, **catalog_options(self.place)}

    def answer(self, name: str) -> list[tuple[Any, ...]]:
        return _rows(self._table(name))

    def changes(self, name: str) -> list[tuple[Any, ...]]:
        found = self._table(name).select(["_op", "_ts", "k", "v"])
        return _rows(found.set_column(1, "_ts", pc.cast(found["_ts"], pa.int64())))

    def _table(self, name: str) -> pa.Table:
        return iceberg_table(self.place, name).scan().to_arrow()


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


@pytest.mark.long  # as of PostgreSQL, which `make test` runs
def test_tables_are_right_after_failures(
    spark: SparkSession,
    tmp_path: Path,
    feeds: tuple[Feed, Feed],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from eddyline.spark.sinks.iceberg.iceberg_table import IcebergSinkTable

    job = Job(spark, tmp_path, feeds)
    job.run_through_failures(monkeypatch, IcebergSinkTable, (1, 3))
    job.write(slice(4, 6))
    run = job.session().start()
    run.processAllAvailable()
    job.check()
    run.reset_watermark("a")
    run.processAllAvailable()
    assert not any(map(job.answer, ANSWERS))
    run.stop()
    catalog_of(tmp_path).drop_table("lake.groups")
    with pytest.raises(StateError, match=r"'groups': .*the table is missing: restore it"):
        job.session().start(available_now=True)

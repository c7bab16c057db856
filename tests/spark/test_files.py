"""Paths on the file systems of Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError
from eddyline.algebra.catalog import StreamDef
from eddyline.spark import files, parquet
from eddyline.spark.parquet import local_parquet
from eddyline.types import Field


def test_exists(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for day in ("day=1", "other"):  # not a partitioned table
        (tmp_path / "some" / day).mkdir(parents=True)
        (tmp_path / "some" / day / "1.csv").write_text("1")
    for found in ("empty", "some", "some/*", "some/day=1/1.csv", "some/{a,other}", "s[o]me"):
        assert files.exists(spark, f"{tmp_path}/{found}"), found
        assert files.exists(spark, f"file://{tmp_path}/{found}"), found
    for missing in ("none", "some/*.csv", "some/day=2", "{a,b}"):
        assert not files.exists(spark, f"{tmp_path}/{missing}"), missing


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("foo://a/b", r'^foo://a/b: No FileSystem for scheme "foo"'),
        ("hdfs://no.such.host.invalid/x", r"^hdfs://no.such.host.invalid/x: .*no.such.host"),
    ],
)
def test_file_systems_that_cannot_be_reached(spark: SparkSession, path: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        files.exists(spark, path)
    with pytest.raises(DataError, match=message):
        files.qualified(spark, path)


def test_only_local_files_are_read_by_arrow(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"ts": [1]}), tmp_path / "1.parquet")
    stream = StreamDef("s", (Field("ts", pa.int64()),), "ts")
    options = {"path": str(tmp_path)}
    assert local_parquet(spark, stream, options) is not None
    monkeypatch.setattr(parquet, "qualified", lambda spark, path: f"hdfs://cluster{path}")
    assert local_parquet(spark, stream, options) is None, "another file system is the default"

"""Paths on the file systems of Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError
from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.spark.formats import parquet
from eddyline.spark.formats.parquet import local_parquet, local_rows
from eddyline.spark.storage import files
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


def test_tables_that_arrow_reads(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"other": [0, 1], "name": ["zero", "one"], "k": pa.array([0, 1], pa.int64())})
    table = TableDef("t", (Field("k", pa.int64()), Field("name", pa.string())))
    options = {"path": str(tmp_path)}
    assert local_rows(spark, table, options) is None, "no file"
    for number in range(2):
        pq.write_table(rows, tmp_path / f"{number}.parquet")
    (tmp_path / "_SUCCESS").touch()
    expected = pa.concat_tables([rows.select(["k", "name"])] * 2)
    assert local_rows(spark, table, options) == expected
    assert local_rows(spark, table, {"path": f"file:{tmp_path}/0.parquet"}) == expected[:2]
    assert local_rows(spark, table, {**options, "mergeschema": "true"}) is None
    for types in ((pa.int32(), pa.string()), (pa.int64(), pa.large_string())):
        fields = tuple(map(Field, ("k", "name"), types))
        assert local_rows(spark, TableDef("t", fields), options) is None, "Spark converts"
    assert local_rows(spark, TableDef("t", (Field("z", pa.int64()),)), options) is None


@pytest.mark.parametrize("name", ["day=1/1.parquet", "below/1.parquet", "other.txt"])
def test_directories_that_only_spark_reads(spark: SparkSession, tmp_path: Path, name: str) -> None:
    rows = pa.table({"k": pa.array([0, 1], pa.int64())})
    (tmp_path / name).parent.mkdir(exist_ok=True)
    for file in ("0.parquet", name):
        pq.write_table(rows, tmp_path / file)
    table = TableDef("t", (Field("k", pa.int64()),))
    assert local_rows(spark, table, {"path": str(tmp_path)}) is None

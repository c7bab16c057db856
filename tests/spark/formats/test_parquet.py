"""Streams over Parquet files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError
from eddyline.spark import Session

DDL = """
    CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts
    WITH (source = 'parquet', path = '{}')
"""


def session_over(spark: SparkSession, tmp_path: Path, path: str) -> Session:
    """A job over ``path`` in a directory with one file."""
    times = pa.array([1, 2, 3], pa.int64()).cast(pa.timestamp("us", "UTC"))
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"ts": times, "k": [1, 2, 3]}), tmp_path / "in" / "rows.parquet")
    session = Session(spark, checkpoint=tmp_path / "checkpoint", shards=1)
    session.sql(DDL.format(tmp_path / "in" / path))
    session.query("q", "SELECT k FROM s [NOW] WHERE k > 1", sink="memory")
    return session


@pytest.mark.parametrize("path", ["*.parquet", "."])
def test_the_path_is_a_pattern_or_a_directory(
    spark: SparkSession, tmp_path: Path, path: str
) -> None:
    session = session_over(spark, tmp_path, path)
    session.start().finish()
    assert sorted(row.k for row in session.results("q").collect()) == [2, 3]


def test_the_path_is_a_file(spark: SparkSession, tmp_path: Path) -> None:
    session = session_over(spark, tmp_path, "rows.parquet")
    with pytest.raises(DataError, match=r"path '.*/in/rows.parquet' is a file; .*/in/\*.parquet"):
        session.start()

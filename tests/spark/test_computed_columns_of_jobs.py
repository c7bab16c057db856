"""Computed columns and event times of jobs: the same as in an embedded engine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from eddyline.testing.bags import difference, rows_of

pytestmark = pytest.mark.spark

NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
CENTS = "cents BIGINT AS (CAST(price * 100 AS BIGINT)), k BIGINT AS (ms % 3)"
JOIN = "SELECT a.ms, b.cents FROM s [RANGE 2 SECONDS] AS a, s [RANGE 1 SECOND] AS b WHERE a.k = b.k"
QUERIES = {
    "pairs": JOIN,
    "sums": "SELECT k, SUM(cents) AS c FROM s [RANGE 3 SECONDS] GROUP BY k EMIT CHANGES",
    "last": "SELECT ms, cents FROM s [PARTITION BY k ROWS 2] WHERE cents > 500",
}
STREAMS = {
    "column": f"ts TIMESTAMP AS (timestamp_millis(ms)), {CENTS}) TIMESTAMP BY ts",
    "expression": f"{CENTS}) TIMESTAMP BY (timestamp_millis(ms))",
    "number": f"ts TIMESTAMP AS (ms * 1000), {CENTS}) TIMESTAMP BY ts",  # without a unit
}


def written(path: Path, format_: str) -> pa.Table:
    """Files of rows; one has no event time, one is no price, one is too large, one no time."""
    path.mkdir()
    rows: list[dict[str, Any]] = [
        {"ms": NEW_YEAR + i * 50, "price": (i * 37 % 200) / 16} for i in range(200)
    ]
    rows[20]["ms"], rows[30]["price"], rows[40]["ms"] = None, 1e300, NEW_YEAR * 10**5
    table = pa.Table.from_pylist(rows, pa.schema({"ms": pa.int64(), "price": pa.float64()}))
    if format_ == "json":
        (path / "1.json").write_text("\n".join(map(json.dumps, rows)))
    else:
        pq.write_table(table, path / "1.parquet")
    return table


@pytest.mark.parametrize(
    ("form", "format_"),
    [("column", "parquet"), ("expression", "json"), ("number", "parquet")],
)
def test_a_job_computes_what_an_engine_does(
    spark: SparkSession, tmp_path: Path, form: str, format_: str
) -> None:
    rows = written(tmp_path / "in", format_)
    create = f"CREATE STREAM s (ms BIGINT, price DOUBLE, {STREAMS[form]} WITH"
    session = Session(spark, shards=2)
    session.sql(f"{create} (source = '{format_}', path = '{tmp_path / 'in'}')")
    engine = Engine()
    engine.sql(f"{create} (source = 'none')")
    for name, sql in QUERIES.items():
        session.query(name, sql, sink="memory")
        engine.query(sql, name=name)
    session.start(available_now=True).finish()
    first = engine.process({"s": rows})
    then = engine.advance("2026-01-02")
    for name in QUERIES:
        expected = rows_of(pa.concat_tables([first[name], then[name]]))
        assert len(expected) > 50
        results = session.results(name).toArrow().select(first[name].column_names)
        assert difference(expected, rows_of(results)) == ([], [])
    refused = first.bad["s"]
    bad = session.results("bad:s").toArrow().select(refused.column_names)
    assert difference(rows_of(refused), rows_of(bad)) == ([], [])
    assert len(bad) == 3


def test_late_rows_have_computed_columns(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number, ms in enumerate([NEW_YEAR + 60_000, NEW_YEAR]):
        path = tmp_path / "in" / f"{number}.parquet"
        pq.write_table(pa.table({"ms": [ms], "price": [0.5]}), path)
        os.utime(path, (number, number))
    session = Session(spark)
    session.sql(
        f"CREATE STREAM s (ms BIGINT, price DOUBLE, {STREAMS['column']} WITH (source = 'parquet', "
        f"path = '{tmp_path / 'in'}', maxFilesPerTrigger = '1', lateness_by = 'row')"
    )
    session.query("q", "SELECT cents FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    (late,) = session.results("late:s").collect()
    assert (late["ms"], late["cents"], late["k"]) == (NEW_YEAR, 50, 0)
    assert late["ts"].timestamp() * 1000 == NEW_YEAR

"""Large batches are files between the stages of a job: rows, the log of a shard, and results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import eddyline
from eddyline.spark import Session
from eddyline.spark.exchange.row_files import LEAST_BYTES
from spark_cases import SECOND, bag

pytestmark = pytest.mark.spark

COLUMNS = "(ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts"
JOIN = "SELECT a.v, b.v AS w FROM a [RANGE 40 SECONDS], b [RANGE 40 SECONDS] WHERE a.k = b.k"
ALL = "SELECT k, v FROM a [NOW]"
BATCHES, ROWS = 4, 40_000


def rows(stream: str, batch: int) -> pa.Table:
    random = np.random.default_rng([batch, ord(stream)])
    at = np.sort(random.integers(0, 30 * SECOND, ROWS)) + 30 * SECOND * batch
    keys = random.integers(0, 100_000, ROWS)
    columns = {"ts": pa.array(at, pa.timestamp("us")), "k": keys, "v": np.arange(ROWS)}
    return pa.table(columns)


def declare(session: Session, place: Path, sinks: dict[str, str]) -> None:
    for name in "ab":
        source = f"WITH (source = 'parquet', path = '{place}/{name}')"
        session.sql(f"CREATE STREAM {name} {COLUMNS} {source}")
    for (name, sink), sql in zip(sinks.items(), (JOIN, ALL), strict=True):
        session.sql(f"CREATE QUERY {name} AS {sql} WITH ({sink})")


def test_large_batches_are_files_and_a_restart_reads_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    engine = eddyline.Engine()
    for name in "ab":
        (tmp_path / name).mkdir()
        engine.sql(f"CREATE STREAM {name} {COLUMNS}")
    engine.query(JOIN, name="pairs")
    engine.query(ALL, name="copies")
    sinks = {
        "pairs": f"sink = 'parquet', path = '{tmp_path}/pairs'",
        "copies": f"sink = 'json', path = '{tmp_path}/copies'",
    }
    expected = []
    checkpoint = tmp_path / "checkpoint"
    for first in (0, 2):  # the second time the shards read their logs
        session = Session(spark, checkpoint=checkpoint, shards=2)
        declare(session, tmp_path, sinks)
        for batch in (first, first + 1):
            tables = {name: rows(name, batch) for name in "ab"}
            expected.append(engine.process(tables))
            for name, table in tables.items():
                pq.write_table(table, tmp_path / name / f"{batch}.parquet")
            session.start(available_now=True).awaitTermination()
            assert not list((checkpoint / "results").iterdir()), "they are delivered"
        files = [path for path in (checkpoint / "rows").rglob("*") if path.is_file()]
        assert len(files) == 2 * 2 * (first + 1) and all(  # the snapshot has the first batch
            LEAST_BYTES / 2 < path.stat().st_size < 1 << 20 for path in files
        )
    pairs = pa.concat_tables(changes["pairs"] for changes in expected)
    found = pq.read_table(tmp_path / "pairs").select(pairs.column_names)
    assert pairs.num_rows > ROWS / 2 and bag(found.cast(pairs.schema)) == bag(pairs)
    copies = spark.read.json(f"{tmp_path}/copies").select("k", "v").toArrow()
    every = pa.concat_tables(rows("a", batch) for batch in range(BATCHES)).select(["k", "v"])
    order = [("k", "ascending"), ("v", "ascending")]
    assert copies.sort_by(order).equals(every.sort_by(order))

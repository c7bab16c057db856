"""The option ``latency`` on Spark: what a batch does not serve waits durably for later ones."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from eddyline.spark.run import Run
from eddyline.types import TIMESTAMP
from spark_cases import SECOND, Feed, bag, definitions, wait
from window_joins import join

pytestmark = pytest.mark.spark

QUERIES = {"small": join(1), "large": join(60)}
OPTIONS = (
    "SET latency = '1 microsecond'; SET schedule = 'swf'; SET executor = 'eddy'; SET chunk_rows = 4"
)


def rows(seconds: list[int]) -> pa.Table:
    ts = pa.array([s * SECOND for s in seconds], pa.int64()).cast(TIMESTAMP)
    return pa.table({"ts": ts, "k": [1] * len(seconds), "v": range(len(seconds))})


def written(out: Path, name: str) -> dict[int, pa.Table]:
    """The changes of a query, by batch."""
    found = {}
    for directory in (out / name).glob("eddyline_batch=*"):
        files = sorted(directory.glob("[!._]*"))
        if files:
            tables = [pq.ParquetFile(file).read() for file in files]
            found[int(directory.name.partition("=")[2])] = pa.concat_tables(tables)
    return found


def waiting(run: Run) -> int:
    return sum(run.progress().waiting.values())


def started(spark: SparkSession, feeds: tuple[Feed, Feed], out: Path) -> Run:
    session = Session(spark, checkpoint=out / "checkpoint")
    session.sql(OPTIONS)
    session.sql(definitions(dict(zip("ab", (f.source for f in feeds), strict=True)), ""))
    for name, sql in QUERIES.items():
        session.query(name, sql, sink="parquet", path=str(out / name))
    return session.start()


def test_small_windows_come_first_and_the_rest_waits(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    tables = {"a": rows([19] * 8), "b": rows(list(range(20)))}
    feeds[1].write(tables["b"])
    run = started(spark, feeds, tmp_path)
    wait(run, lambda: run.progress().rows_in.get("b") == 20)  # the first batch writes a snapshot
    feeds[0].write(tables["a"])
    wait(run, lambda: run.progress().rows_out.get("small", 0) > 0)
    assert waiting(run), "a batch serves one step, and there is one batch a second"
    run.stop(after_batch=True)
    run = started(spark, feeds, tmp_path)
    wait(run, lambda: bool(run.progress().rows_in) and not waiting(run))
    run.stop(after_batch=True)

    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'"), ""))
    for name, sql in QUERIES.items():
        engine.query(sql, name=name)
    expected = engine.process(tables)
    for name in QUERIES:
        batches = written(tmp_path, name)
        found = pa.concat_tables(list(batches.values())).cast(expected[name].schema)
        assert bag(found) == bag(expected[name])
    assert max(written(tmp_path, "small")) < min(written(tmp_path, "large"))

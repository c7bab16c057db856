"""Declared statistics and prices are used by the engines of a job."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from eddyline import EngineOptions
from eddyline.engine.calibration import write_prices
from eddyline.optimizer.prices import Prices
from eddyline.spark import Session
from eddyline.spark.layouts.shard_program import ShardProgram
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.program_file import SavedProgram, read_program

CHEAP, DEAR = Prices(make_s=1e-9), Prices(make_s=1e-3)


def frame(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()


def saved_program(checkpoint: Path) -> SavedProgram:
    program = read_program(LocalDirectory(checkpoint))
    assert program is not None
    return program


def test_statistics_are_declared_from_python(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark, checkpoint=tmp_path / "checkpoint")
    rate, many = 1234.5678, {"value": 9_876_543}
    session.stream("s", frame(spark), timestamp="timestamp", rate=rate, distinct=many)
    names = spark.createDataFrame([(1, "one")], "value LONG, `a name` STRING")
    session.table("t", names, rows=7, distinct={"a name": 3})
    session.table("u", names, updates="retroactive", rate=0.25)
    select = "SELECT s.value FROM s [NOW], t WHERE s.value = t.value"
    query = session.query("q", select, sink="memory")
    assert "expected: " in query.explain()
    session.start().stop()
    created = saved_program(tmp_path / "checkpoint").created
    engine = ShardProgram(tuple(made.sql for made in created if made.kind != "query")).build()
    known = engine.statistics
    assert (known.rate("s"), known.rows("t"), known.table_rate("u")) == (rate, 7, 0.25)
    assert known.values == {("s", "value"): 9_876_543, ("t", "a name"): 3}


def test_a_checkpoint_keeps_the_prices_of_its_plans(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def started() -> Prices | None:
        session = Session(spark, checkpoint=tmp_path / "checkpoint")
        session.stream("s", frame(spark), timestamp="timestamp")
        session.query("q", "SELECT value FROM s [NOW]", sink="memory")
        session.start().stop()
        return saved_program(tmp_path / "checkpoint").options.prices

    write_prices(CHEAP)
    assert started() == CHEAP
    write_prices(DEAR)
    assert started() == CHEAP, "state fits these plans only"
    assert ShardProgram((), options=EngineOptions(prices=CHEAP)).build().options.prices == CHEAP

"""User-defined functions in workers, also after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine, SqlError, StateError
from eddyline.spark import Session
from spark_cases import Feed, bag, definitions, stream_tables

QUERY = "SELECT k, scaled(v) AS w FROM a [RANGE 6 SECONDS] WHERE odd(k) AND v > scaled(1) * 10"
ADDED = "SELECT k, SUM(scaled(v)) AS s FROM a [RANGE 5 SECONDS] GROUP BY k EMIT CHANGES"


def _define(where: Any, factor: int) -> None:
    """Code that pickle does not know: it is of this test, and refers to what surrounds it."""
    where.function("scaled", lambda v: pc.multiply(v, factor), args=["BIGINT"], returns="BIGINT")
    where.function("odd", lambda k: k % 2 == 1, args=["BIGINT"], returns="BOOLEAN", kind="python")


def test_functions_run_in_workers_also_after_a_restart(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    rows, feed = stream_tables(1, 2, 80), feeds[0]

    def session_over(files: slice, *, functions: bool = True) -> Session:
        feed.write(*rows[files])
        session = Session(spark, shards=1, checkpoint=tmp_path / "checkpoint")
        if functions:
            _define(session, 3)
        session.sql(definitions({"a": feed.source}))
        query = QUERY if functions else "SELECT k, v AS w FROM a [RANGE 6 SECONDS]"
        session.query("q", query, sink="parquet", path=str(tmp_path / "q"))
        return session

    first = session_over(slice(0, 1)).start()
    first.add("sums", ADDED, sink="parquet", path=str(tmp_path / "sums"))
    with pytest.raises(SqlError, match="there is no function scale; did you mean 'scaled'"):
        first.add("wrong", "SELECT scale(v) FROM a [NOW]")
    first.processAllAvailable()
    first.stop()
    with pytest.raises(StateError, match=r"function .* is missing here"):
        session_over(slice(0, 0), functions=False).start()
    session = session_over(slice(1, 2))
    session.start(available_now=True).finish()

    engine = Engine()
    _define(engine, 3)
    engine.sql(definitions({"a": "source = 'none'"}))
    engine.query(QUERY, name="q")
    changes = [engine.process({"a": pa.concat_tables(rows)})["q"], engine.advance(10**12)["q"]]
    assert bag(session.results("q")) == bag(pa.concat_tables(changes))
    assert session.results("sums").count() > 0

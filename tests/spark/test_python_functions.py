"""User-defined functions in workers, also after a restart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine, SqlError, StateError, UnsupportedError
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


STATEMENTS = """
CREATE FUNCTION plus(v BIGINT, n BIGINT) RETURNS BIGINT AS v + n;
CREATE FUNCTION scaled(v BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$
    import pyarrow.compute as pc
    def scaled(v): return pc.multiply(v, 3)
$$;
CREATE AGGREGATE FUNCTION spread(v BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$
    import pyarrow.compute as pc
    class spread:
        state = {"most": "MAX BIGINT", "least": "MIN BIGINT"}
        @staticmethod
        def accumulate(v): return [v, v]
        @staticmethod
        def finish(most, least): return pc.subtract(most, least)
$$;
"""
CREATED = {
    "rows": "SELECT k, scaled(plus(v, 1)) AS w FROM a [RANGE 6 SECONDS] WHERE v > 1",
    "groups": "SELECT k, spread(scaled(v)) AS s FROM a [RANGE 5 SECONDS] GROUP BY k EMIT CHANGES",
    "merged": "SELECT spread(v) AS s, SUM(plus(v, k)) AS t FROM a [RANGE 5 SECONDS] EMIT CHANGES",
}


def test_created_functions_run_in_shards_also_after_a_restart(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    rows, feed = stream_tables(2, 2, 80), feeds[0]

    def session_over(files: slice) -> Session:
        feed.write(*rows[files])
        session = Session(spark, shards=2, checkpoint=tmp_path / "checkpoint")
        session.sql(STATEMENTS)
        session.sql(definitions({"a": feed.source}))
        for name, query in CREATED.items():
            session.query(name, query, sink="parquet", path=str(tmp_path / name))
        return session

    run = session_over(slice(0, 1)).start()
    run.processAllAvailable()
    with pytest.raises(UnsupportedError, match="a running job accepts CREATE QUERY"):
        run.sql("CREATE FUNCTION f(v BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS 'os.system'")
    run.add("more", "SELECT plus(v, 2) AS w FROM a [NOW]", sink="parquet", path=f"{tmp_path}/more")
    run.processAllAvailable()
    run.stop()
    session = session_over(slice(1, 2))
    session.start(available_now=True).finish()

    engine = Engine()
    engine.sql(STATEMENTS)
    engine.sql(definitions({"a": "source = 'none'"}))
    for name, query in CREATED.items():
        engine.query(query, name=name)
    whole = [engine.process({"a": pa.concat_tables(rows)}), engine.advance(10**12)]
    for name in ("rows", "groups"):
        assert bag(session.results(name)) == bag(pa.concat_tables([w[name] for w in whole])), name
    merged = bag(pa.concat_tables([w["merged"] for w in whole]))
    assert net(bag(session.results("merged"))) == net(merged)


def net(rows: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    """By instant and row, how many rows more there are after the instant."""
    found: Counter[tuple[Any, ...]] = Counter()
    for op, ts, _, *values in rows:
        found[ts, *values] += 1 if op == "+" else -1
    return {row: n for row, n in found.items() if n}

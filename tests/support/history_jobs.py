"""Streams with a history, their queries, and what an engine says of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Restart, Session
from spark_cases import bag

QUERIES = {
    "pairs": "SELECT a.k, a.v AS av, b.v AS bv FROM a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] "
    "WHERE a.k = b.k",
    "sums": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a [RANGE 6 SECONDS] GROUP BY k EMIT CHANGES",
    "last": "SELECT k, v FROM b [PARTITION BY k ROWS 2] WHERE v > 20",
}
SECOND = 1_000_000


def rows_of(seed: int, first: int, last: int) -> pa.Table:
    """Rows from second ``first`` to before ``last``, three a second, in a random order."""
    ts = pa.array(range(first * SECOND + seed, last * SECOND, SECOND // 3), pa.int64())
    n = len(ts)
    table = pa.table(
        {
            "ts": ts.cast(pa.timestamp("us", "UTC")),
            "k": pa.array([(i * 7 + seed) % 5 for i in range(n)]),
            "v": pa.array([(i * 31 + seed) % 97 for i in range(n)]),
        }
    )
    return table.take(pa.array([(i * 11 + 3) % n for i in range(n)]) if n % 11 else range(n))


def embedded(rows: Mapping[str, pa.Table]) -> dict[str, list[tuple[Any, ...]]]:
    engine = Engine()
    for name in rows:
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    for name, sql in QUERIES.items():
        engine.query(sql, name=name)
    first, then = engine.process(rows), engine.advance(10**12)
    return {name: bag(pa.concat_tables([first[name], then[name]])) for name in QUERIES}


def definition(name: str, place: Path, more: str = "") -> str:
    return (
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts WITH ("
        f"source = 'parquet', path = '{place}/live_{name}', history = 'parquet', "
        f"history_path = '{place}/old_{name}', history_batch_rows = 60{more});"
    )


def write(place: Path, name: str, *parts: pa.Table) -> None:
    (place / name).mkdir(parents=True, exist_ok=True)
    for part in parts:
        n = len(list((place / name).iterdir()))
        pq.write_table(part, place / name / f"{n:03}.parquet")


def session_of(
    spark: SparkSession, place: Path, sql: str, checkpoint: str = "checkpoint"
) -> Session:
    session = Session(spark, checkpoint=place / checkpoint, restart=Restart(5, first_s=0.01))
    session.sql(sql)
    for name, select in QUERIES.items():
        session.query(name, select, sink="parquet", path=str(place / "out" / name))
    return session


def results(session: Session) -> dict[str, list[tuple[Any, ...]]]:
    return {name: bag(session.results(name)) for name in QUERIES}


def before(rows: pa.Table, second: int) -> pa.Table:
    return rows.filter(pc.less(rows["ts"].cast(pa.int64()), second * SECOND))


def since(rows: pa.Table, second: int) -> pa.Table:
    return rows.filter(pc.greater_equal(rows["ts"].cast(pa.int64()), second * SECOND))

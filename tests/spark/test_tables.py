"""Tables that change while the job runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine
from eddyline.spark import Session
from spark_cases import SECOND, Feed, bag, definitions, stream_tables

OWNERS = "CREATE TABLE owners (k BIGINT, owner STRING) WITH (updates = 'retroactive'{source})"
NAMES = pa.table({"k": pa.array([0, 1, 2], pa.int64()), "name": ["zero", "one", "two"]})
QUERIES = {
    "owned": "SELECT a.v, o.owner FROM a [RANGE 6 SECONDS], owners AS o WHERE a.k = o.k",
    "named": "SELECT a.v, n.name FROM a [RANGE 6 SECONDS], names AS n WHERE a.k = n.k EMIT CHANGES",
    "counts": "SELECT o.owner, COUNT(*) AS n FROM a [RANGE 9 SECONDS], owners AS o "
    "WHERE a.k = o.k GROUP BY o.owner",
}
FILE_US = 8 * SECOND  # of the stream's rows, and of the changes that come with them


def changes(seed: int, files: int, column: str, *, signs: bool) -> list[pa.Table]:
    """Changes in the time of the stream's files, at instants that no row has."""
    rng = np.random.default_rng(seed)
    out = []
    for start in range(0, files * FILE_US, FILE_US):
        at = start + np.sort(rng.choice(FILE_US // 1000, 12, replace=False)) * 1000 + 77 * seed
        keys = rng.integers(0, 6, at.size)
        columns: dict[str, Any] = {
            "_ts": pa.array(at).cast(pa.timestamp("us", "UTC")),
            "_op": rng.choice(["+", "-"], at.size),
            "k": keys,
            column: [f"{column} {k % 2}" for k in keys],
        }
        out.append(pa.table(columns if signs else {n: columns[n] for n in columns if n != "_op"}))
    return out


def embedded(streams: dict[str, list[pa.Table]]) -> tuple[dict[str, Any], pa.Table]:
    """All changes of the queries, and the bad rows of ``owners``."""
    engine = Engine()
    engine.sql(definitions({"a": "source = 'none'"}))
    engine.sql(OWNERS.format(source=""))
    engine.sql("CREATE TABLE names (k BIGINT, name STRING) WITH (updates = 'non-retroactive')")
    engine.table("names", NAMES)
    for name, sql in QUERIES.items():
        engine.query(sql, name=name)
    first = engine.process({name: pa.concat_tables(parts) for name, parts in streams.items()})
    then = engine.advance(10**12)
    bad = pa.concat_tables([first.bad["owners"], then.bad["owners"]])
    return {n: bag(pa.concat_tables([first[n], then[n]])) for n in QUERIES}, bad


def test_changes_of_tables_after_a_restart(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    rows = stream_tables(1, 4)
    owners, names = changes(2, 4, "owner", signs=True), changes(3, 4, "name", signs=False)
    stream, owner_feed = feeds
    name_feed = Feed(tmp_path / "names")

    def run_over(files: slice) -> Session:
        for feed, tables in ((stream, rows), (owner_feed, owners), (name_feed, names)):
            feed.write(*tables[files])
        session = Session(spark, checkpoint=tmp_path / "checkpoint")
        session.sql(definitions({"a": stream.source}))
        session.sql(OWNERS.format(source=f", {owner_feed.source}"))
        reader = spark.readStream.schema("_ts TIMESTAMP, k BIGINT, name STRING")
        changing = reader.option("maxFilesPerTrigger", 1).parquet(str(name_feed.path))
        session.table(
            "names", spark.createDataFrame(NAMES), updates="non-retroactive", changes=changing
        )
        for name, sql in QUERIES.items():
            session.query(name, sql, sink="parquet", path=str(tmp_path / name))
        return session

    first = run_over(slice(0, 2)).start()
    first.processAllAvailable()
    first.stop()
    session = run_over(slice(2, 4))
    run = session.start(available_now=True)
    run.finish()
    expected, bad = embedded({"a": rows, "owners": owners, "names": names})
    assert {name: bag(session.results(name)) for name in QUERIES} == expected
    assert all(expected.values())
    assert bag(session.results("bad:owners")) == bag(bad)
    progress = run.progress()
    assert progress.rows_in == {"a": 160, "owners": 48, "names": 48}
    assert progress.bad == {"a": 0, "owners": bad.num_rows, "names": 0}
    assert sum(progress.late.values()) == 0


def test_tables_that_do_not_fit_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark, checkpoint=tmp_path / "c")
    changing = spark.readStream.format("rate").load()
    with pytest.raises(DataError, match=r"'t': the DataFrame is a stream.*updates='retroactive'"):
        session.table("t", changing)
    with pytest.raises(DataError, match=r"'t': df \(the initial content\) must be static"):
        session.table("t", changing, updates="retroactive", changes=changing)
    session.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    session.table("t", changing, updates="retroactive")
    session.query("q", "SELECT s.k FROM s [NOW], t WHERE s.k = t.value")
    with pytest.raises(DataError, match=r"stream 's' has no source"):
        session.start()
    empty = tmp_path / "empty"
    empty.mkdir()
    session = Session(spark, checkpoint=tmp_path / "d")
    Feed(tmp_path / "s").write(stream_tables(1, 1)[0])
    session.sql(definitions({"s": f"source = 'parquet', path = '{tmp_path / 's'}'"}))
    session.table("t", changing, updates="retroactive")
    session.query("q", "SELECT s.k FROM s [NOW], t WHERE s.k = t.value")
    with pytest.raises(DataError, match=r"table 't': the rows have no column '_ts'"):
        session.start()

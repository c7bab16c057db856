"""Tables that change while the job runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine
from eddyline.engine.query import Query
from eddyline.spark import Session
from eddyline.testing.bags import rows_of
from net_changes import net_changes
from spark_cases import SECOND, Feed, Twin, bag, definitions, in_order, stream_tables

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


def embedded(streams: dict[str, list[pa.Table]]) -> tuple[dict[str, Any], pa.Table, Query]:
    """All changes of the queries, bad rows of ``owners``, and the query with groups.

    Its groups are merged by the driver: of these, what is different after each instant.
    """
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
    tables = {n: pa.concat_tables([first[n], then[n]]) for n in QUERIES}
    query = engine.queries["counts"]
    net = sorted(net_changes(query, rows_of(tables["counts"]), 10**12))
    bags = {n: bag(tables[n]) for n in QUERIES if n != "counts"}
    return bags | {"counts": net}, bad, query


@pytest.mark.parametrize("size", [3, 1_000_000])
def test_changes_of_tables_after_a_restart(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path, size: int
) -> None:
    """Tables of the declared size: each shard has all rows of them, or those of its keys."""
    rows = stream_tables(1, 4)
    owners, names = changes(2, 4, "owner", signs=True), changes(3, 4, "name", signs=False)
    stream, owner_feed = feeds
    name_feed = Feed(tmp_path / "names")

    def run_over(files: slice) -> Session:
        for feed, tables in ((stream, rows), (owner_feed, owners), (name_feed, names)):
            feed.write(*tables[files])
        session = Session(spark, checkpoint=tmp_path / "checkpoint")
        session.sql(definitions({"a": stream.source}))
        session.sql(OWNERS.format(source=f", rows = {size}, {owner_feed.source}"))
        reader = spark.readStream.schema("_ts TIMESTAMP, k BIGINT, name STRING")
        changing = reader.option("maxFilesPerTrigger", 1).parquet(str(name_feed.path))
        first_names = spark.createDataFrame(NAMES)
        kind: Literal["non-retroactive"] = "non-retroactive"
        session.table("names", first_names, updates=kind, changes=changing, rows=size)
        for name, sql in QUERIES.items():
            session.query(name, sql, sink="parquet", path=str(tmp_path / name))
        return session

    first = run_over(slice(0, 2)).start()
    first.processAllAvailable()
    first.stop()
    session = run_over(slice(2, 4))
    run = session.start(available_now=True)
    run.finish()
    expected, bad, query = embedded({"a": rows, "owners": owners, "names": names})
    found: dict[str, Any] = {name: bag(session.results(name)) for name in ("owned", "named")}
    counts = in_order(session.results("counts").toArrow())
    found["counts"] = sorted(net_changes(query, counts, 10**12))
    assert found == expected
    assert all(expected.values())
    assert bag(session.results("bad:owners")) == bag(bad)
    progress = run.progress()
    assert progress.rows_in == {"a": 160, "owners": 48, "names": 48}
    assert progress.bad == {"a": 0, "owners": bad.num_rows, "names": 0}
    assert sum(progress.late.values()) == 0
    received = [shard["received"] for shard in run.shards()]
    of_owners = sum(of.get("owners", 0) for of in received)
    assert of_owners == 48 if size > 3 else of_owners == 48 * len(received)


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


def test_a_large_static_table_is_divided_also_in_a_layout_that_is_added(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    """By its key in the first layout, by another column in the added one."""
    rows = stream_tables(1, 3)
    keys = np.arange(-1, 60)
    content = pa.table({"k": pa.array(keys, mask=keys < 0), "v": keys * 2})
    first = "SELECT a.v, t.v AS w FROM a [RANGE 6 SECONDS], t WHERE a.k = t.k"
    added = "SELECT a.k, t.k AS w FROM a [RANGE 2 SECONDS], t WHERE a.v = t.v"
    session = Session(spark, checkpoint=tmp_path / "checkpoint", shards=2)
    session.sql(definitions({"a": feeds[0].source}))
    session.table("t", spark.createDataFrame(content), rows=200_000)
    session.query("first", first, sink="memory")
    twins = {}
    for name, sql in (("first", first), ("added", added)):
        engine = Engine()
        engine.sql(definitions({"a": "source = 'none'"}))
        engine.sql("CREATE TABLE t (k BIGINT, v BIGINT)")
        engine.table("t", content)
        engine.query(sql, name=name)
        twins[name] = Twin(engine, {"a": 5 * SECOND})
    feeds[0].write(rows[0])
    run = session.start()
    run.processAllAvailable()
    run.add("added", added, sink="memory")
    feeds[0].write(*rows[1:])
    run.processAllAvailable()
    described = {r["layout"] for r in run.shards()}
    run.finish()
    assert described == {"a.k = t.k in 2 parts", "a.v = t.v in 2 parts"}
    twins["first"].process({"a": rows})
    twins["added"].process({"a": rows[:1]}, only_their_times=True)
    twins["added"].process({"a": rows[1:]})
    for name, twin in twins.items():
        twin.end()
        assert twin.changes()[name]
        assert bag(session.results(name)) == twin.changes()[name]


@pytest.mark.parametrize("rows", [None, 100_000])
def test_a_table_that_is_large_and_not_declared_so_is_logged(
    spark: SparkSession,
    feeds: tuple[Feed, Feed],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    rows: float | None,
) -> None:
    feeds[0].write(stream_tables(1, 1)[0])
    session = Session(spark, checkpoint=tmp_path / "checkpoint", shards=2)
    session.sql(definitions({"a": feeds[0].source}))
    session.table("t", spark.range(100_000), rows=rows)
    session.query("q", "SELECT a.v FROM a [NOW], t WHERE a.k = t.id", sink="memory")
    session.start().stop()
    logged = [r.getMessage() for r in caplog.records if "table 't'" in r.getMessage()]
    if rows is None:
        assert logged == [
            "table 't' has 100000 rows in each of 2 shards; declared with rows = 100000 it is "
            "divided where that is possible, in a job with a new checkpoint"
        ]
    else:
        assert not logged

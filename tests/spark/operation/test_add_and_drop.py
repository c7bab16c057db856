"""Queries added and dropped while the job runs have the results of an embedded engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, DataError, Engine, SqlError, StateError
from eddyline.spark import Session
from eddyline.spark.script import Script
from eddyline.spark.storage.control import Request
from eddyline.spark.workers.durable import CommitRecord
from eddyline.spark.workers.shard_input import ShardInput, due_statements
from spark_cases import NAMES, QUERIES, SECOND, Feed, Twin, bag, definitions, stream_tables
from worker_processes import end_engine_workers

JobInputs = tuple[Feed, Feed]

#: Its window is shorter than that of "pairs": all that it would have held is still there.
ADDED = "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM b [RANGE 7 SECONDS] GROUP BY k EMIT CHANGES"


def new_twin() -> Twin:
    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name in ("pairs", "last"):
        engine.query(QUERIES[name], name=name)
    return Twin(engine, dict.fromkeys("ab", 5 * SECOND))


def test_same_changes_as_embedded_also_after_a_restart(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = stream_tables(1, 5), stream_tables(2, 5)
    printed: list[tuple[str, int, int]] = []
    twin = new_twin()

    def session_over() -> Session:
        session = Session(
            spark,
            checkpoint=tmp_path / "checkpoint",
            printer=lambda name, rows, n: printed.append((name, rows.num_rows, n)),
        )
        session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
        for name in ("pairs", "last"):
            session.query(name, QUERIES[name], sink="parquet", path=str(tmp_path / name))
        return session

    def write(files: slice) -> None:
        feeds[0].write(*a[files])
        feeds[1].write(*b[files])
        twin.process({"a": a[files], "b": b[files]})

    session = session_over()
    write(slice(0, 2))
    run = session.start()
    run.processAllAvailable()
    added = run.add("added", ADDED, sink="parquet", path=str(tmp_path / "added"))
    run.add("shown", "SELECT k, v FROM a [NOW]", rows="2")
    twin.engine.query(ADDED, name="added")
    twin.engine.query("SELECT k, v FROM a [NOW]", name="shown")
    assert list(session.queries) == ["pairs", "last", "added", "shown"]
    assert added.schema.names == ["k", "n", "s"]
    run.processAllAvailable()
    write(slice(2, 3))
    run.processAllAvailable()
    run.drop("LAST")
    twin.engine.drop("last")
    run.processAllAvailable()
    write(slice(3, 4))
    run.stop()
    end_engine_workers()
    write(slice(4, 5))
    session = session_over()
    run = session.start(available_now=True)
    assert list(session.queries) == ["pairs", "added", "shown"]
    run.finish()
    twin.end()
    expected = twin.changes()
    assert all(expected.values()), "each query must have something to say"
    for name in ("pairs", "last", "added"):
        assert bag(session.results(name)) == expected[name], name
    assert run.progress().rows_out == {name: len(rows) for name, rows in expected.items()}
    assert {name for name, _, _ in printed} == {"shown"}
    assert max(rows for _, rows, _ in printed) == 2
    assert sum(n for _, _, n in printed) >= len(expected["shown"])


def test_refused_while_running(spark: SparkSession, feeds: JobInputs, tmp_path: Path) -> None:
    session = Session(spark, checkpoint=tmp_path / "checkpoint", shards=2)
    sources = {"a": feeds[0].source, "b": feeds[1].source, "c": feeds[0].source}
    session.sql(definitions(sources))
    session.table("names", spark.createDataFrame(NAMES))
    session.sql("CREATE TABLE live (k BIGINT) WITH (updates = 'retroactive')")
    for name in "ab":
        session.query(f"of_{name}", f"SELECT k FROM {name} [NOW]", sink="memory")
    run = session.start()
    for select, message in {
        "SELECT k FROM c [NOW]": "the stream 'c', which no query of this job read when it started",
        "SELECT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k": r"groups of this job: \(a\) and \(b\)",
        "SELECT name FROM a [NOW], names AS n WHERE a.k = n.k": "the table 'names', which no query",
        "SELECT k FROM live": "reads no stream",
    }.items():
        with pytest.raises(CatalogError, match=message):
            run.add("q", select)
    with pytest.raises(SqlError, match="line 1, column 8") as caught:
        run.add("q", "SELECT w FROM a [NOW]")
    assert (caught.value.line, caught.value.column) == (1, 8)
    with pytest.raises(DataError, match="needs the option 'path'"):
        run.add("q", "SELECT k FROM a [NOW]", sink="parquet")
    with pytest.raises(CatalogError, match="of_a"):
        run.add("of_a", "SELECT k FROM a [NOW]")
    with pytest.raises(CatalogError, match="there is no query 'q'"):
        run.drop("q")
    run.add("q", "SELECT k FROM a [NOW]", sink="memory")
    run.add("r", "SELECT k FROM q", sink="memory")
    with pytest.raises(CatalogError, match="cannot drop query 'q': query 'r' reads it"):
        run.drop("q")
    run.drop("r")
    with pytest.raises(CatalogError, match="'R' is the name of a dropped query of this job"):
        run.add("R", "SELECT k FROM a [NOW]")
    run.processAllAvailable()
    run.stop()
    with pytest.raises(StateError, match="the job has ended"):
        run.add("s", "SELECT k FROM a [NOW]")
    again = session.start()
    again.processAllAvailable()
    again.stop()
    assert again.exception() is None
    assert list(session.queries) == ["of_a", "of_b", "q"]


def test_statements_wait_for_earlier_ones() -> None:
    def arriving(*numbers: int) -> ShardInput:
        requests = [Request(0, "sql", f"DROP QUERY q{n}", n) for n in numbers]
        return ShardInput((), {}, {}, {r.number: r.text for r in requests}, None)

    def due(head: CommitRecord, arrivals: ShardInput) -> tuple[str, ...]:
        statements, hold = due_statements(head, arrivals, drops_rows=True)
        assert not hold, "a dropped query needs no rows"
        return statements

    head = CommitRecord()
    assert due(head, arriving(2, 1)) == ("DROP QUERY q1", "DROP QUERY q2")
    assert due(head, arriving(5, 4, 2)) == ()
    assert due(head, arriving(3)) == ("DROP QUERY q3", "DROP QUERY q4", "DROP QUERY q5")


def test_queries_without_shedding_wait_while_rows_are_dropped() -> None:
    sqls = ["DROP QUERY q", *(f"CREATE QUERY {n} AS SELECT x FROM s" for n in "abc")]
    sqls[1] += " ON OVERLOAD SHED"
    statements = dict(enumerate(sqls, start=1))
    head = CommitRecord()
    arrivals = ShardInput((), {}, {}, statements, None)
    assert due_statements(head, arrivals, drops_rows=True) == ((sqls[0], sqls[1]), True)
    assert due_statements(head, ShardInput((), {}, {}, {}, None), drops_rows=True) == ((), True)
    assert due_statements(head, ShardInput((), {}, {}, {}, None), drops_rows=False) == (
        (*sqls[2:],),
        False,
    )


def test_the_statement_of_a_query_has_its_options() -> None:
    script = Script()
    list(script.run("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"))
    options = {"sink": "csv", "path": r"/tmp/it's \n here", "a.b-c": "1"}
    script.query("q $1", "SELECT x FROM s [NOW] EMIT CHANGES -- all", options)
    copied = Script.of(script.statements).queries["q $1"]
    assert copied.options == options
    assert copied.emit.mode == "changes"

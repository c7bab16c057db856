"""Many similar queries in one job: sharing affects sinks, but not results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine
from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark import Session
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.sinks import FileSink
from spark_cases import SECOND, Feed, Twin, bag, definitions, stream_tables
from worker_processes import end_engine_workers

JobInputs = tuple[Feed, Feed]

#: Per shape a SELECT, where {0} is another number for each query.
SHAPES = {
    "near": "SELECT k, v FROM a [RANGE {0} SECONDS] WHERE v BETWEEN {0} * 5 AND {0} * 5 + 20",
    "far": "SELECT v + k AS w FROM a [RANGE {0} SECONDS] WHERE v < {0} * 9 OR k = {0}",
    "pair": "SELECT a.k, a.v AS av, b.v AS bv FROM a [RANGE {0} SECONDS], b [RANGE 9 SECONDS] "
    "WHERE a.k = b.k AND a.v > b.v + {0} * 4",
    "sum": "SELECT k, SUM(v) AS s FROM b [RANGE {0} SECONDS] WHERE v > {0} GROUP BY k",
}
COUNT = 12


def queries(first: int = 1, count: int = COUNT) -> Iterator[tuple[str, str, str]]:
    """Shape, name and SELECT of each query."""
    for shape, select in SHAPES.items():
        for i in range(first, first + count):
            yield shape, f"{shape}{i}", select.format(i)


def sink_of(shape: str, directory: Path) -> dict[str, str]:
    """Where the queries of a shape go, all to the same place."""
    match shape:
        case "near":
            return {"sink": "memory"}
        case "sum":
            return {"rows": "3"}
        case _:
            return {"sink": "parquet", "path": str(directory / shape)}


def test_many_queries_are_added_and_dropped(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"a": stream_tables(1, 6), "b": stream_tables(2, 6)}
    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
    printed: dict[str, int] = {}
    kept: dict[str, list[pa.Table]] = {}

    def note(name: str, rows: pa.Table, n: int) -> None:
        assert rows.num_rows <= 2 * 3, "before and after the end of the rows"
        printed[name] = printed.get(name, 0) + n

    def new_session() -> Session:
        session = Session(spark, checkpoint=tmp_path / "checkpoint", printer=note)
        session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
        for shape, name, select in queries():
            session.query(name, select, **sink_of(shape, tmp_path))
        return session

    def write(files: slice) -> None:
        for feed, name in zip(feeds, "ab", strict=True):
            feed.write(*rows[name][files])
        twin.process({name: tables[files] for name, tables in rows.items()})

    for _, name, select in queries():
        engine.query(select, name=name)
    session = new_session()
    write(slice(0, 2))
    run = session.start()
    run.processAllAvailable()
    for shape, name, select in queries(COUNT + 1, 3):  # of shapes that are there
        run.add(name, select, **sink_of(shape, tmp_path))
        engine.query(select, name=name)
    gone = ["near3", "far1", "far2", "pair7", "sum5", "near13"]
    for name in gone[:-1]:
        run.drop(name)
        engine.drop(name)
    run.processAllAvailable()
    write(slice(2, 3))
    run.processAllAvailable()
    run.drop(gone[-1])
    engine.drop(gone[-1])
    run.processAllAvailable()
    write(slice(3, 4))
    run.processAllAvailable()
    run.stop()
    for _, name, _ in [*queries(), *queries(COUNT + 1, 3)]:
        if name.startswith("near"):
            kept[name] = [session.results(name).toArrow()]
    end_engine_workers()
    session = new_session()
    write(slice(4, 6))
    run = session.start(available_now=True)
    run.finish()
    twin.end()
    expected = twin.changes()
    assert set(session.queries) == set(engine.queries)
    assert len(expected) > 4 * COUNT
    for name, changes in expected.items():
        if name.startswith("near"):
            found = pa.concat_tables([*kept[name], session.results(name).toArrow()])
            assert bag(found) == changes, name
        elif not name.startswith("sum"):
            assert bag(session.results(name)) == changes, name
    there = {name: n for name, n in run.progress().rows_out.items() if n}
    assert there == {name: len(changes) for name, changes in expected.items()}
    for shape in ("far", "pair"):
        files = list((tmp_path / shape).glob("*/*.parquet"))
        batches = {file.parent.name for file in files}
        assert len(files) == len(batches), "one write per batch for all"
        assert pq.read_schema(files[0]).names[0] == QUERY_COLUMN
    assert set(printed) == {name for name in expected if name.startswith("sum")}


def test_for_each_row_of_a_table(spark: SparkSession, feeds: JobInputs, tmp_path: Path) -> None:
    """The rules come and go as rows of a table that changes, and as statements."""
    columns = "(id BIGINT, least BIGINT, room BIGINT)"
    rules = [
        _rules([(0, "+", 1, 10, 1), (0, "+", 2, 50, 2), (0, "+", 3, 90, 3)]),
        _rules([(20, "-", 2, 50, 2), (20, "+", 4, 5, 4), (25, "-", 1, 10, 1)]),
    ]
    query = (
        "CREATE QUERY alerts FOR EACH ROW OF rules AS SELECT rules.id, a.v FROM a [RANGE 3 SECONDS]"
        " WHERE a.k = rules.room AND a.v > rules.least"
    )
    added = query.replace("alerts", "more").replace("rules.least", "rules.least + 5")
    tables = stream_tables(1, 4)
    rule_feed = Feed(tmp_path / "rules")

    def write(half: int) -> None:
        rule_feed.write(rules[half])
        feeds[0].write(*tables[2 * half : 2 * half + 2])

    def new_session() -> Session:
        session = Session(spark, checkpoint=tmp_path / "checkpoint")
        session.sql(definitions({"a": feeds[0].source}))
        options = f"updates = 'retroactive', {rule_feed.source}"
        session.sql(f"CREATE TABLE rules {columns} WITH ({options})")
        session.sql(f"{query} WITH (sink = 'parquet', path = '{tmp_path / 'alerts'}')")
        return session

    write(0)
    run = new_session().start()
    run.processAllAvailable()
    run.sql(f"{added} WITH (sink = 'parquet', path = '{tmp_path / 'more'}')")
    run.processAllAvailable()
    run.stop()
    write(1)
    session = new_session()
    session.start(available_now=True).finish()

    engine = Engine()
    engine.sql(definitions({"a": "source = 'none'"}))
    engine.sql(f"CREATE TABLE rules {columns} WITH (updates = 'retroactive')")
    engine.sql(query)
    twin = Twin(engine, {"a": 5 * SECOND})
    twin.process({"a": tables[:2], "rules": rules[:1]})
    engine.sql(added)
    twin.process({"a": tables[2:], "rules": rules[1:]})
    twin.end()
    expected = twin.changes()
    for name in ("alerts", "more"):
        assert {row[3] for row in expected[name]} == {1, 2, 3, 4}
        assert bag(session.results(name)) == expected[name]


def _rules(changes: list[tuple[int, str, int, int, int]]) -> pa.Table:
    """Changes of the rules: at which second, + or -, id, least, room."""
    at, op, *values = zip(*changes, strict=True)
    ts = pa.array([s * SECOND for s in at]).cast(pa.timestamp("us", "UTC"))
    names = ["_ts", "_op", "id", "least", "room"]
    return pa.table(dict(zip(names, [ts, op, *values], strict=True)))


# -- shared sinks ------------------------------------------------------

SAME = "SELECT k, v FROM s [NOW] WHERE v > {}"


@pytest.fixture
def sinks(spark: SparkSession, tmp_path: Path) -> SinkFactory:
    return SinkFactory(spark, tmp_path, lambda label, rows, n: None, "job")


def declared(options: Mapping[str, str], select: str = SAME) -> dict[str, Any]:
    """Queries with these options by name: sink options without the format, which is parquet."""
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    for i, (name, more) in enumerate(options.items()):
        with_ = f"sink = 'parquet', {more}" if "sink" not in more else more
        engine.sql(f"CREATE QUERY {name} AS {select.format(i)} WITH ({with_})")
    return dict(engine.queries)


def test_the_sink_of_a_single_query_has_no_query_column(sinks: SinkFactory) -> None:
    made = declared({"a": "path = 'x'", "b": "path = 'y'", "c": "path = 'y'"})
    sinks.open_first(made.values())
    found = {name: sinks.find(name) for name in "abc"}
    sink_a, sink_b, sink_c = (f.sink for f in found.values() if f is not None)
    assert isinstance(sink_a, FileSink) and isinstance(sink_b, FileSink)
    assert not sink_a.shared and sink_a.schema == made["a"].change_schema
    assert sink_b is sink_c and sink_b.shared
    assert sink_b.schema.names == [QUERY_COLUMN, *made["b"].change_schema.names]


def test_one_path_written_in_two_ways(sinks: SinkFactory, tmp_path: Path) -> None:
    made = declared({"a": "path = 'x'", "b": f"path = 'file://{tmp_path}/x'"})
    sinks.open_first(made.values())
    first, second = sinks.find("A"), sinks.find("b")
    assert first is not None and second is not None
    assert first.sink is second.sink and first.key != second.key
    assert isinstance(first.sink, FileSink) and first.sink.shared


def test_added_queries_share_only_sinks_with_a_query_column(sinks: SinkFactory) -> None:
    made = declared(
        {
            "alone": "path = 'x'",
            "one": "path = 'y'",
            "two": "path = 'y'",
            "open": "path = 'z', shared = 'true'",
        }
    )
    sinks.open_first(made.values())
    later = declared({"p": "path = 'y'", "q": "path = 'z'", "r": "path = 'x'"})
    sinks.open(later["p"])
    sinks.open(later["q"])
    with pytest.raises(
        DataError, match="'r': query 'alone' has the same sink, and its rows do not"
    ):
        sinks.open(later["r"])
    new = declared({"t": "path = 'new', shared = 'true'", "u": "path = 'new'"})
    sinks.open(new["t"])
    sinks.open(new["u"])
    found = sinks.find("u")
    assert found is not None and isinstance(found.sink, FileSink) and found.sink.shared


@pytest.mark.parametrize(
    ("options", "select", "message"),
    [
        ("path = 'x', compression = 'gzip'", SAME, "'b': the path '.*x' belongs to 'a', whose"),
        ("sink = 'csv', path = 'x'", SAME, "another format or other options"),
        ("path = 'x'", "SELECT v FROM s [NOW] WHERE v > {}", "which has other columns"),
        ("path = 'y', shared = 'yes'", SAME, "'b': shared = 'yes' is neither 'true' nor 'false'"),
        ("sink = 'memory', shared = 'true'", SAME, "the sink 'memory' has no option 'shared'"),
    ],
)
def test_what_cannot_share(sinks: SinkFactory, options: str, select: str, message: str) -> None:
    sinks.open_first(declared({"a": "path = 'x'"}).values())
    with pytest.raises(DataError, match=message):
        sinks.open_first(declared({"b": options}, select).values())


def test_a_side_output_does_not_share_its_path(sinks: SinkFactory, tmp_path: Path) -> None:
    sinks.open_first(declared({"a": "path = 'x'"}).values())
    late = Target("late", "s", pa.schema([("v", pa.int64())]))
    with pytest.raises(DataError, match=r"'late:s': the path '.*x' belongs to 'a'"):
        sinks.open_side(late, {"sink": "parquet", "path": f"{tmp_path}/x"})

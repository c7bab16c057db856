"""Changes of many queries leave a shard in one table, and are split again."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pytest

from eddyline import CatalogError, Engine
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.exchange.query_rows import OutputRoute, QueryRows, concatenated
from eddyline.spark.exchange.row_files import WrittenFiles
from eddyline.spark.layouts.shard_program import BroadcastProgram, ShardSpec
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.printing import print_omitted
from eddyline.spark.sinks.sinks import PrintSink
from eddyline.spark.workers.durable import CommitRecord, EngineBatch
from eddyline.spark.workers.output import ShardOutput
from eddyline.spark.workers.shard_engine import ShardEngine, StepOutput
from eddyline.testing import engine_with
from spark_cases import bag

ROWS = pa.table({"ts": np.arange(200) * 1_000, "k": np.arange(200) % 7, "v": np.arange(200)})
QUERIES = {
    "low": "SELECT k, v FROM s [NOW] WHERE v < 20",
    "high": "SELECT k, v FROM s [NOW] WHERE v >= 150",
    "some": "SELECT k, v FROM s [NOW] WHERE k = 3",
    "none": "SELECT k, v FROM s [NOW] WHERE k = 9",
    "other": "SELECT v FROM s [NOW] WHERE k = 5",
    "sums": "SELECT k, SUM(v) AS v FROM s [RANGE 1 SECOND] GROUP BY k",
}


def new_engine(queries: Mapping[str, str] = QUERIES, sink: str = "") -> Engine:
    engine = engine_with(chunk_rows=64)
    engine.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    for name, select in queries.items():
        engine.sql(f"CREATE QUERY {name} AS {select} {sink}")
    return engine


def parted(names: Sequence[str], owner: Sequence[int]) -> QueryRows:
    query = pa.DictionaryArray.from_arrays(pa.array(owner, pa.int32()), pa.array(names))
    return QueryRows.of(pa.table({"_query": query, "v": range(len(owner))}))


def test_each_query_gets_what_it_would_get_alone() -> None:
    made = StepOutput.of(new_engine().process({"s": ROWS}))
    there = {name: rows for part in made.changes for name, rows in part.each()}
    alone = {name: new_engine({name: q}).process({"s": ROWS})[name] for name, q in QUERIES.items()}
    assert there.keys() == QUERIES.keys() - {"none"}
    for name, rows in there.items():
        assert rows.equals(alone[name].cast(rows.schema)), name
    for part in made.changes:
        for name in part.names:
            assert part.only(name).equals(there[name])
        assert part.only("none").num_rows == 0
        assert part.counts == {name: there[name].num_rows for name in part.names}


def test_names_without_rows_are_not_sent() -> None:
    part = parted(["a", "b", "c", "d"], [3, 1, 3, 3])
    assert part.names == ["b", "d"]
    assert part.owner.tolist() == [1, 0, 1, 1]
    assert part.rows.column(0).chunk(0).dictionary.to_pylist() == ["b", "d"]
    assert part.rows.column(0).to_pylist() == ["d", "b", "d", "d"]


def test_rows_are_split_by_route() -> None:
    part = parted(["a", "b", "c"], [0, 1, 2, 0, 1, 0, 2])
    routes = {
        "a": OutputRoute("one", None),
        "b": OutputRoute("two", None),
        "c": OutputRoute("one", None),
    }
    found = {route.key: table["v"].to_pylist() for route, table in part.by_route(routes)}
    assert found == {"one": [0, 2, 3, 5, 6], "two": [1, 4]}
    everything = dict.fromkeys("abc", OutputRoute("one", None))
    ((route, table),) = part.by_route(everything)
    assert route.key == "one" and table is part.rows, "not even copied"


def test_previews_are_cut_per_query() -> None:
    part = parted(["a", "b", "c"], [0, 0, 1, 0, 2, 2, 0, 2, 1])
    routes = {"a": OutputRoute("x", 2), "b": OutputRoute("x", 1), "c": OutputRoute("y", None)}
    found = {route.key: table["v"].to_pylist() for route, table in part.by_route(routes)}
    assert found == {"x": [0, 1, 2], "y": [4, 5, 7]}


@pytest.mark.parametrize(
    ("sink", "collected"),
    [("parquet", True), ("memory", True), ("print", True), ("noop", False), ("kafka", False)],
)
def test_the_driver_collects_no_rows_that_it_does_not_use(sink: str, collected: bool) -> None:
    engine = ShardEngine(new_engine({"q": QUERIES["low"]}, f"WITH (sink = '{sink}', path = '/x')"))
    outputs = engine.apply(EngineBatch((("s", pack(ROWS)),)))
    program = BroadcastProgram.__new__(BroadcastProgram)
    spec = ShardSpec(0, "run", "not divided", 0, ("s",), ("s",), program)
    output = ShardOutput(spec, outputs, engine.routes, {}, {}, WrittenFiles("", 0))
    large = [row for frame in output.frames() for row in frame.itertuples(index=False)]
    last = output.last_frame(CommitRecord(), {}, {})
    sent = [row for row in last.itertuples(index=False) if row.kind == "changes"]
    report = json.loads(last["blob"][last["kind"] == "progress"].item())
    assert (len(large), len(sent)) == ((0, 1) if collected else (1, 0))
    assert all(row.small is (not large) for row in (*large, *sent))
    assert report["large"] == [["changes", row.name] for row in large]
    assert report["out"] == {"q": 20}


def test_routes_differ_by_sink_and_columns() -> None:
    def key(select: str, sink: str) -> str:
        return route_of(new_engine({"q": select}, sink).queries["q"]).key

    low, other = QUERIES["low"], QUERIES["other"]
    file = "WITH (sink = 'parquet', path = '/x')"
    assert key(low, file) == key(QUERIES["high"], file)
    assert key(low, "") == key(low, "WITH (sink = 'PRINT', rows = 3)")
    assert key(low, file) == key(low, "WITH (path = '/x', sink = 'parquet', shared = 'true')")
    others = [key(other, file), key(low, ""), key(low, "WITH (sink = 'parquet', path = '/y')")]
    assert len({key(low, file), *others}) == 4


def test_many_small_tables_become_one_chunk() -> None:
    tables = [parted([f"q{i}"], [0] * 3).rows for i in range(50)]
    table = concatenated(tables)
    assert table.column(0).num_chunks == 1
    assert QueryRows.of(table).counts == {f"q{i}": 3 for i in range(50)}


def test_counts_survive_a_snapshot(tmp_path: object) -> None:
    live = ShardEngine(new_engine())
    half = ROWS.num_rows // 2
    first = EngineBatch((("s", pack(ROWS.slice(0, half))),))
    second = EngineBatch((("s", pack(ROWS.slice(half))),), statements=("DROP QUERY low",))
    live.apply(first)
    sink = pa.BufferOutputStream()
    live.save(sink)
    again = ShardEngine.load(pa.BufferReader(sink.getvalue()))
    assert again.rows_out == live.rows_out
    there, here = live.apply(second), again.apply(second)
    assert [bag(p.rows) for p in here[0].changes] == [bag(p.rows) for p in there[0].changes]
    assert again.rows_out == live.rows_out
    assert live.rows_out["low"] == 20, "also of a query that is gone"
    alone = new_engine().process({"s": ROWS})
    assert live.rows_out["high"] == alone["high"].num_rows


def test_only_some_queries_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"q{i}" for i in range(30)]
    printed = {}

    def keep(label: str, rows: pa.Table, n: int) -> None:
        printed[label] = (rows["v"].to_pylist(), n)

    sink = PrintSink(keep, print_omitted)
    counts = dict.fromkeys(names, 5)
    sink.deliver(0, [parted(names, list(range(30))), parted(names, list(range(30)))], counts)
    assert list(printed) == names[:20]
    assert printed["q3"] == ([3, 3], 5)
    assert capsys.readouterr().out == "10 more queries: 50 rows\n"


def test_an_altered_query_has_another_route_also_in_a_saved_engine() -> None:
    shard = ShardEngine(new_engine())
    before = {name: shard.routes[name] for name in QUERIES}
    first = "ALTER QUERY LOW WITH (sink = 'parquet', path = '/one')"
    shard.apply(EngineBatch((), statements=(first,)))
    one = shard.routes["low"]
    shard.apply(EngineBatch((), statements=("ALTER QUERY low WITH (sink = 'noop')",)))
    assert len({before["low"], one, shard.routes["low"]}) == 3 and one.preview is None
    assert not shard.altered_routes, "no query is computed in parts"
    file = io.BytesIO()
    shard.save(file)
    again = ShardEngine.load(io.BytesIO(file.getvalue()))
    noop = shard.routes["low"]
    for engine in (shard, again):
        assert {name: engine.routes[name] for name in QUERIES} == before | {"low": noop}
    again.apply(
        EngineBatch((), statements=("DROP QUERY low", "CREATE QUERY low AS SELECT k FROM s [NOW]"))
    )
    assert again.engine.queries["low"].options == {}
    with pytest.raises(CatalogError, match="there is no query 'lo'"):
        again.apply(EngineBatch((), statements=("ALTER QUERY lo WITH (sink = 'noop')",)))

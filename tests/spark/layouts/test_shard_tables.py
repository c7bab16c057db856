"""The rows of tables that the shards of a layout load, without Spark."""

from __future__ import annotations

import pyarrow as pa

from eddyline.spark.layouts.layout_shards import planned
from eddyline.spark.layouts.table_contents import ShardTables
from eddyline.spark.partitioning.dealing import Dealer
from eddyline.spark.partitioning.layouts import Layout
from eddyline.spark.partitioning.planning import layouts
from eddyline.spark.script import Script
from sharded_programs import Content

SCRIPT = """
CREATE STREAM a (ts TIMESTAMP, k INT, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k INT, x BIGINT) TIMESTAMP BY ts;
CREATE TABLE t (k BIGINT, x BIGINT) WITH (rows = 1000000);
CREATE TABLE u (k BIGINT, x BIGINT) WITH (rows = 1000000);
CREATE TABLE small (k BIGINT, x BIGINT);
"""
KEYS = [None, 3, 3, *range(40)]
#: The type of the key is not the declared one.
CONTENT = pa.table({"x": range(43), "k": pa.array(KEYS, pa.int16())})
CONTENTS = {
    "t": Content(CONTENT, is_large=True),
    "u": Content(CONTENT, is_large=True),
    "small": Content(CONTENT, is_large=False),
}


def layout_of(script: Script, sql: str, cells: int) -> Layout:
    query = script.query("q", sql, {"sink": "memory"})
    ((layout, _),) = layouts({"q": planned(script, query)}, cells, script.statistics)
    return layout


def test_each_row_of_a_divided_table_is_where_the_rows_of_the_stream_are() -> None:
    script = Script.of([SCRIPT])
    layout = layout_of(script, "SELECT a.x FROM a [NOW], t WHERE a.k = t.k", 4)
    shards = [ShardTables(CONTENTS, layout, cell) for cell in range(4)]
    assert [shard.names() for shard in shards] == [["t", "small"]] * 4
    rows = [shard.rows(script.tables["t"]) for shard in shards]
    assert sorted(x for own in rows for x in own["x"].to_pylist()) == [*range(43)]
    assert {own.schema for own in rows} == {pa.schema([("k", pa.int64()), ("x", pa.int64())])}
    ts = pa.nulls(43, pa.int64())
    dealt = Dealer(layout, "a").deal([ts, pa.array(KEYS, pa.int32()), ts], turn=7)
    of_stream = [dealt.rows(dealt.part_of[cell]).tolist() for cell in range(4)]
    assert [sorted(own["x"].to_pylist()) for own in rows] == [sorted(own) for own in of_stream]
    whole = [shard.rows(script.tables["small"]) for shard in shards]
    assert all(own.equals(CONTENT) for own in whole)


def test_a_table_that_is_divided_along_one_axis_is_copied_along_the_other() -> None:
    script = Script.of([SCRIPT])
    sql = "SELECT a.x FROM a [NOW], t, u WHERE a.k = t.k AND a.x = u.x"
    layout = layout_of(script, sql, 4)
    assert (layout.copies("t"), layout.copies("u")) == (2, 2)
    for name in ("t", "u"):
        rows = [ShardTables(CONTENTS, layout, c).rows(script.tables[name]) for c in range(4)]
        found = sorted(x for own in rows for x in own["x"].to_pylist())
        assert found == sorted([*range(43)] * 2)
        assert all(len(set(own["x"].to_pylist())) == own.num_rows for own in rows)

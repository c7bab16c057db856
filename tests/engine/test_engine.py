"""The public engine: statements, queries that come and go, tables, explain, stats, stream."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from eddyline import (
    CatalogError,
    Changes,
    DataError,
    Engine,
    Query,
    SqlError,
    StateError,
    UnsupportedError,
)
from eddyline.testing import batch, difference, engine_with, parse_time, pretty, rows_of
from eddyline.testing.feeding import process_all
from eddyline.testing.script import Script

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, w BIGINT) TIMESTAMP BY ts;
    CREATE TABLE names (k BIGINT, name STRING)
"""
NAMES = pa.table({"k": [1, 2], "name": ["one", "two"]})


def engine(**options: Any) -> Engine:
    out = engine_with(**options)
    out.sql(DDL)
    return out


def kept(eng: Engine, stream: str = "a") -> int:
    return eng.stats()["streams"][stream]["rows_kept"]


def answer(eng: Engine, name: str = "q") -> list[tuple[Any, ...]]:
    return sorted(rows_of(eng.queries[name].snapshot()))


def test_a_script_returns_what_each_statement_gives() -> None:
    eng = Engine()
    none, query, text, other = eng.sql(
        "CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;"
        "CREATE QUERY q AS SELECT k FROM a [RANGE 1 SECOND] WITH (sink = 'memory');"
        "EXPLAIN q; SELECT k FROM a [ROWS 1]"
    )
    assert none is None
    assert query is eng.queries["q"]
    assert query.options == {"sink": "memory"}
    assert text == query.explain()
    assert isinstance(other, Query)
    assert other.name == "q1"
    assert eng.query("SELECT k FROM a [ROWS 2]").name == "q2"


def test_explain_of_a_select_runs_nothing() -> None:
    eng = engine()
    text = eng.explain("SELECT k FROM a [RANGE 10 SECONDS] WHERE v > 1 EMIT CHANGES")
    assert text.startswith("EMIT CHANGES\n")
    assert "a [RANGE 10 SECONDS]" in text
    assert not eng.queries
    assert not eng.stats()["operators"]


def test_errors_name_what_is_there() -> None:
    eng = engine()
    eng.query("SELECT k FROM a [RANGE 1 SECOND]", name="spikes")
    for call in (
        lambda: eng.drop("spike"),
        lambda: eng.sql("EXPLAIN spike"),
        lambda: eng.sql("DROP QUERY spike"),
    ):
        with pytest.raises(CatalogError, match=r"'spike'.*did you mean 'spikes'"):
            call()
    with pytest.raises(CatalogError, match=r"'name'.*did you mean 'names'"):
        eng.table("name", NAMES)
    with pytest.raises(CatalogError, match="'spikes'"):
        eng.query("SELECT k FROM a [RANGE 1 SECOND]", name="spikes")
    with pytest.raises(SqlError, match="one SELECT"):
        eng.query("DROP QUERY spikes")
    with pytest.raises(SqlError, match="a standing query reads a stream"):
        eng.query("SELECT k FROM names")
    with pytest.raises(ValueError, match="chunk_rows"):
        engine_with(chunk_rows=0)


def test_names_compare_without_case_when_something_is_dropped() -> None:
    eng = engine()
    eng.sql("CREATE VIEW view1 AS SELECT k FROM a [RANGE 1 SECOND]")
    eng.query("SELECT k FROM a [RANGE 1 SECOND]", name="q")
    eng.sql("DROP QUERY Q; DROP VIEW VIEW1; DROP STREAM A; DROP TABLE NAMES")
    assert not eng.queries
    assert eng.sql(DDL.replace("CREATE STREAM b", "CREATE STREAM c")) == [None] * 3


def test_what_is_read_cannot_be_dropped() -> None:
    eng = engine()
    eng.table("names", NAMES)
    eng.query("SELECT a.k FROM a [RANGE 1 SECOND], names WHERE a.k = names.k", name="q")
    for kind, name in (("STREAM", "a"), ("TABLE", "names")):
        with pytest.raises(CatalogError, match=f"'{name}': query 'q' reads it"):
            eng.sql(f"DROP {kind} {name}")
    eng.sql("DROP QUERY q; DROP STREAM a; DROP TABLE names")
    assert list(eng.catalog.streams) == ["b"]


def test_dropping_the_last_reader_frees_operators_windows_and_lanes() -> None:
    eng = engine()
    stem = eng.parts.inputs.stems["a"]
    lanes = stem.lane_names
    eng.query("SELECT k FROM a [RANGE 1 SECOND] WHERE v > 0", name="q1")
    eng.query("SELECT a.k FROM a [ROWS 5], b [RANGE 9 SECONDS] WHERE a.k = b.k", name="q2")
    eng.query("SELECT COUNT(*) FROM a [PARTITION BY k ROWS 5] EMIT CHANGES", name="q3")
    process_all(eng, {"a": batch("ts | k | v\n1s | 1 | 1\n1s | 2 | 2")})
    assert kept(eng) == 2
    for name in ("q2", "q1", "q3"):
        eng.drop(name)
    assert list(eng.parts.queries.execution.graph) == []
    assert not stem.state()["windows"]
    assert stem.lane_names == lanes
    process_all(eng, {"a": batch("ts | k | v\n2s | 1 | 1")})
    assert kept(eng) == 0


def test_equal_parts_run_once_and_stay_while_a_query_reads_them() -> None:
    eng = engine()
    eng.query("SELECT k FROM a [RANGE 5 SECONDS] WHERE v > 0", name="q1")
    eng.query("SELECT k FROM a [RANGE 5 SECONDS] WHERE v > 0", name="q2")
    two = len(eng.stats()["operators"])
    eng.query("SELECT k FROM a [RANGE 5 SECONDS] WHERE v > 0", name="q3")
    assert len(eng.stats()["operators"]) == two
    eng.drop("q1")
    eng.drop("q3")
    out = eng.process({"a": batch("ts | k | v\n1s | 1 | 1")})
    assert list(out) == ["q2"]
    assert out["q2"]["k"].to_pylist() == [1]


def test_tables_keep_their_rows_when_their_last_reader_goes() -> None:
    eng = engine()
    eng.table("names", NAMES)
    sql = "SELECT name FROM a [RANGE 9 SECONDS], names WHERE a.k = names.k"
    eng.query(sql, name="q1")
    eng.process({"a": batch("ts | k | v\n1s | 1 | 1")})
    eng.drop("q1")
    eng.process({"a": batch("ts | k | v\n2s | 1 | 1")})
    eng.query(sql, name="q2")
    out = eng.process({"a": batch("ts | k | v\n3s | 2 | 1")})
    assert out["q2"]["name"].to_pylist() == ["two"]


def test_a_query_that_cannot_be_added_leaves_nothing_behind() -> None:
    eng = engine()
    sql = "SELECT name FROM a [RANGE 9 SECONDS], names WHERE a.k = names.k"
    with pytest.raises(DataError, match="'names' has no rows"):
        eng.query(sql, name="q")
    assert list(eng.parts.queries.execution.graph) == []
    assert not eng.parts.inputs.stems["a"].state()["windows"]
    eng.table("names", NAMES)
    eng.query(sql, name="q")
    assert eng.process({"a": batch("ts | k | v\n1s | 1 | 1")})["q"].num_rows == 1


LATE_QUERIES = {
    "filter": "SELECT k FROM a [RANGE 10 SECONDS] WHERE v > 1",
    "join": "SELECT a.v, b.w FROM a [RANGE 10 SECONDS], b [RANGE 8 SECONDS] WHERE a.k = b.k",
    "group": "SELECT k, SUM(v) AS s, MAX(v) AS m FROM a [RANGE 9 SECONDS] GROUP BY k",
    "total": "SELECT COUNT(*) AS n FROM a [RANGE 9 SECONDS]",
    "total changes": "SELECT COUNT(*) AS n FROM a [RANGE 9 SECONDS] EMIT CHANGES",
    "distinct": "SELECT DISTINCT k FROM a [RANGE 10 SECONDS]",
    "rows": "SELECT v FROM a [ROWS 2]",
    "partition": "SELECT v FROM a [PARTITION BY k ROWS 1]",
    "changes": "SELECT k, COUNT(*) AS n FROM a [RANGE 10 SECONDS] GROUP BY k EMIT CHANGES",
}


@pytest.mark.parametrize("kind", LATE_QUERIES)
def test_a_late_query_is_backfilled_with_what_the_windows_hold(kind: str) -> None:
    rows = {
        "a": batch("ts | k | v\n1s | 1 | 1\n3s | 2 | 2\n4s | 1 | 3"),
        "b": batch("ts | k | w\n2s | 1 | 7"),
    }
    more = {"a": batch("ts | k | v\n6s | 1 | 4\n7s | 3 | 5"), "b": batch("ts | k | w\n6s | 2 | 8")}
    early, late = engine(), engine()
    for eng in (early, late):
        eng.query("SELECT k FROM a [RANGE 10 SECONDS]", name="holds_a")
        eng.query("SELECT k FROM b [RANGE 10 SECONDS]", name="holds_b")
    early.query(LATE_QUERIES[kind], name="q")
    process_all(early, rows)
    process_all(late, rows)
    late.query(LATE_QUERIES[kind], name="q")
    assert answer(late) == answer(early)
    assert process_all(early, more)["q"].num_rows
    first = process_all(late, more)["q"]
    assert answer(late) == answer(early)
    plus = [r for r in first.to_pylist() if r["_op"] == "+"]
    assert len(plus) >= len(answer(late)), "what was there when it was added is told as well"
    clock = "1970-01-01T00:00:13Z"
    changes = [rows_of(e.advance(clock)["q"]) for e in (early, late)]
    assert difference(*changes) == ([], [])


def test_a_late_rows_window_over_a_stem_with_gaps_takes_only_the_last_rows() -> None:
    eng = engine()
    eng.query("SELECT k FROM a [PARTITION BY k ROWS 1]", name="holds")
    n = 3000
    rows = {"ts": range(n), "k": [99, *(i % 3 for i in range(1, n))], "v": range(n)}
    eng.process({"a": pa.table({c: list(v) for c, v in rows.items()})})
    assert kept(eng) < 100
    eng.query("SELECT v FROM a [ROWS 3]", name="q")
    assert set(answer(eng)) <= {(n - 3,), (n - 2,), (n - 1,)}
    eng.process({"a": pa.table({"ts": [n, n + 1], "k": [7, 8], "v": [n, n + 1]})})
    assert set(answer(eng)) <= {(n - 1,), (n,), (n + 1,)}
    assert (n,) in answer(eng)
    assert (n + 1,) in answer(eng)


def test_stream_yields_changes_chunk_by_chunk() -> None:
    eng = engine(chunk_rows=2)
    eng.query("SELECT v FROM a [RANGE 9 SECONDS]", name="all")
    eng.query("SELECT v FROM a [RANGE 9 SECONDS] WHERE v > 3", name="some")
    rows = batch("ts | k | v\n1s | 1 | 1\n2s | 1 | 2\n3s | 1 | 3\n4s | 1 | 4\n5s | 1 | 5")
    got = [(name, t["v"].to_pylist()) for name, t in eng.stream({"a": rows})]
    assert got == [("all", [1, 2]), ("all", [3, 4]), ("some", [4]), ("all", [5]), ("some", [5])]


def test_a_stream_that_is_left_early_loses_no_rows() -> None:
    eng = engine(chunk_rows=1)
    eng.query("SELECT v FROM a [RANGE 9 SECONDS]", name="q")
    changes = eng.stream({"a": batch("ts | k | v\n1s | 1 | 1\n2s | 1 | 2\n3s | 1 | 3")})
    assert next(changes)[1]["v"].to_pylist() == [1]
    changes.close()
    assert eng.process({})["q"]["v"].to_pylist() == [2, 3]


def test_changes_are_a_mapping_with_side_outputs() -> None:
    eng = engine()
    eng.query("SELECT v FROM a [RANGE 9 SECONDS]", name="q")
    eng.process({"a": batch("ts | k | v\n5s | 1 | 1")})
    out = eng.process({"a": batch("ts | k | v\n1s | 1 | 1\n6s | 1 | 2\n. | 1 | 3")})
    assert isinstance(out, Changes)
    assert (list(out), len(out), "q" in out) == (["q"], 1, True)
    assert repr(out) == "Changes(q: 1 changes, 1 late rows of a, 1 bad rows of a)"


def test_stats_count_rows_by_stream_query_and_operator() -> None:
    eng = engine()
    eng.query("SELECT v FROM a [RANGE 9 SECONDS] WHERE v > 1", name="q")
    eng.process({"a": batch("ts | k | v\n1s | 1 | 1\n2s | 1 | 2\n. | 1 | 3")})
    stats = eng.stats()
    assert stats["clock"] == stats["watermark"] == parse_time("2s")
    assert stats["streams"]["a"] == {
        "rows_in": 3,
        "late": 0,
        "bad": 1,
        "dropped": 0,
        "held": 0,
        "held_bytes": 0,
        "rows_kept": 2,
    }
    assert stats["queries"]["q"]["rows_out"] == 1
    by_name = {o["operator"]: o for o in stats["operators"]}
    assert by_name["Scan"]["rows_out"] == by_name["Filter"]["rows_in"] == 2
    assert by_name["Filter"]["rows_out"] == 1


CHUNKED = {
    **LATE_QUERIES,
    "join changes": LATE_QUERIES["join"] + " EMIT CHANGES",
    "snapshots": "SELECT k, COUNT(*) AS n FROM a [RANGE 3 SECONDS] GROUP BY k"
    " EMIT SNAPSHOT EVERY 2 SECONDS",
    "rows and range": "SELECT a.k, MIN(b.w) AS m FROM a [ROWS 2], b [RANGE 2 SECONDS]"
    " WHERE a.k = b.k GROUP BY a.k EMIT CHANGES",
    "self": "SELECT x.v, y.v FROM a [RANGE 2 SECONDS] AS x, a [ROWS 2] AS y WHERE x.k = y.k",
}


@pytest.mark.parametrize("kind", CHUNKED)
def test_chunks_of_one_row_give_what_large_ones_do(kind: str) -> None:
    n = 60
    a = pa.table({"ts": [i // 2 * 400_000 for i in range(n)], "k": [i * 7 % 5 for i in range(n)],
                  "v": [i * 3 % 11 for i in range(n)]})  # fmt: skip
    b = pa.table({"ts": [i // 3 * 600_000 for i in range(n)], "k": [i % 4 for i in range(n)],
                  "w": list(range(n))})  # fmt: skip
    found = []
    for chunk_rows in (1, 7, 10_000):
        eng = engine(chunk_rows=chunk_rows)
        eng.query(CHUNKED[kind], name="q")
        parts = [eng.process({"a": a, "b": b})["q"], eng.advance("1970-01-01T00:01:00Z")["q"]]
        whole = pa.concat_tables(parts)
        if kind == "snapshots":  # rows of an instant are in no order
            whole = whole.sort_by([("_ts", "ascending"), ("k", "ascending")])
        found.append(pretty(whole))
    assert found[0] == found[1] == found[2]


def test_emit_changes_in_text() -> None:
    script = Script(DDL, "SELECT k, COUNT(*) AS n FROM a [RANGE 2 SECONDS] GROUP BY k EMIT CHANGES",
                    tables={"names": NAMES})  # fmt: skip
    script.process(a="ts | k | v\n1s | 1 | 1\n2s | 1 | 2")
    script.expect("""_op | _ts | _exp   | k | n
                     +   | 1s  | .      | 1 | 1
                     -   | 2s  | .      | 1 | 1
                     +   | 2s  | .      | 1 | 2""")
    script.advance("9s")
    script.expect("""_op | _ts | _exp   | k | n
                     -   | 3s  | .      | 1 | 2
                     +   | 3s  | .      | 1 | 1
                     -   | 4s  | .      | 1 | 1""")
    script.finish()


def test_emit_snapshot_in_text() -> None:
    script = Script(DDL, "SELECT v FROM a [RANGE 3 SECONDS] EMIT SNAPSHOT EVERY 2 SECONDS",
                    tables={"names": NAMES})  # fmt: skip
    script.process(a="ts | k | v\n1s | 1 | 1\n2s | 1 | 2")
    script.expect("_op | _ts | _exp | v:int")
    script.restart().process(a="ts | k | v\n4s500ms | 1 | 3")
    script.expect("""_op | _ts | _exp | v
                     +   | 2s  | 4s   | 1
                     +   | 2s  | 4s   | 2
                     +   | 4s  | 6s   | 2""")
    script.advance("9s")
    script.expect("""_op | _ts | _exp | v
                     +   | 6s  | 8s   | 3""")
    script.finish()


def test_queries_without_a_result_table_have_no_snapshot() -> None:
    eng = engine()
    passing = eng.query("SELECT k FROM a UNION ALL SELECT k FROM a [RANGE 1 SECOND]")
    keeping = eng.query("SELECT DISTINCT k FROM a [UNBOUNDED]")
    eng.process({"a": pa.table({"ts": [0, 1], "k": [7, 7], "v": [0, 0]})})
    assert not passing.keeps_answer
    with pytest.raises(StateError, match=r"passes the rows of a \[UNBOUNDED\] on and keeps none"):
        passing.snapshot()
    assert keeping.snapshot()["k"].to_pylist() == [7]


def test_explain_analyze_counts_what_went_through_a_running_query() -> None:
    eng = engine()
    eng.query("SELECT k FROM a [RANGE 1 SECOND] WHERE v > 0", name="q")
    eng.process({"a": pa.table({"ts": [0, 1, 2], "k": [1, 2, 3], "v": [0, 1, 1]})})
    (text,) = eng.sql("EXPLAIN ANALYZE q")
    assert isinstance(text, str)
    counts = [line.split() for line in text.splitlines()[-3:]]
    assert counts == [
        ["Scan", "0", "3", "0"],
        ["Filter", "3", "2", "0"],
        ["Project", "2", "2", "0"],
    ]
    with pytest.raises(UnsupportedError, match="write its name, as in EXPLAIN ANALYZE my_query"):
        eng.sql("EXPLAIN ANALYZE SELECT k FROM a")


@pytest.mark.parametrize("executor", ["auto", "tree"])
def test_queries_with_and_without_the_word_unbounded_share_a_window(executor: str) -> None:
    eng = engine_with(executor=executor)
    eng.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    for name, scan in (("implicit", "a"), ("explicit", "a [UNBOUNDED]")):
        eng.query(f"SELECT k FROM {scan} WHERE v > 0", name=name)
    rows = {"a": pa.table({"ts": [0], "k": [7], "v": [1]})}
    assert [t["k"].to_pylist() for t in eng.process(rows).values()] == [[7], [7]]
    eng.drop("implicit")
    assert eng.process(rows)["explicit"]["k"].to_pylist() == [7]
    eng.drop("explicit")
    assert eng.queries == {}

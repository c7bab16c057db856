"""Joins of ROWS windows: queries that differ in how many rows they look at share a flow."""

from __future__ import annotations

import io
import random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import Engine
from eddyline.testing import batch, difference, engine_with, rows_of
from eddyline.testing.feeding import process_all
from eddyline.testing.script import Script
from flow_cases import DDL, SECOND, bags, engine, rows
from restarts import restarted
from thinned import thinned

NAMES = pa.table({"k": [1, 2], "name": ["one", "two"]})
JOINS = {
    "rows": "SELECT a.v, b.v AS w FROM a [ROWS {n}], b [ROWS {m}] WHERE a.k = b.k",
    "filters": "SELECT a.v, b.v AS w FROM a [ROWS {n}], b [ROWS {m}]"
    " WHERE a.k = b.k AND a.v > {n} - 3 AND a.v + b.v > {m}",
    "with RANGE": "SELECT a.v, b.v AS w FROM a [ROWS {n}], b [RANGE {m} SECONDS] WHERE a.k = b.k",
    "no key": "SELECT a.v, b.v AS w FROM a [ROWS {n}], b [ROWS {m}] WHERE a.v < b.v - {m}",
    "itself": "SELECT x.v, y.v AS w FROM a [ROWS {n}] AS x, a [ROWS {m}] AS y WHERE x.k = y.k",
    "three": "SELECT x.v, b.v AS w FROM a [ROWS {n}] AS x, b [ROWS {m}], a [ROWS 4] AS y"
    " WHERE x.k = b.k AND b.v = y.v",
    "groups": "SELECT a.k, COUNT(*) AS n, SUM(b.v) AS t FROM a [ROWS {n}], b [ROWS {m}]"
    " WHERE a.k = b.k AND b.v > 1 GROUP BY a.k",
    "distinct": "SELECT DISTINCT a.v FROM a [ROWS {n}], b [ROWS {m}] WHERE a.k = b.k",
    "keys": "SELECT a.v, b.v AS w FROM a [PARTITION BY k ROWS {n}], b [PARTITION BY k ROWS {m}]"
    " WHERE a.k = b.k",
    "keys, filters": "SELECT a.v, b.v AS w FROM a [PARTITION BY k ROWS {n}],"
    " b [PARTITION BY k ROWS {m}] WHERE a.k = b.k AND a.v > {n} - 3 AND a.v + b.v > {m}",
    "other columns": "SELECT a.v, b.v AS w FROM a [PARTITION BY v ROWS {n}],"
    " b [PARTITION BY k, v ROWS {m}] WHERE a.k = b.k AND b.v > {m} - 4",
    "two keys": "SELECT a.v, b.v AS w FROM a [PARTITION BY v, k ROWS {n}],"
    " b [PARTITION BY k, v ROWS {m}] WHERE a.k = b.k AND a.v = b.v",
    "keys with RANGE": "SELECT a.v, b.v AS w FROM a [PARTITION BY k ROWS {n}],"
    " b [RANGE {m} SECONDS] WHERE a.k = b.k AND a.v > {n} - 3",
    "keys with ROWS": "SELECT a.v, b.v AS w FROM a [ROWS {n}], b [PARTITION BY v ROWS {m}]"
    " WHERE a.k = b.k AND a.v > {n} - 3",
    "keys without a key": "SELECT a.v, b.v AS w FROM a [PARTITION BY k ROWS {n}],"
    " b [PARTITION BY v ROWS {m}] WHERE a.v < b.v - {m}",
    "keys of itself": "SELECT x.v, y.v AS w FROM a [PARTITION BY k ROWS {n}] AS x,"
    " a [PARTITION BY k ROWS {m}] AS y WHERE x.k = y.k AND x.v >= y.v",
    "columns of itself": "SELECT x.v, y.v AS w FROM a [PARTITION BY v ROWS {n}] AS x,"
    " a [PARTITION BY k ROWS {m}] AS y WHERE x.k = y.k",
    "keys of three": "SELECT x.v, b.v AS w FROM a [PARTITION BY k ROWS {n}] AS x,"
    " b [PARTITION BY v ROWS {m}], a [PARTITION BY k ROWS 2] AS y WHERE x.k = b.k AND b.v = y.v",
    "keys, groups": "SELECT a.k, COUNT(*) AS n, SUM(b.v) AS t FROM a [PARTITION BY k ROWS {n}],"
    " b [PARTITION BY v ROWS {m}] WHERE a.k = b.k AND b.v > 1 GROUP BY a.k",
    "keys, distinct": "SELECT DISTINCT a.v FROM a [PARTITION BY k ROWS {n}],"
    " b [PARTITION BY k ROWS {m}] WHERE a.k = b.k",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "auto": {"chunk_rows": 3},
    "eddy": {"chunk_rows": 1, "executor": "eddy"},
    "large chunks": {"executor": "eddy"},
    "pull": {"chunk_rows": 5, "executor": "eddy", "selections": "pull"},
    "swf": {"chunk_rows": 2, "schedule": "swf"},
}


def _query(kind: str, n: int, m: int) -> str:
    return JOINS[kind].format(n=n, m=m)


@pytest.mark.parametrize(("kind", "options"), thinned(2, JOINS, OPTIONS))
def test_shared_rows_windows_give_the_results_of_each_alone(kind: str, options: str) -> None:
    chance = random.Random(f"{kind} {options}")
    counts = {f"q{i}": (chance.randint(1, 9), chance.randint(1, 9)) for i in range(5)}
    queries = {name: _query(kind, *c) for name, c in counts.items()}
    script = Script(DDL, queries, tables={"names": NAMES}, options=OPTIONS[options])
    stats = script.engine.stats()["queries"]
    assert {stats[name]["shared_with"] for name in queries} == {4}
    for second in range(5):
        data = rows(chance, second)
        if second % 2:
            script.process(**data).check()
        else:
            script.listen(3, **data)
        if second == 1:
            script.add("late", _query(kind, 3, 3)).drop("q1").restart()
        if second == 2:
            script.add("longest", _query(kind, 12, 12)).drop("q2")
    script.advance(9 * SECOND).finish()


@pytest.mark.parametrize("nested", [True, False], ids=["nested", "not nested"])
def test_what_leaves_is_taken_back_just_before_the_row_that_pushes_it_out(nested: bool) -> None:
    eng = engine(executor="eddy")
    eng.query(_query("rows", 1, 1), name="one")
    eng.query(_query("rows", 2, 3), name="two")
    if not nested:
        eng.query(_query("rows", 3, 1), name="three")
    out = process_all(
        eng,
        {
            "a": batch("""
                ts | k | v
                1s | 1 | 1
                3s | 1 | 2
                4s | 2 | 3
            """),
            "b": batch("""
                ts | k | v
                2s | 1 | 7
            """),
        },
    )
    got = {
        name: [(r["_op"], r["_ts"], r["_exp"], r["v"], r["w"]) for r in out[name].to_pylist()]
        for name in ("one", "two")
    }
    seconds = {
        name: [(op, ts.second, exp, v, w) for op, ts, exp, v, w in got[name]] for name in got
    }
    assert seconds["one"] == [
        ("+", 2, None, 1, 7),
        ("-", 3, None, 1, 7),
        ("+", 3, None, 2, 7),
        ("-", 4, None, 2, 7),
    ]
    assert seconds["two"] == [("+", 2, None, 1, 7), ("+", 3, None, 2, 7), ("-", 4, None, 1, 7)]


def test_time_and_rows_do_not_share() -> None:
    eng = engine(executor="eddy")
    windows = ["ROWS 3", "RANGE 3 SECONDS", "NOW", "ROWS 5", "UNBOUNDED"]
    windows += [f"PARTITION BY {columns}" for columns in ("k ROWS 3", "k ROWS 1", "k, v ROWS 3")]
    for i, window in enumerate(windows):
        sql = f"SELECT a.v FROM a [{window}], b [{window}] WHERE a.k = b.k"
        eng.query(sql, name=f"q{i}")
    stats = eng.stats()["queries"]
    assert [stats[f"q{i}"]["shared_with"] for i in range(8)] == [1, 2, 2, 1, 2, 1, 1, 0]


def test_a_late_query_sees_the_rows_behind_which_none_is_missing() -> None:
    """Also where older ones are held for others: as a tree of its own would."""
    chance = random.Random(1)
    engines = [engine(executor=executor, chunk_rows=7) for executor in ("eddy", "tree")]
    queries = {"few": _query("rows", 3, 4), "more": _query("rows", 200, 90)}
    for eng in engines:
        eng.query("SELECT v FROM a [PARTITION BY k ROWS 2]", name="keeper")
        eng.query(queries["few"], name="few")
    for second in range(40):
        some = rows(chance, second, 40)
        if second < 38:  # one key that is rare, so that what is held has holes
            ks = [
                k if i % 400 == 0 else min(k, 1) for i, k in enumerate(some["a"]["k"].to_pylist())
            ]
            some["a"] = some["a"].set_column(1, "k", pa.array(ks))
        said = [bags(eng.process(some), ["few"]) for eng in engines]
        assert said[0] == said[1]
    answers = []
    for eng in engines:
        eng.query(queries["more"], name="more")
        answers.append(rows_of(eng.queries["more"].snapshot()))
    assert difference(*answers) == ([], [])
    engines = [restarted(eng) for eng in engines]
    for second in range(40, 52):
        some = rows(chance, second, 20)
        said = [bags(eng.process(some), ["few", "more"]) for eng in engines]
        assert said[0] == said[1]
        answers = [rows_of(eng.queries["more"].snapshot()) for eng in engines]
        assert difference(*answers) == ([], [])


def test_rows_are_kept_as_long_as_some_window_holds_them() -> None:
    eng = engine(executor="eddy", chunk_rows=10)
    for n in (5, 50):
        eng.query(_query("rows", n, n + 1), name=f"q{n}")

    def kept() -> tuple[int, int]:
        streams = eng.stats()["streams"]
        return streams["a"]["rows_kept"], streams["b"]["rows_kept"]

    chance = random.Random(2)
    for second in range(20):
        eng.process(rows(chance, second))
    assert kept() == (50, 51)
    eng.drop("q50")
    eng.process(rows(chance, 20))
    assert kept() == (5, 6)
    eng.drop("q5")
    eng.process(rows(chance, 21))
    assert kept() == (0, 0)


@pytest.mark.parametrize(
    "streams",
    ["a [ROWS 4], b [ROWS 3]", "a [PARTITION BY k ROWS 2], b [PARTITION BY v ROWS 1]"],
)
def test_for_each_row_of_a_table_of_rules(streams: str) -> None:
    """Rules come and go with their results, over the rows that windows hold."""
    engines = []
    for executor in ("auto", "tree"):
        eng = engine_with(chunk_rows=4, executor=executor)
        eng.sql(
            "CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;"
            "CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;"
            "CREATE TABLE rules (id BIGINT, least BIGINT) WITH (updates = 'retroactive')"
        )
        eng.table("rules", pa.table({"id": [1], "least": [2]}))
        engines.append(eng)
    columns, where = "r.id, a.v, b.v AS w", "WHERE a.k = b.k AND a.v > r.least"
    each = f"SELECT {columns} FROM {streams} {where}".replace("r.", "rules.")
    engines[0].sql(f"CREATE QUERY q FOR EACH ROW OF rules AS {each}")
    engines[1].query(f"SELECT {columns} FROM {streams}, rules AS r {where}", name="q")
    chance = random.Random(3)
    for second in range(8):
        data: dict[str, Any] = rows(chance, second)
        if second in (2, 5):
            at, op = second * SECOND + SECOND // 2, "+" if second == 2 else "-"
            data["rules"] = pa.table({"_ts": [at], "_op": [op], "id": [2], "least": [1]})
        ours, theirs = (bags(eng.process(data), ["q"]) for eng in engines)
        assert ours == theirs
        answers = [rows_of(eng.queries["q"].snapshot()) for eng in engines]
        assert difference(*answers) == ([], [])


def test_joins_by_a_function_are_loaded_with_other_code_of_it() -> None:
    """What is saved does not depend on where a function is in memory."""
    eng = engine(executor="eddy", chunk_rows=3)
    eng.function("f", lambda k: pc.add(k, 1), args=["BIGINT"], returns="BIGINT")
    for n in (3, 7):
        sql = _query("rows", n, n).replace("a.k = b.k", "f(a.k) = f(b.k)")
        eng.query(sql, name=f"q{n}")
    chance = random.Random(4)
    for second in range(3):
        eng.process(rows(chance, second))
    saved = io.BytesIO()
    eng.save(saved)
    saved.seek(0)
    copy = Engine.load(saved, functions={"f": lambda k: pc.add(1, k)})
    for second in range(3, 6):
        some = rows(chance, second)
        assert bags(copy.process(some), ["q3", "q7"]) == bags(eng.process(some), ["q3", "q7"])

"""Joins of two streams on no key: queries with the same comparison share a flow."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from eddyline.testing import difference, engine_with, rows_of
from eddyline.testing.script import Script
from flow_cases import DDL, SECOND, bags, engine, rows
from thinned import thinned

NAMES = pa.table({"k": [1, 2], "name": ["one", "two"]})
WINDOWS = "FROM a [RANGE {n} SECONDS], b [RANGE {m} SECONDS]"
JOINS = {
    "below": f"SELECT a.v, b.v AS w {WINDOWS} WHERE a.v < b.v",
    "nested": "SELECT a.v, b.v AS w FROM a [RANGE {n} SECONDS], b [RANGE {n} SECONDS]"
    " WHERE a.v < b.v AND b.k >= a.k",
    "filters": f"SELECT a.v, b.v AS w {WINDOWS}"
    " WHERE a.v <> b.v AND a.k < 2 AND b.v > 0 AND a.v * b.k < {n} + {m}",
    "other filters": f"SELECT a.v, b.v AS w {WINDOWS}"
    " WHERE a.v <> b.v AND a.k < {n} AND b.v = {m} - 2 AND a.v * b.k < {n} + {m}",
    "band": f"SELECT a.v, b.v AS w {WINDOWS} WHERE a.v BETWEEN b.v - {{n}} AND b.v + {{m}}",
    "all": f"SELECT a.v, b.v AS w {WINDOWS}",
    "itself": "SELECT x.v, y.v AS w FROM a [RANGE {n} SECONDS] AS x, a [RANGE {m} SECONDS] AS y"
    " WHERE x.v > y.v",
    "with ROWS": "SELECT a.v, b.v AS w FROM a [ROWS {n}], b [RANGE {m} SECONDS] WHERE a.v < b.v",
    "groups": f"SELECT a.k, COUNT(*) AS n {WINDOWS} WHERE a.v < b.v AND b.v > 1 GROUP BY a.k",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "auto": {"chunk_rows": 3},
    "eddy": {"chunk_rows": 1, "executor": "eddy"},
    "large chunks": {"executor": "eddy", "schedule": "lwo"},
    "pull": {"chunk_rows": 5, "executor": "eddy", "selections": "pull"},
    "swf": {"chunk_rows": 2, "schedule": "swf"},
}


@pytest.mark.parametrize(("kind", "options"), thinned(2, JOINS, OPTIONS))
def test_shared_theta_joins_give_the_results_of_each_alone(kind: str, options: str) -> None:
    chance = random.Random(f"{kind} {options}")
    queries = {
        f"q{i}": JOINS[kind].format(n=chance.randint(1, 6), m=chance.randint(1, 6))
        for i in range(5)
    }
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
            script.add("late", JOINS[kind].format(n=3, m=3)).drop("q1").restart()
        if second == 2:
            script.add("longest", JOINS[kind].format(n=9, m=9)).drop("q2")
    script.advance(9 * SECOND).finish()


def test_a_single_query_runs_as_a_tree() -> None:
    eng = engine()
    eng.query(JOINS["below"].format(n=1, m=2), name="one")
    assert eng.stats()["queries"]["one"]["executor"] == "tree"
    eng.query(JOINS["below"].format(n=3, m=3), name="two")
    eng.query("SELECT a.v FROM a [NOW], b [NOW] WHERE b.v > a.v", name="three")
    eng.query(JOINS["nested"].format(n=3), name="another comparison more")
    eng.query(JOINS["below"].format(n=1, m=1) + " AND a.v > 1", name="of some rows")
    stats = eng.stats()["queries"]
    assert [stats[n]["executor"] for n in stats] == ["eddy"] * 3 + ["tree", "eddy"]


def test_for_each_row_of_a_table_of_rules() -> None:
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
    where = "WHERE a.v - b.v > {r}.least"
    streams = "a [RANGE 2 SECONDS], b [RANGE 3 SECONDS]"
    each = f"SELECT rules.id, a.v, b.v AS w FROM {streams} {where.format(r='rules')}"
    engines[0].sql(f"CREATE QUERY q FOR EACH ROW OF rules AS {each}")
    join = f"SELECT r.id, a.v, b.v AS w FROM {streams}, rules AS r {where.format(r='r')}"
    engines[1].query(join, name="q")
    chance = random.Random(3)
    for second in range(6):
        data: dict[str, Any] = rows(chance, second)
        if second in (2, 4):
            at, op = second * SECOND + SECOND // 2, "+" if second == 2 else "-"
            data["rules"] = pa.table({"_ts": [at], "_op": [op], "id": [2], "least": [1]})
        ours, theirs = (bags(eng.process(data), ["q"]) for eng in engines)
        assert ours == theirs
        answers = [rows_of(eng.queries["q"].snapshot()) for eng in engines]
        assert difference(*answers) == ([], [])


def test_pairs_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    data = [rows(chance, second, 40) for second in range(3)]

    def said() -> list[dict[str, list[Any]]]:
        eng = engine(executor="eddy")
        for n in (1, 3):
            eng.query(JOINS["below"].format(n=n, m=n), name=f"below{n}")
            eng.query(JOINS["band"].format(n=n, m=n), name=f"band{n}")
        names = list(eng.queries)
        first = bags(eng.process(data[0]), names)
        heard: dict[str, list[Any]] = {name: [] for name in names}
        for name, table in eng.stream(iter(data[1:])):
            heard[name] += rows_of(table)
        assert all(map(len, [*first.values(), *heard.values()]))
        return [first, heard]

    whole = said()
    monkeypatch.setattr("eddyline.runtime.join_inputs.access.MOST_PAIRS", 50)
    assert said() == whole

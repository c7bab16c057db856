"""What queries cost, how they run and why."""

from __future__ import annotations

import random
import time

import pyarrow as pa
import pytest

from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all
from flow_cases import FILTER, GROUPS, JOIN, engine, rows


def test_accounts() -> None:
    eng = engine(executor="eddy")
    for n in range(8):
        eng.query(f"SELECT v FROM a [RANGE 3 SECONDS] WHERE v > {n} AND k < 2", name=f"f{n}")
    for n in (1, 2):
        eng.query(JOIN.format(n=n), name=f"join{n}")
        eng.query(GROUPS.format(n), name=f"groups{n}")
    eng.query("SELECT COUNT(*) AS n FROM b [RANGE 3 SECONDS]", name="total")
    chance, out = random.Random(6), dict.fromkeys(eng.queries, 0)
    seen = {"a": 0, "b": 0}
    for second in range(5):
        data = rows(chance, second)
        for stream in seen:
            seen[stream] += data[stream].num_rows
        for name, table in process_all(eng, data).items():
            out[name] += table.num_rows
        eng.queries["f1"].snapshot()
    stats = eng.stats()["queries"]
    assert {n: s["rows_out"] for n, s in stats.items()} == out
    assert {stats[f"f{n}"]["rows_seen"] for n in range(8)} == {seen["a"]}
    assert stats["join1"]["rows_seen"] == seen["a"] + seen["b"]
    assert stats["f1"]["checks_alone"] == 2 * seen["a"]
    for n in range(8):
        assert 0 < stats[f"f{n}"]["checks"] <= 2 * seen["a"] / 8 + 1
        assert stats[f"f{n}"]["shared_with"] == 7
    assert "checks" not in stats["total"]
    spent = sum(o.seconds for o in eng.parts.queries.execution.graph)
    assert sum(s["seconds"] for s in stats.values()) == pytest.approx(spent)
    assert all(s["seconds"] > 0 and s["state_bytes"] >= 0 for s in stats.values())


def test_a_function_is_charged_to_the_queries_that_call_it() -> None:
    eng = engine(executor="eddy")

    def slowly(values: pa.Array) -> pa.Array:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        return values

    eng.function("slowly", slowly, args=["BIGINT"], returns="BIGINT", kind="arrow")
    eng.query("SELECT v FROM a [RANGE 3 SECONDS] WHERE slowly(v) > 1", name="slow")
    for n in range(9):
        eng.query(f"SELECT v FROM a [RANGE 3 SECONDS] WHERE v > {n}", name=f"cheap{n}")
    chance = random.Random(8)
    for second in range(5):
        process_all(eng, rows(chance, second))
    seconds = {name: s["seconds"] for name, s in eng.stats()["queries"].items()}
    assert seconds["slow"] > 0.1
    assert sum(s for name, s in seconds.items() if name != "slow") < 0.05


def test_a_late_query_pays_for_what_happens_from_then_on() -> None:
    eng = engine()
    for n in (1, 2):
        eng.query(FILTER.format(n), name=f"q{n}")
    chance = random.Random(7)
    eng.process(rows(chance, 0, 100))
    eng.query(FILTER.format(3), name="late")
    stats = eng.stats()["queries"]["late"]
    assert (stats["checks"], stats["checks_alone"], stats["rows_seen"]) == (0, 0, 0)
    assert stats["seconds"] == pytest.approx(0.0, abs=1e-2)
    data = rows(chance, 1, 100)
    first = eng.process(data)["late"].num_rows
    stats = eng.stats()["queries"]["late"]
    assert stats["rows_seen"] == stats["checks_alone"] == data["a"].num_rows
    assert stats["checks"] == round(data["a"].num_rows / 3)
    assert stats["rows_out"] == first


NOT_SHARED = "it is no select-project-join query, grouped or not"
WHY = {
    "SELECT k, COUNT(*) FROM a [TUMBLE 1 SECOND] GROUP BY k": "EMIT FINAL is made by operators of "
    "its own",
    "SELECT v, name FROM a [NOW], names WHERE a.k = names.k": NOT_SHARED,
    "SELECT COUNT(*) FROM a [NOW] WHERE v > 2": NOT_SHARED,
    "SELECT DISTINCT v FROM a [NOW]": "no other query has its sources and join keys, and groups as"
    " it does",
    "SELECT v FROM a [NOW]": "no other query has its sources and join keys",
}


@pytest.mark.parametrize("sql", WHY)
def test_why_a_query_is_a_tree(sql: str) -> None:
    eng = engine()
    query = eng.query(sql, name="q")
    account = eng.stats()["queries"]["q"]
    assert (account["executor"], account["why"], query.why) == ("tree", WHY[sql], WHY[sql])
    assert f"runs as a tree: {WHY[sql]}" in query.explain(analyze=True)


def test_options() -> None:
    with pytest.raises(ValueError, match="executor 'edy'; did you mean 'eddy'"):
        engine_with(executor="edy")
    for options, executor, others in (
        ({"sharing": False}, "tree", 0),
        ({"sharing": False, "executor": "eddy"}, "eddy", 0),
        ({"executor": "tree"}, "tree", 0),
        ({"views": True}, "eddy", 1),
        ({"state": "direct"}, "tree", 0),
        ({}, "eddy", 1),
    ):
        eng = engine(**options)
        for n in (1, 2):
            eng.query(FILTER.format(n), name=f"q{n}")
        account = eng.stats()["queries"]["q2"]
        assert account["executor"] == executor, options
        if executor == "eddy":
            assert account["shared_with"] == others
